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
from bestbefore.spark.content import WindowContent, bounds_of
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.patterns.solutions import spread
from bestbefore.spark.session import tune
from bestbefore.windows import Instants, SlidingWindow
from tests.conformance.results import by_value, encoded
from tests.relations import columns, rows_of, table

from .queries import EX, PREFIX, graphs, number, selects

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
    names = ("time", "s", "p", "o")
    content = WindowContent(
        table(session, columns(names, elements, {"time": pa.int64()}), "elements"), WINDOW_SPEC
    )
    solutions = spread(compile_solutions(pattern, Dataset(graph=content, origin=content.span)))
    bounds = bounds_of(Instants((WINDOW_SPEC,)), 1, LAST)
    rows = rows_of(session, answer_rows(solutions.relation, form), bounds)
    found = {number: Counter() for number in range(1, LAST + 1)}
    for row in rows:
        found[row["evaluation"]][
            mapping_of((name[1:], row[name]) for name in row if name[0] == "?")
        ] += 1
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


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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


ELEMENTS_OF_EXAMPLES = [
    (time, f"<{EX}n{s}>", f"<{EX}{p}>", o)
    for time, s, p, o in (
        (2, 0, "p", f"<{EX}n1>"), (3, 1, "p", f"<{EX}n2>"), (4, 2, "p", f"<{EX}n0>"),
        (5, 2, "p", f"<{EX}n3>"), (6, 0, "q", number(1)), (7, 1, "q", number(2)),
        (8, 1, "q", number(3)), (9, 3, "r", '"x"'), (12, 3, "p", f"<{EX}n4>"),
        (15, 4, "q", number(2)), (16, 0, "q", number(1)), (25, 0, "p", f"<{EX}n3>"),
        (26, 3, "q", '"y"'), (28, 4, "p", f"<{EX}n4>"),
    )
]  # fmt: skip
# What random queries seldom hit: tests inside expressions and inside tests, outer variables that
# only a FILTER sees, paths of several steps, errors in aggregates.
EXAMPLES = [
    "SELECT * { ?a :p ?b FILTER(EXISTS { ?b :q ?c } || ?a = :n2) FILTER(! EXISTS { ?a :r ?d }) }",
    """SELECT * { ?a :p ?b FILTER(EXISTS { ?b :q ?c } || EXISTS { ?a :q 1 })
    FILTER(NOT EXISTS { ?a :r ?c } || ?b = :n0) }""",
    "SELECT * { ?a :p ?b BIND(EXISTS { ?b :p ?c } AS ?more) }",
    "SELECT * { ?a :p ?b BIND(IF(EXISTS { ?b :q ?b2 }, 'yes', 'no') AS ?more) }",
    "SELECT * { ?a :q ?x . ?b :q ?y FILTER NOT EXISTS { ?c :q ?z FILTER(?z > ?x && ?z < ?y) } }",
    "SELECT * { ?a :p ?b FILTER NOT EXISTS { ?b :p ?c FILTER NOT EXISTS { ?c :q ?d } } }",
    "SELECT * { ?a :p ?b FILTER EXISTS { ?b :p ?c FILTER EXISTS { ?c :p ?d FILTER(?d != ?a) } } }",
    "SELECT * { ?a :p ?b OPTIONAL { ?b :q ?x FILTER(?x > 1 || EXISTS { ?a :q ?y }) } }",
    "SELECT * { ?a :p ?b OPTIONAL { ?b :q ?x FILTER(?a != :n0) } OPTIONAL { ?b :r ?x } }",
    "SELECT * { ?a :p ?b OPTIONAL { ?b :q ?x } ?c :q ?x }",
    "SELECT * { ?a :p ?b OPTIONAL { ?b :q ?x } OPTIONAL { ?a :q ?x } }",
    "SELECT * { ?a :p ?b MINUS { ?c :q ?d } MINUS { ?b :q ?e } }",
    "SELECT * { { ?a :p ?b } UNION { ?a :q ?x } MINUS { { ?b :q ?y } UNION { ?a :r ?z } } }",
    "SELECT * { ?a :p+ ?b }",
    "SELECT * { ?a :p* ?b }",
    "SELECT * { :n0 :p+ ?b }",
    "SELECT * { ?a :p+ :n4 }",
    "SELECT * { ?a (:p/:p)+ ?b }",
    "SELECT * { ?a (:p|^:p)* ?a }",
    "SELECT * { ?a :p?/:q? ?b }",
    "SELECT * { ?a ((:p?)+)/:q ?b }",
    """SELECT ?a (SUM(?x) AS ?s) (AVG(?x) AS ?v) (MIN(?x) AS ?l) (MAX(?x) AS ?h) (COUNT(?x) AS ?c)
    { ?a ?p ?o OPTIONAL { ?a :q ?x } } GROUP BY ?a""",
    "SELECT (SUM(?x) AS ?s) (COUNT(*) AS ?c) (MIN(?x) AS ?m) { ?a :none ?x }",
    "SELECT ?x (COUNT(DISTINCT ?a) AS ?c) { ?a :q ?x } GROUP BY ?x HAVING (EXISTS { ?x ?y ?z })",
    "SELECT ?a ?n { ?a :p ?b { SELECT ?b (COUNT(*) AS ?n) { ?b :q ?x } GROUP BY ?b } }",
    "SELECT ?a { ?a :p ?b FILTER EXISTS { SELECT ?b { ?b :q ?x } } }",
    "SELECT ?a ?b { ?a :p ?b { SELECT ?b { ?b :q ?x } ORDER BY ?x ?b LIMIT 1 } }",
    "SELECT DISTINCT ?x { ?a :q ?x } ORDER BY DESC(?x) LIMIT 1",
    "SELECT * { { SELECT (1 AS ?one) {} } ?a :q ?one }",
    "SELECT * { ?a :q ?x . ?a :q ?y FILTER(?x < ?y) BIND(?x + ?y AS ?z) BIND(?z / 2 AS ?w) }",
]


@pytest.mark.parametrize("query", EXAMPLES)
def test_a_query_finds_what_is_found_elsewhere(session, query):
    found = found_by_spark(session, query, ELEMENTS_OF_EXAMPLES)
    assert found == {
        number: found_elsewhere(query, ELEMENTS_OF_EXAMPLES, number)
        for number in range(1, LAST + 1)
    }


def terms_of(**terms):
    return Counter([frozenset(terms.items())])


NOWHERE = f"<{EX}nowhere>"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # A path of no steps leads from a term to itself, even if no triple has it (9.3).
        ("SELECT * { :nowhere :p* ?b }", [terms_of(b=NOWHERE)] * 3),
        (
            "SELECT * { VALUES ?a { :nowhere } FILTER EXISTS { ?a :p* ?b } }",
            [terms_of(a=NOWHERE)] * 3,
        ),
        # GROUP_CONCAT joins texts, and the text of a number is its digits (18.5.1.7).
        (
            "SELECT (GROUP_CONCAT(?x; SEPARATOR='|') AS ?t) { { SELECT ?x { :n1 :q ?x } } }",
            [terms_of(t='"2|3"'), terms_of(t='"2|3"'), terms_of(t='""')],
        ),
    ],
)
def test_where_the_other_evaluator_departs_from_the_standard_we_do_not(session, query, expected):
    found = found_by_spark(session, query, ELEMENTS_OF_EXAMPLES)
    assert list(found.values()) == expected
