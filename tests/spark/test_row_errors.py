"""A value that an expression cannot take is an error of its row, never the end of the job."""

import pyarrow as pa
import pytest

from bestbefore.rdf.terms import XSD
from bestbefore.spark.session import tune

from .test_expression_terms import term_column, typed

NASTY = [
    '"("', '"[a"', '"*"', '"a{2,1}"', '"\\\\"', '"(?<n>a)(?<n>b)"', '"$9"', '"\\\\Q"', '"a\nb"',
    '"""', '"\U0001f600"', '"%zz"', '"a"@en', "_:b", "<a:b>", '"x"^^<>',
    *typed("integer", "9999999999999999999999999999999999999999", "-9999999999999999999", "", "0"),
    *typed("decimal", "1.0000000000000000000000000000001"),
    *typed("double", "1e999999999", "NaN", "-0.0"),
    *typed("dateTime", "2020-13-45T99:99:99Z", "99999-01-01T00:00:00+14:00"),
    *typed("boolean", "maybe"),
    None,
]  # fmt: skip
GOOD = '"abc"'
EXPRESSIONS = [
    "REGEX('abc', ?y)", "REGEX('abc', STR(?y), 'i')", "REGEX('abc', 'b', ?y)", "REGEX(?y, ?y, ?y)",
    "REPLACE('abc', ?y, '-')", "REPLACE('abc', 'b', ?y)", "REPLACE(?y, ?y, ?y, 'q')",
    "?y + ?y", "?y * ?y", "?y / ?y", "-?y", "1 / ?y", "ABS(?y)", "CEIL(?y)", "FLOOR(?y)",
    "ROUND(?y)",
    "?y = ?x", "?y < ?x", "?y IN (?x, ?y)", "xsd:integer(?y)", "xsd:decimal(?y)", "xsd:float(?y)",
    "xsd:double(STR(?y))", "xsd:integer(STR(?y))", "xsd:boolean(?y)", "xsd:string(?y)",
    "xsd:dateTime(STR(?y))", "YEAR(?y)", "SECONDS(?y)", "TIMEZONE(?y)", "SUBSTR('abc', ?y)",
    "SUBSTR('abc', ?y, ?y)", "SUBSTR(?y, 2, 3)", "STRBEFORE('abc', ?y)", "STRAFTER(?y, ?y)",
    "CONCAT(?y, ?y)", "ENCODE_FOR_URI(?y)", "STRDT(?y, xsd:integer)", "STRLANG('a', ?y)", "IRI(?y)",
    "IRI(STR(?y))", "LANGMATCHES(?y, ?y)", "IF(?y, 1, 2)", "COALESCE(?y + 1, -1)", "MD5(STR(?y))",
]  # fmt: skip


@pytest.mark.parametrize("rows", [0, None], ids=["interpreted", "compiled"])
def test_a_wrong_value_is_an_error_of_its_row(spark, rows):
    session = tune(spark.newSession(), rows=rows)
    values = [*NASTY, GOOD]
    frame = session.createDataFrame(pa.table({"?x": [GOOD] * len(values), "?y": values}))
    columns = [term_column(text).alias(text) for text in EXPRESSIONS]
    found = frame.coalesce(1).select("?y", *columns).toArrow().to_pylist()
    assert len(found) == len(values)
    good = found[-1]
    assert good["REGEX('abc', ?y)"] == f'"true"^^<{XSD}boolean>'
    assert good["REPLACE('abc', ?y, '-')"] == '"-"'
    assert [row["REGEX('abc', ?y)"] for row in found[:4]] == [None] * 4
    assert [row["REPLACE('abc', ?y, '-')"] for row in found[:4]] == [None] * 4
    unbound = found[-2]
    answered = ("COALESCE(?y + 1, -1)",)
    assert {text for text in EXPRESSIONS if unbound[text] is not None} == {*answered}
