"""Random queries over several windows at once against another evaluator, window by window."""

from collections import Counter

import pyarrow as pa
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from bestbefore.query import parse_sparql
from bestbefore.rdf.terms import decode, to_sparql
from bestbefore.spark.answers import answer_rows
from bestbefore.spark.content import WindowContent
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.patterns.solutions import spread
from bestbefore.spark.session import tune
from bestbefore.windows import SlidingWindow
from tests.conformance.results import by_value, encoded

from .queries import PREFIX, graphs, selects

LAST = 3
WINDOW_SPEC = SlidingWindow(width_ms=20, slide_ms=10)


@pytest.fixture(scope="module")
def session(spark):
    session = tune(spark.newSession(), rows=0)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return session


def elements_of(graph, times):
    return [(time, *triple) for time, triple in zip(times, graph, strict=False)]


def found_by_spark(session, query, elements):
    """The mappings of all windows, in one job."""
    form, pattern, _ = parse_sparql(PREFIX + query)
    frame = session.createDataFrame(
        pa.Table.from_pylist(
            [dict(zip(("time", "s", "p", "o"), each, strict=True)) for each in elements],
            schema=pa.schema([("time", pa.int64()), *((name, pa.string()) for name in "spo")]),
        )
    )
    content = WindowContent(frame, WINDOW_SPEC, 1, LAST, together=True)
    solutions = spread(compile_solutions(pattern, Dataset(graph=content, origin=content.span)))
    rows = answer_rows(solutions.frame, form).toArrow().to_pylist()
    found = {number: Counter() for number in range(1, LAST + 1)}
    for row in rows:
        found[row["#"]][mapping_of((name, row[name]) for name in row if name not in "#~+")] += 1
    return found


def mapping_of(pairs):
    return frozenset((name, by_value(term)) for name, term in pairs if term is not None)


def found_elsewhere(query, elements, number):
    """The mappings of one window."""
    opening, closing = WINDOW_SPEC.bounds(number)
    store = ox.Store()
    for time, *triple in elements:
        if opening < time <= closing:
            store.update(
                f"INSERT DATA {{ {' '.join(to_sparql(decode(each)) for each in triple)} }}"
            )
    found = store.query(PREFIX + query)
    names = [each.value for each in found.variables]
    return Counter(
        mapping_of((name, None if row[name] is None else encoded(row[name])) for name in names)
        for row in found
    )


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    query=selects(),
    graph=graphs,
    times=st.lists(st.integers(1, 40), min_size=14, max_size=14),
)
def test_a_query_over_windows_finds_what_is_found_in_each_of_them(session, query, graph, times):
    elements = elements_of(graph, times)
    try:
        expected = {
            number: found_elsewhere(query, elements, number) for number in range(1, LAST + 1)
        }
    except SyntaxError:
        reject()
    assert found_by_spark(session, query, elements) == expected
