"""What is kept of the elements of earlier batches."""

import pyarrow as pa
import pytest

from bestbefore.engine.panes import Panes, has_panes
from bestbefore.query import parse_query, plan
from bestbefore.spark.buffer import Segment
from bestbefore.windows import Due, Instants, SlidingWindow, Timeline

INSTANTS = Instants((SlidingWindow(width_ms=30, slide_ms=10),))
COLUMNS = ("service", "from_evaluation", "to_evaluation", "remaining", "mappings", "key0")


def segments(*names):
    return [Segment(name, 0, 1) for name in names]


def table(*rows):
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def due(first, last):
    return Due(Timeline(INSTANTS), first, last)


def rows(found):
    return sorted(tuple(row.values()) for row in found.select(COLUMNS).to_pylist())


def test_later_evaluations_see_what_is_left_of_a_pane():
    panes = Panes()
    assert panes.missing(segments("a")) == ["a"]
    panes.add(["a"], table((0, 1, 3, 3, 2, "<u1>"), (0, 2, 4, 3, 1, "<u2>")))
    assert rows(panes.statistics(due(1, 1))) == [(0, 1, 1, 3, 2, "<u1>")]
    assert panes.missing(segments("a", "b")) == ["b"]
    panes.add(["b"], table((0, 3, 5, 3, 1, "<u1>")))
    assert rows(panes.statistics(due(2, 3))) == [
        (0, 2, 3, 2, 2, "<u1>"),
        (0, 2, 3, 3, 1, "<u2>"),
        (0, 3, 3, 3, 1, "<u1>"),
    ]
    assert rows(panes.statistics(due(5, 9))) == [(0, 5, 5, 1, 1, "<u1>")]


def test_a_pane_stays_until_all_of_its_segments_have_left():
    panes = Panes()
    panes.add(["a", "b"], table((0, 1, 3, 3, 2, "<u1>")))
    assert panes.missing(segments("b", "c")) == ["c"]
    assert panes.missing(segments("c")) == ["c"]
    assert panes.missing(segments("b")) == ["b"]


@pytest.mark.parametrize(
    ("window", "service", "has"),
    [
        ("?u :in ?p", "?u :f ?n", True),
        ("?u :in ?p FILTER(STRLEN(STR(?u)) > 3)", "?u :f ?n", True),
        ("?u :in ?p . ?p :by ?x", "?u :f ?n", False),
        ("?u :in ?p OPTIONAL { ?p :by ?x }", "?u :f ?n", False),
        ("?u :in ?p FILTER EXISTS { ?p :by ?x }", "?u :f ?n", False),
        ("{ ?u :in ?p } UNION { ?u :by ?p }", "?u :f ?n", False),
    ],
)
def test_where_an_element_makes_a_mapping_by_itself(window, service, has):
    text = f"""PREFIX : <http://example.org/>
    REGISTER RSTREAM :out AS SELECT DISTINCT ?u ?n FROM NAMED WINDOW :w ON :s [RANGE 10s STEP 5s]
    WHERE {{ WINDOW :w {{ {window} }} SERVICE :b {{ {service} }} }}"""
    assert has_panes(plan(parse_query(text))) is has


def test_where_the_answer_looks_at_more_than_the_statistics_tell():
    text = """PREFIX : <http://example.org/>
    REGISTER RSTREAM :out AS SELECT ?u ?p ?n FROM NAMED WINDOW :w ON :s [RANGE 10s STEP 5s]
    WHERE { WINDOW :w { ?u :in ?p } SERVICE :b { ?u :f ?n } }"""
    assert not has_panes(plan(parse_query(text)))
