"""The laws of estimates and plans, for every summary of a random store and any query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.market import (
    estimate,
    make_plan,
    pattern_estimate,
    stars_of,
)
from bestbefore.market.planning import View
from bestbefore.market.shapes import Part, Shape
from bestbefore.query.algebra import BGP

SLACK = 1e-9


terms = st.integers(0, 8).map("<s:{}>".format)
subject = st.one_of(st.just("?x"), st.just("?x"), terms)
predicates = st.integers(0, 5).map("<p:{}>".format)
part = st.builds(Part, subject, predicates, st.one_of(st.sampled_from(["?a", "?b", "?c"]), terms))


def shape_of(parts):
    return Shape(stars_of(parts), BGP(()))


def one_subject(parts):
    return [
        Part("?x", part.p, f"?o{n}" if part.bound[2] is None else part.o)
        for n, part in enumerate(parts)
    ]


queries = st.lists(part, min_size=1, max_size=4).map(one_subject).map(dict.fromkeys).map(list)


@given(queries)
def test_no_more_is_fresh_than_there_is(summarised, parts):
    for name, summary in summarised.items():
        one = estimate(summary, stars_of(parts))
        assert 0 <= one.fresh <= one.total * (1 + SLACK), name
        assert np.isfinite([one.total, one.fresh, one.freshness]).all(), name


@given(queries, st.data())
def test_refreshing_never_lowers_the_estimated_freshness(summarised, parts, data):
    shares = st.lists(st.floats(0, 1), min_size=len(parts), max_size=len(parts))
    less, more = data.draw(shares), data.draw(shares)
    more = [max(pair) for pair in zip(less, more, strict=True)]
    for name, summary in summarised.items():
        before, after, whole = (
            estimate(summary, stars_of(parts), share) for share in (less, more, [1.0] * len(parts))
        )
        assert before.total == pytest.approx(after.total), name
        assert before.freshness <= after.freshness + SLACK, name
        assert whole.freshness == pytest.approx(1.0), name


@given(queries, st.floats(0.01, 1), st.lists(st.floats(0, 100), min_size=6, max_size=6))
def test_a_plan_is_fresh_enough_and_no_dearer_than_need_be(summarised, parts, wanted, costs):
    views = [View(f"p:{n}", Part("?s", f"<p:{n}>", "?o"), cost) for n, cost in enumerate(costs)]
    asked = shape_of(parts)
    for name in ("SPM", "CS", "histogram", "pairs"):
        summary = summarised[name]
        best = make_plan(summary, asked, views, wanted, search="exhaustive")
        quick = make_plan(summary, asked, views, wanted, search="greedy")
        everything = sum(view.cost for view in views)
        assert best.cost <= quick.cost + SLACK, name
        assert quick.cost <= everything + SLACK, name
        assert min(best.after, quick.after) >= wanted - SLACK, name
        assert best.before == quick.before <= best.after + SLACK, name


def test_many_views_are_searched_greedily(summarised):
    parts = [Part("?x", f"<p:{n}>", f"?o{n}") for n in range(3)]
    views = [
        View(f"{p} {o}", Part("?s", f"<p:{p}>", f"<s:{o}>"), 1.0)
        for p in range(3)
        for o in range(9)
    ]
    before = estimate(summarised["SPM"], stars_of(parts)).freshness
    plan = make_plan(summarised["SPM"], shape_of(parts), views, min(1.0, before + 0.05))
    assert plan.search == "greedy"
    assert 0 < plan.cost < 27


@given(part)
def test_a_view_within_a_pattern_is_a_part_of_it(summarised, one):
    whole = Part("?x", one.p, "?y")
    for summary in (summarised["SPM"], summarised["pairs"]):
        inside, outside = (pattern_estimate(summary, each) for each in (one, whole))
        assert inside.total <= outside.total * (1 + SLACK) + SLACK
    assert whole.within(one) is not None
    assert one.within(Part("?s", "<p:none>", "?o")) is None
