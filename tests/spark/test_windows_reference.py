"""All due windows in one job against a naive evaluator that takes one window at a time."""

import itertools
import math
import random
from collections import Counter

import pytest

from bestbefore.query import parse_query, plan
from bestbefore.spark.columns import ELEMENTS
from bestbefore.spark.content import WindowContents, bounds_of
from bestbefore.spark.explained_plans import describe_plans
from bestbefore.spark.relation import Relation, name_table
from bestbefore.spark.session import tune
from bestbefore.spark.window_mappings import window_mappings
from bestbefore.windows import Instants, SlidingWindow
from tests.relations import rows_of

from .conftest import EX, query

BY, LANG = f"<{EX}by>", f"<{EX}lang>"
ONE = query(window="?post :by ?user")
TWO = query("SELECT ?user ?post ?l ?followers", window="?post :by ?user . ?post :lang ?l")


def random_elements(rng):
    posts = [f"<{EX}p{n}>" for n in range(6)]
    elements = []
    for _ in range(60):
        time, post = rng.randint(1, 300), rng.choice(posts)
        if rng.random() < 0.6:
            elements.append((time, post, BY, f"<{EX}u{rng.randint(0, 3)}>"))
        else:
            elements.append((time, post, LANG, f'"{rng.choice(["en", "de"])}"'))
    return elements


def naive(elements, window, first, last, *, join):
    """Per window: the graph, then nested loops; each mapping with its remaining evaluations."""
    found = Counter()
    for index in range(first, last + 1):
        opening, closing = window.bounds(index)
        latest = {}
        for time, *triple in elements:
            if opening < time <= closing:
                latest[tuple(triple)] = max(time, latest.get(tuple(triple), time))
        posts = [(s, o, time) for (s, p, o), time in latest.items() if p == BY]
        langs = [(s, o, time) for (s, p, o), time in latest.items() if p == LANG]
        if join:
            mappings = [
                ((user, post, lang), min(time, other))
                for (post, user, time), (same, lang, other) in itertools.product(posts, langs)
                if post == same
            ]
        else:
            mappings = [((user,), time) for _, user, time in posts]
        for values, time in mappings:
            left = math.ceil((time + window.width_ms - closing) / window.slide_ms)
            found[(index, left, *values)] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("width", "slide"), [(50, 50), (100, 60), (120, 20), (20, 50)])
def test_spark_finds_what_a_naive_evaluator_finds(spark, seed, width, slide):
    rng = random.Random(seed)
    # Half of them interpreted, as few rows are, and half compiled.
    session = tune(spark.newSession(), rows=0 if seed % 2 else None)
    elements = random_elements(rng)
    window = SlidingWindow(width, slide, t0_ms=rng.randint(-100, 0))
    first = window.first_with(rng.randint(1, 120))
    last = first + rng.randint(0, 6)
    frame = session.createDataFrame([(*each, "s", 0, 0) for each in elements], ELEMENTS)
    name_table(frame, "elements")
    contents = WindowContents(
        Relation.table("elements", ELEMENTS.fieldNames()), Instants((window,)), (("s",),)
    )
    text, names, join = rng.choice([(ONE, ["?user"], False), (TWO, ["?user", "?post", "?l"], True)])
    mappings = window_mappings(plan(parse_query(text)).windows[0], contents)
    bounds = bounds_of(contents.instants, first, last)
    found, spread = Counter(), Counter()
    for row in rows_of(session, mappings.relation, bounds):
        for evaluation in range(row["from_evaluation"], row["to_evaluation"] + 1):
            left = row["remaining"] - (evaluation - row["from_evaluation"])
            found[(evaluation, left, *(row[name] for name in names))] += row["mappings"]
    for row in rows_of(session, mappings.by_evaluation(), bounds):
        spread[(row["evaluation"], *(row[name] for name in names))] += row["mappings"]
    expected = naive(elements, window, first, last, join=join)
    assert found == expected
    counts = Counter()
    for (evaluation, _, *values), count in expected.items():
        counts[(evaluation, *values)] += count
    assert spread == counts
    assert expected or width < slide


def test_explain_shows_both_jobs_with_two_shuffles_of_the_stream_at_most(spark):
    parsed = parse_query(ONE)
    sections = dict(describe_plans(spark, parsed, plan(parsed)))
    (job_a, job_b) = sections.values()
    shuffles = [line for line in job_a.splitlines() if "Exchange hashpartitioning(" in line]
    assert len(shuffles) == 2
    assert sum("s#" in line for line in shuffles) == 1
    assert "ShuffledHashJoin" in job_b
