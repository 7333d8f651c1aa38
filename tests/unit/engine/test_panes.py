"""What is kept of the elements of earlier batches."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.engine.key_statistics import Statistics, counts_of
from bestbefore.engine.panes import Panes, has_panes
from bestbefore.query import parse_query, plan
from bestbefore.spark.buffer import Segment
from bestbefore.windows import Due, Instants, SlidingWindow, Timeline

INSTANTS = Instants((SlidingWindow(width_ms=30, slide_ms=10),))
COLUMNS = ("from_evaluation", "to_evaluation", "remaining", "mappings", "key0")


def segments(*names):
    return [Segment(name, 0, 1) for name in names]


def statistics(*rows):
    columns = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
    kinds = [pa.int64()] * 4 + [pa.string()]
    arrays = [pa.array(list(one), kind) for one, kind in zip(columns, kinds, strict=True)]
    return Statistics([counts_of(pa.table(dict(zip(COLUMNS, arrays, strict=True))), ["key0"])])


def due(first, last):
    return Due(Timeline(INSTANTS), first, last)


def rows(found):
    (counts,) = found.services
    columns = counts.first, counts.last, counts.end - counts.first, counts.mappings
    listed = zip(*(column.tolist() for column in columns), strict=True)
    keys = [counts.keys[place][0] for place in counts.key.tolist()]
    assert set(keys) == {key for (key,) in counts.keys}
    assert (counts.key[1:] >= counts.key[:-1]).all()
    return sorted((*row, key) for row, key in zip(listed, keys, strict=True))


def test_later_evaluations_see_what_is_left_of_a_pane():
    panes = Panes()
    assert panes.missing(segments("a"), due(1, 1)) == ["a"]
    panes.add(["a"], statistics((1, 3, 3, 2, "<u1>"), (2, 4, 3, 1, "<u2>")))
    assert rows(panes.statistics(due(1, 1))) == [(1, 1, 3, 2, "<u1>")]
    assert panes.missing(segments("a", "b"), due(2, 3)) == ["b"]
    panes.add(["b"], statistics((3, 5, 3, 1, "<u1>")))
    found = panes.statistics(due(2, 3))
    assert rows(found) == [
        (2, 3, 2, 2, "<u1>"),
        (2, 3, 3, 1, "<u2>"),
        (3, 3, 3, 1, "<u1>"),
    ]
    assert found.non_empty == [2, 3]
    assert rows(panes.statistics(due(5, 9))) == [(5, 5, 1, 1, "<u1>")]


def test_a_pane_stays_until_all_of_its_segments_have_left():
    panes = Panes()
    panes.add(["a", "b"], statistics((1, 3, 3, 2, "<u1>")))
    assert panes.missing(segments("b", "c"), due(1, 1)) == ["c"]
    assert panes.missing(segments("c"), due(4, 4)) == ["c"]
    assert panes.missing(segments("b"), due(4, 4)) == ["b"]


def test_a_segment_that_takes_the_place_of_known_ones_is_known():
    panes = Panes()
    panes.add(["a", "b"], statistics((1, 3, 3, 2, "<u1>")))
    panes.add(["c"], statistics((2, 4, 3, 1, "<u2>")))
    panes.note_merged(["b", "c"], "m")
    assert panes.names == {"a", "m"}
    assert panes.missing(segments("a", "m", "d"), due(3, 3)) == ["d"]
    assert rows(panes.statistics(due(3, 3))) == [(3, 3, 1, 2, "<u1>"), (3, 3, 2, 1, "<u2>")]
    # Evaluation 4 looks at it, since it does at one of those.
    assert panes.missing(segments("d"), due(4, 4)) == ["d"]
    assert panes.statistics(due(4, 4)).services == []


def test_a_segment_that_takes_the_place_of_some_that_are_not_known_is_not():
    panes = Panes()
    panes.add(["a"], statistics((1, 3, 3, 2, "<u1>")))
    panes.note_merged(["a", "b"], "m")
    assert panes.missing(segments("m"), due(3, 3)) == ["m"]
    assert panes.statistics(due(3, 3)).services == []


def test_segments_that_leave_before_their_time_let_everything_be_made_anew():
    panes = Panes()
    panes.add(["a"], statistics((1, 3, 3, 2, "<u1>")))
    panes.add(["b"], statistics((2, 4, 3, 1, "<u2>")))
    assert panes.missing(segments("b", "merged"), due(3, 3)) == ["b", "merged"]
    panes.add(["b", "merged"], statistics((1, 3, 3, 2, "<u1>"), (2, 4, 3, 1, "<u2>")))
    assert rows(panes.statistics(due(3, 3))) == [(3, 3, 1, 2, "<u1>"), (3, 3, 2, 1, "<u2>")]


ROW = st.tuples(st.integers(1, 12), st.integers(0, 3), st.integers(1, 3), st.sampled_from("abcde"))


@given(st.lists(st.lists(ROW, max_size=6), min_size=1, max_size=10), st.integers(0, 2))
def test_evaluations_find_what_all_batches_together_would_tell_them(batches, more):
    """Whatever comes late, however often a key comes and goes."""
    panes, came = Panes(), []
    for number, batch in enumerate(batches):
        due_now = due(number + 1, number + 1 + more)
        name = f"s{number}"
        assert panes.missing(segments(*(f"s{n}" for n in range(number + 1))), due_now) == [name]
        new = [(first, first + length, length + 1, count, key)
               for first, length, count, key in batch]  # fmt: skip
        panes.add([name], statistics(*new))
        came += new
        expected = [
            (max(first, due_now.first), min(last, due_now.last), first + left, count, key)
            for first, last, left, count, key in came
            if last >= due_now.first and first <= due_now.last
        ]
        found = rows(panes.statistics(due_now))
        assert found == sorted((a, b, end - a, n, key) for a, b, end, n, key in expected)


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
