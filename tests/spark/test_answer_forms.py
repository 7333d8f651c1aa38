"""The forms of an answer: rows in their order, yes or no, triples; one row per evaluation."""

from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from bestbefore.query import OutputOperator, parse_sparql
from bestbefore.spark.answers import DUE, answer_rows, due_rows, evaluations
from bestbefore.spark.content import WindowContents, bounds_of
from bestbefore.spark.output_stream import to_stream
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.patterns.solutions import spread
from bestbefore.spark.relation import Relation
from bestbefore.spark.session import tune
from bestbefore.windows import Instants, SlidingWindow, Timeline
from tests import relations
from tests.relations import columns, table

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
ELEMENTS = [
    (1, "<a:x>", "<a:p>", f'"10"{INTEGER}'),
    (2, "<a:y>", "<a:p>", f'"9"{INTEGER}'),
    (3, "<a:z>", "<a:p>", '"text"'),
    (4, "<a:x>", "<a:q>", "<a:y>"),
    (12, "<a:x>", "<a:p>", f'"2"{INTEGER}'),
    (13, "_:b", "<a:p>", f'"1"{INTEGER}'),
]


INSTANTS = Instants((SlidingWindow(10, 10),))


@dataclass(frozen=True)
class Content:
    """A session and what its windows hold."""

    session: SparkSession
    windows: WindowContents


@pytest.fixture(scope="module")
def content(spark):
    session = tune(spark.newSession(), rows=0)
    elements = columns(("time", "s", "p", "o"), ELEMENTS, {"time": pa.int64()})
    return Content(
        session, WindowContents(table(session, elements), INSTANTS, ((),), together=True)
    )


def rows_of(content, query):
    form, pattern, _ = parse_sparql(query)
    graph = content.windows.of(0)
    solutions = spread(compile_solutions(pattern, Dataset(graph=graph, origin=graph.span)))
    return answer_rows(solutions.relation, form, content.windows)


def answers(content, query, streamed=lambda rows, due: rows):
    due = Relation(DUE, ("SELECT * FROM ", due_rows([1, 2, 3], Timeline(INSTANTS))))
    found = evaluations(streamed(rows_of(content, query), due), due, content.windows)
    answered = relations.rows_of(content.session, found, bounds_of(INSTANTS, 1, 3))
    return {row["evaluation"]: row["rows"] for row in answered}


def values(rows):
    return [tuple(term and term["value"] for term in row.values()) for row in rows]


def test_rows_come_in_the_order_asked_for_with_a_limit_per_window(content):
    found = answers(content, "SELECT ?o ?s { ?s <a:p> ?o } ORDER BY ?o LIMIT 2")
    assert values(found[1]) == [("9", "a:y"), ("10", "a:x")]
    assert values(found[2]) == [("1", "b"), ("2", "a:x")]
    assert found[3] == []
    down = answers(content, "SELECT DISTINCT ?s { ?s <a:p> ?o } ORDER BY DESC(?o) OFFSET 1")
    assert values(down[1]) == [("a:x",), ("a:y",)]


def test_terms_are_ordered_by_kind_then_by_value(content):
    query = """SELECT ?t { VALUES ?t { "b" 10 <a:x> 9.5 "a" <a:w> UNDEF true } } ORDER BY ?t"""
    found = values(answers(content, query)[2])
    assert [each for (each,) in found] == [None, "a:w", "a:x", "9.5", "10", "true", "a", "b"]


def test_ask_answers_every_window_with_one_row(content):
    found = answers(content, "ASK { ?s <a:q> ?o }")
    assert found == {1: [{"boolean": True}], 2: [{"boolean": False}], 3: [{"boolean": False}]}


def test_describe_gives_the_triples_of_the_window_about_its_terms(content):
    found = answers(content, "DESCRIBE ?s <a:z> { ?s <a:q> ?o }")
    assert values(found[1]) == [
        ("a:x", "a:p", "10"),
        ("a:x", "a:q", "a:y"),
        ("a:z", "a:p", "text"),
    ]
    assert found[2] == []


def test_construct_gives_legal_triples_once_with_a_blank_node_per_mapping(content):
    query = "CONSTRUCT { _:n <a:of> ?s . ?o <a:r> ?s . ?s <a:r> <a:k> } { ?s <a:p> ?o }"
    found = answers(content, query)
    of = [row for row in found[1] if row["predicate"]["value"] == "a:of"]
    assert len({row["subject"]["value"] for row in of}) == 3
    assert all(row["subject"]["type"] != "literal" for row in found[1])
    assert len(found[1]) == 6
    assert len(found[2]) == 4


def test_a_variable_may_have_any_name_that_the_engine_has_for_its_own(content):
    names = ["boolean", "window", "evaluation", "fresh", "position", "copies", "copy", "weight",
             "next", "mappings", "row", "count", "at", "opening", "rows"]  # fmt: skip
    for several in ([names[0]], names):
        values = (
            f"VALUES ({' '.join(f'?{name}' for name in several)}) {{ ({'1 ' * len(several)}) }}"
        )
        query = f"SELECT {' '.join(f'?{name}' for name in several)} {{ {values} }}"
        found = answers(content, query)[1]
        assert [{name: term["value"] for name, term in row.items()} for row in found] == [
            dict.fromkeys(several, "1")
        ]


CAME = {1: [("9",), ("text",)], 2: [("1",), ("2",)], 3: []}
WENT = {1: [("old",)], 2: [("10",), ("9",), ("text",)], 3: [("1",), ("2",)]}


@pytest.mark.parametrize(
    ("operator", "expected"), [(OutputOperator.ISTREAM, CAME), (OutputOperator.DSTREAM, WENT)]
)
def test_what_came_and_went_has_columns_of_any_name(content, operator, expected):
    before = pa.table({"evaluation": [1, 1], "?weight": [f'"10"{INTEGER}', '"old"']})
    previous = table(content.session, before)
    found = answers(
        content,
        "SELECT ?weight { ?s <a:p> ?weight }",
        lambda rows, due: to_stream(rows, operator, due=due, previous=previous),
    )
    assert {number: sorted(values(rows)) for number, rows in found.items()} == expected
