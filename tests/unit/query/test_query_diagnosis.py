"""Malformed queries: the token that does not fit, its place in the text, and what would fit."""

import pytest

from bestbefore.errors import QueryError, UnsupportedSparql
from bestbefore.query import parse_query


@pytest.mark.parametrize(
    ("where", "column", "message"),
    [
        ("?x :p", 15, "'}' does not fit here, after ':p'; expected a term"),
        ("WINDOW :w { ?x :p }", 27, "'}' does not fit here, after ':p'; expected a term"),
        (
            "WINDOW { ?x :p ?o }",
            16,
            "'{' does not fit here, after 'WINDOW'; expected a variable or an",
        ),
        ("FROM NAMED WINDOW :v ON :s [RANGE 1s]", 9, "'FROM' does not fit here, after '{'"),
        ("WINDOW :w ?x", 19, "'?x' does not fit here, after ':w'; expected '{'"),
        ("?x 5 ?y", 12, "'5' does not fit here, after '?x'; expected a variable or an IRI"),
        ("?x :p ?y,", 19, "'}' does not fit here, after ','; expected a term"),
        (
            "FILTER ?x > 5",
            16,
            "'?x' does not fit here, after 'FILTER'; expected an IRI or a function or '('",
        ),
        ("FILTER(?x >)", 20, "')' does not fit here, after '>'; expected a term"),
        (
            "FILTER(?x = ?y = ?z)",
            24,
            "'=' does not fit here, after '?y'; expected an arithmetic operator or '||' or '&&'",
        ),
        ("FILTER(NOT ?x)", 20, "'?x' does not fit here, after 'NOT'; expected EXISTS"),
        ("FILTER(REGX(?x, 'a'))", 16, "'REGX' does not fit here, after '('"),
        ("FILTER(REGX(?x, 'a'))", 16, "did you mean 'REGEX'"),
        ("?x :p ?y OPTIONL { ?x :q ?z }", 18, "did you mean 'OPTIONAL'"),
        (
            "?x :p ?y LIMIT",
            18,
            "'LIMIT' does not fit here, after '?y'; expected a clause or ',' or ';' or '.' or '}'",
        ),
        ("SERVICE :s { ?x :p 'a' } }", 36, "'}' closes nothing"),
        ("FILTER(?x > 5", 23, "'}' stands where ')' should close '(' of line 5, column 15"),
        ("?x ex:p ?y", 12, "the prefix 'ex:' is not declared; add PREFIX ex:"),
        ("?x <p> ?y", 12, "the IRI <p> is relative"),
        ("?x :p '\\q'", 15, "is not an escape"),
    ],
)
def test_a_malformed_pattern(registered, where, column, message):
    with pytest.raises(QueryError) as caught:
        parse_query(registered(where))
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (5, column)
    assert not isinstance(caught.value, UnsupportedSparql)


@pytest.mark.parametrize(
    ("form", "line", "column", "message"),
    [
        ("SELECT", 4, 1, "'FROM' does not fit here, after 'SELECT'; expected a variable or '*'"),
        ("SELECT ?x,", 3, 10, "',' does not fit here, after '?x'; expected a variable"),
        (
            "CONSTRUCT { ?x }",
            3,
            16,
            "'}' does not fit here, after '?x'; expected a variable or an IRI",
        ),
    ],
)
def test_a_malformed_form(registered, form, line, column, message):
    with pytest.raises(QueryError) as caught:
        parse_query(registered("", form))
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_query_that_ends_too_early():
    text = "REGISTER RSTREAM q AS\nSELECT *\nFROM NAMED WINDOW <w> ON <s> [RANGE 1s]\n"
    with pytest.raises(
        QueryError, match=r"the query ends too early, after '\]'; expected '{' or FROM or WHERE"
    ):
        parse_query(text)


def test_the_place_is_that_of_the_text_before_anything_is_taken_out():
    text = """PREFIX : <http://e/> # a comment, é, \t tabs
REGISTER RSTREAM :q AS SELECT *
FROM NAMED WINDOW :w ON :s [RANGE 1s] WHERE { # WINDOW
\tWINDOW :w { ?x :p '''two
lines''' ; :q "\\u0041" . ?y } }"""
    with pytest.raises(QueryError, match="'}' does not fit here, after '\\?y'") as caught:
        parse_query(text)
    assert (caught.value.line, caught.value.column) == (5, 29)


def test_an_error_at_the_end_of_a_long_query_is_found_too(registered):
    where = "?x :p ?y .\n" * 600 + "?x :p"
    with pytest.raises(QueryError, match="'}' does not fit here, after ':p'") as caught:
        parse_query(registered(where))
    assert (caught.value.line, caught.value.column) == (605, 7)
