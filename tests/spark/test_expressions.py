"""FILTER conditions on Spark against an independent evaluator, value by value."""

import itertools

import pyarrow as pa
import pyoxigraph as ox
import pytest
from pyspark.sql import functions as F

from bestbefore.query import parse_query
from bestbefore.query.algebra import Filter, walk
from bestbefore.rdf.terms import decode, encode, to_sparql
from bestbefore.spark.expressions import condition_sql
from bestbefore.spark.session import tune

from .test_expression_terms import PAIR

XSD = "http://www.w3.org/2001/XMLSchema#"
VALUES = [
    "<http://example.org/a>",
    '"abc"',
    '"ABC"@en',
    '"abc"@de-ch',
    '""',
    *(f'"{each}"^^<{XSD}integer>' for each in ("5", "-3", "0", "x", "123456789012345678")),
    *(f'"{each}"^^<{XSD}decimal>' for each in ("2.5", "-0.1")),
    *(f'"{each}"^^<{XSD}double>' for each in ("INF", "NaN")),
    *(f'"{each}"^^<{XSD}boolean>' for each in ("true", "false", "maybe")),
    f'"2020-01-01T00:00:00Z"^^<{XSD}dateTime>',
    f'"2020-01-01T01:00:00+01:00"^^<{XSD}dateTime>',
    '"odd"^^<http://example.org/type>',
]
CONDITIONS = [
    "?x = ?y", "?x != ?y", "?x < ?y", "?x >= ?y", "?x > 4", "2.5 >= ?x",
    "?x", "!?x", "?x && ?y", "?x || ?y",
    "?x + ?y > 4", "?x - 1 = 4", "?x * ?y = 25", "?x / ?y = 1", "-?x < 0", "ABS(?x) = 3",
    "?x IN (5, 'abc', ?y)", "?x NOT IN (5, ?y)", "sameTerm(?x, ?y)", "STR(?x) = STR(?y)",
    "LANG(?x) = 'en'", "LANGMATCHES(LANG(?x), 'de')", "LANGMATCHES(LANG(?x), '*')",
    f"DATATYPE(?x) = <{XSD}integer>", "isIRI(?x)", "isLiteral(?x)", "isNumeric(?x)",
    "CONTAINS(?x, 'b')", "STRSTARTS(STR(?x), 'http')", "STRENDS(?x, 'C')", "STRLEN(?x) = 3",
    "UCASE(?x) = 'ABC'", "LCASE(?x) = 'abc'@en", "REGEX(?x, '^a')", "REGEX(?x, '^A', 'i')",
    "COALESCE(?x + 1, 7) = 7", "IF(?x, 1, 2) = 2", "BOUND(?x)",
]  # fmt: skip
# The independent evaluator stores numbers by value ("05" becomes "5"), so lexical forms that are
# not canonical have a table of their own.
FALSE, TRUE = f'"false"^^<{XSD}boolean>', f'"true"^^<{XSD}boolean>'
ELSEWHERE = {
    "?x < ?y": [(FALSE, TRUE)],
    "?x >= ?y": [(TRUE, FALSE), *((value, value) for value in VALUES)],
}
# Nor does it give these a truth, which SPARQL 1.1 section 17.2.2 does.
TRUTHS = ("?x", "!?x", "?x && ?y", "?x || ?y", "IF(?x, 1, 2) = 2")
TRUE_OR_FALSE = ('"ABC"@en', '"abc"@de-ch', f'"x"^^<{XSD}integer>', f'"maybe"^^<{XSD}boolean>')
LEXICAL = [
    ('"ABC"@en', '""@en', "?x && !?y", True),
    (f'"x"^^<{XSD}integer>', f'"maybe"^^<{XSD}boolean>', "?x || ?y", False),
    (f'"05"^^<{XSD}integer>', f'"5"^^<{XSD}integer>', "?x = ?y", True),
    (f'"05"^^<{XSD}integer>', f'"5"^^<{XSD}integer>', "sameTerm(?x, ?y)", False),
    (f'"5"^^<{XSD}byte>', f'"5.00"^^<{XSD}decimal>', "?x = ?y", True),
    (f'"5"^^<{XSD}byte>', f'"5"^^<{XSD}integer>', "DATATYPE(?x) = DATATYPE(?y)", False),
    (f'"5e0"^^<{XSD}double>', f'"5"^^<{XSD}integer>', "?x = ?y", True),
    (f'"1"^^<{XSD}boolean>', f'"true"^^<{XSD}boolean>', "?x = ?y", True),
    (f'"+5"^^<{XSD}integer>', '"5"', "STR(?x) = ?y", False),
    (f'"5d"^^<{XSD}double>', f'"5"^^<{XSD}integer>', "?x = ?y", None),
    (f'"5"^^<{XSD}integer>', f'"0"^^<{XSD}integer>', "?x / ?y > 0", None),
    (f'"5"^^<{XSD}double>', f'"0"^^<{XSD}double>', "?x / ?y > 0", True),
]


def condition_of(text):
    query = parse_query(
        "PREFIX : <http://e/> REGISTER RSTREAM :o AS SELECT ?x FROM NAMED WINDOW :w ON :s "
        f"[RANGE 1s STEP 1s] WHERE {{ WINDOW :w {{ ?x :p ?y FILTER({text}) }} "
        "SERVICE :b { ?x :q ?z } }"
    )
    return next(each for each in walk(query.pattern) if isinstance(each, Filter)).condition


def condition_column(text):
    """Whether a condition on ?x and ?y is true, as a column."""
    return F.expr(condition_sql(condition_of(text), PAIR))


@pytest.fixture(scope="module")
def interpreted(spark):
    """A session as it is for a handful of rows."""
    return tune(spark.newSession(), rows=0)


@pytest.fixture(scope="module")
def pairs(spark):
    session = tune(spark.newSession())
    rows = list(itertools.product(VALUES, VALUES))
    table = pa.table({"?x": [x for x, _ in rows], "?y": [y for _, y in rows]})
    return rows, session.createDataFrame(table).persist()


def expected(text, rows):
    """Which pairs pass the filter, by pyoxigraph, in one query."""
    values = "\n".join(
        f"({number} {to_sparql(decode(x))} {to_sparql(decode(y))})"
        for number, (x, y) in enumerate(rows)
    )
    found = ox.Store().query(f"SELECT ?n {{ VALUES (?n ?x ?y) {{ {values} }} FILTER({text}) }}")
    return {int(each["n"].value) for each in found}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_passes_the_same_pairs_as_elsewhere(pairs, text):
    rows, frame = pairs
    passed = frame.select(condition_column(text).alias("t")).toArrow()["t"]
    found = {number for number, truth in enumerate(passed.to_pylist()) if truth}
    wrong = [rows[number] for number in sorted(found ^ expected(text, rows))]
    if text in TRUTHS:
        wrong = [pair for pair in wrong if not {*pair} & {*TRUE_OR_FALSE}]
    assert [pair for pair in wrong if pair not in ELSEWHERE.get(text, ())] == []


def test_what_is_ordered_where_the_other_evaluator_differs(interpreted):
    """SPARQL 1.1 orders booleans and leaves IRIs and unknown types unordered."""
    table = pa.table({"?x": [FALSE, VALUES[0], VALUES[-1]], "?y": [TRUE, VALUES[0], VALUES[-1]]})
    frame = interpreted.createDataFrame(table)
    condition = condition_column("?x <= ?y")
    assert frame.select(condition.alias("t")).toArrow()["t"].to_pylist() == [True, None, None]


@pytest.mark.parametrize(("x", "y", "text", "truth"), LEXICAL)
def test_values_and_lexical_forms_are_told_apart(interpreted, x, y, text, truth):
    frame = interpreted.createDataFrame(pa.table({"?x": [x], "?y": [y]}))
    found = frame.select(condition_column(text).alias("t")).toArrow()["t"]
    assert found.to_pylist() == [truth]


def test_the_encoding_in_columns_is_that_of_the_terms(pairs):
    assert all(encode(decode(value)) == value for value in VALUES)
    rows, frame = pairs
    assert frame.filter(F.col("?x") == F.col("?y")).count() == len(VALUES)
    assert len(rows) == len(VALUES) ** 2
