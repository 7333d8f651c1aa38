"""What operators do with counts of equal mappings, with freshness and with order."""

from dataclasses import replace

import pyarrow as pa
import pytest

from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    OrderCondition,
    Project,
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
    Variable,
    Window,
)
from bestbefore.query.expressions import Aggregate, Call, Exists
from bestbefore.rdf.terms import IRI, Literal
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.session import tune
from tests import relations
from tests.conformance.results import by_value
from tests.relations import table

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
USER, POST, COUNT = Variable("user"), Variable("post"), Variable("count")
WINDOW = Window("w", BGP((TriplePattern(POST, IRI("a:by"), USER),)), number=0)
SERVICE = Service("s", BGP((TriplePattern(USER, IRI("a:count"), COUNT),)), number=0)
JOINED = Join(WINDOW, SERVICE)


def number(value):
    return f'"{value}"{INTEGER}'


# In window 1 there are two equal mappings of u1 and p1.
MAPPINGS = {
    "evaluation": [1, 1, 1, 2],
    "mappings": [2, 1, 1, 1],
    "?user": ["<a:u1>", "<a:u1>", "<a:u2>", "<a:u1>"],
    "?post": ["<a:p1>", "<a:p2>", "<a:p3>", "<a:p2>"],
}
# The service knows u1 only, in window 1 by a row that is fresh and one that may not be.
SLICES = {
    "evaluation": [1, 1, 2],
    "fresh": [1.0, 0.5, 0.25],
    "?user": ["<a:u1>", "<a:u1>", "<a:u1>"],
    "?count": [number(10), number(20), number(30)],
}


@pytest.fixture(scope="module")
def session(spark):
    return tune(spark.newSession(), rows=0)


@pytest.fixture(scope="module")
def dataset(session):
    mappings, slices, due = (
        table(session, pa.table(each)) for each in (MAPPINGS, SLICES, {"evaluation": [1, 2, 3]})
    )
    return Dataset(windows=[mappings], services=[slices], origin=lambda: due)


@pytest.fixture(scope="module")
def rows_of(session, dataset):
    def run(pattern, *columns, dataset=dataset):
        found = relations.rows_of(
            session, compile_solutions(pattern, dataset).relation.keep(columns)
        )
        values = [tuple(map(_plain, row.values())) for row in found]
        return sorted(values, key=lambda row: tuple(map(str, row)))

    return run


def _plain(value):
    return by_value(value).partition('"^^')[0].strip('"<>').removeprefix("a:") if isinstance(
        value, str) else value  # fmt: skip


def test_a_join_multiplies_counts_and_freshness(rows_of):
    columns = ("evaluation", "?post", "?count", "mappings", "fresh")
    assert rows_of(JOINED, *columns) == [
        (1, "p1", "10", 2, 1.0),
        (1, "p1", "20", 2, 0.5),
        (1, "p2", "10", 1, 1.0),
        (1, "p2", "20", 1, 0.5),
        (2, "p2", "30", 1, 0.25),
    ]


def test_what_has_no_match_keeps_its_own_count_and_depends_on_no_service(rows_of):
    optional = LeftJoin(WINDOW, SERVICE)
    found = rows_of(optional, "evaluation", "?post", "?count", "mappings", "fresh")
    assert (1, "p3", None, 1, 1.0) in found
    assert (1, "p1", "20", 2, 0.5) in found
    both = rows_of(Union(JOINED, WINDOW), "evaluation", "?post", "?count", "mappings", "fresh")
    assert (1, "p1", None, 2, 1.0) in both
    assert len(both) == 9


def test_minus_and_exists_keep_the_left_mappings_as_they_are(rows_of):
    known = Values((USER,), ((IRI("a:u2"),),))
    columns = ("evaluation", "?post", "mappings")
    without = [(1, "p1", 2), (1, "p2", 1), (2, "p2", 1)]
    assert rows_of(Minus(WINDOW, known), *columns) == without
    assert rows_of(Filter(Exists(SERVICE), WINDOW), *columns) == without
    assert rows_of(Filter(Exists(SERVICE, negated=True), WINDOW), *columns) == [(1, "p3", 1)]


def test_aggregates_count_every_mapping_of_a_row(rows_of):
    functions = {
        "rows": Aggregate("COUNT", None),
        "users": Aggregate("COUNT", USER, distinct=True),
        "sum": Aggregate("SUM", COUNT),
        "distinct": Aggregate("SUM", COUNT, distinct=True),
        "average": Aggregate("AVG", COUNT),
        "texts": Aggregate("GROUP_CONCAT", COUNT, separator=","),
    }
    group = Group(JOINED, (), tuple((Variable(name), each) for name, each in functions.items()))
    columns = ("evaluation", *(f"?{name}" for name in functions), "fresh")
    assert rows_of(group, *columns) == [
        (1, "6", "1", "90", "30", "15", "10,10,10,20,20,20", 0.5),
        (2, "1", "1", "30", "30", "30", "30", 0.25),
        # No mapping: one group all the same, and nothing that could be stale.
        (3, "0", "0", "0", "0", "0", "", 1.0),
    ]


def test_a_group_is_fresh_if_all_units_behind_it_are(rows_of):
    group = Group(JOINED, (USER,), ((Variable("n"), Aggregate("COUNT", POST)),))
    # Both rows of window 1 with the probability 0.5 are of one unit.
    assert rows_of(group, "evaluation", "?user", "?n", "fresh") == [
        (1, "u1", "6", 0.5),
        (2, "u1", "1", 0.25),
    ]


def test_units_of_a_group_that_are_equally_fresh_count_each(session, rows_of, dataset):
    both = {**SLICES, "fresh": [0.5, 0.5, 0.25], "?user": ["<a:u1>", "<a:u2>", "<a:u1>"]}
    slices = table(session, pa.table(both))
    named = replace(dataset, services=[slices], units=[("?user",)])
    group = Group(JOINED, (), ((Variable("n"), Aggregate("COUNT", POST)),))
    assert rows_of(group, "evaluation", "?n", "fresh", dataset=named) == [
        (1, "4", 0.25),
        (2, "1", 0.25),
        (3, "0", 1.0),
    ]


def test_distinct_forgets_counts_and_is_fresh_if_any_is(dataset, rows_of):
    found = Distinct(Project(JOINED, (USER,)))
    assert "mappings" not in compile_solutions(found, dataset).relation.columns
    assert rows_of(found, "evaluation", "?user", "fresh") == [
        (1, "u1", 1.0),
        (2, "u1", 0.25),
    ]


def test_an_order_and_a_limit_hold_in_each_window(rows_of):
    ordered = OrderBy(JOINED, (OrderCondition(COUNT, descending=True), OrderCondition(POST)))
    found = rows_of(Slice(ordered, 1, 3), "evaluation", "position", "?count", "?post")
    # The row that stands for two mappings is two of the three.
    assert found == [(1, 2, "20", "p1"), (1, 3, "20", "p2"), (1, 4, "10", "p1")]


def test_each_of_equal_mappings_draws_for_itself(rows_of):
    drawn = Extend(WINDOW, Variable("id"), Call("UUID", ()))
    found = rows_of(drawn, "evaluation", "?post", "?id")
    assert len({row[-1] for row in found}) == len(found) == 5


def test_inline_data_is_there_in_every_window(rows_of):
    values = Values((USER, COUNT), ((IRI("a:u9"), None), (None, Literal("x"))))
    found = rows_of(values, "evaluation", "?user", "?count")
    assert found == [
        row for window in (1, 2, 3) for row in ((window, None, "x"), (window, "u9", None))
    ]
