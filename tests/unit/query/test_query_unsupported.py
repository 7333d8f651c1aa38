"""Valid SPARQL that this version does not run is refused by name, with its place."""

import pytest

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import parse_query

TRIPLE = "?a :p ?b"


def refusal(text):
    with pytest.raises(UnsupportedSparql) as caught:
        parse_query(text)
    return (caught.value.line, caught.value.column), str(caught.value)


@pytest.mark.parametrize(
    ("where", "column", "construct"),
    [
        ("?a :p 'OPTIONAL' OPTIONAL { ?a :q ?c }", 26, "OPTIONAL"),
        ("{ ?a :p ?b } UNION { ?a :q ?b }", 22, "UNION"),
        ("?a :p ?b MINUS { ?a :q ?b }", 18, "MINUS"),
        ("?a :p ?b BIND(?b + 1 AS ?c)", 18, "BIND"),
        ("VALUES ?a { 1 2 }", 9, "VALUES"),
        ("GRAPH :g { ?a :p ?b }", 9, "GRAPH"),
        ("WINDOW :w { GRAPH ?g { ?a :p ?b } }", 21, "GRAPH"),
        ("SERVICE ?s { ?a :p ?b }", 17, "SERVICE ?s"),
        ("SERVICE SILENT ?s { ?a :p ?b }", 24, "SERVICE ?s"),
        ("WINDOW ?w { ?a :p ?b }", 16, "WINDOW ?w"),
        ("?a :p/:q ?b", 12, "a property path"),
        ("?a :p|:q ?b", 12, "a property path"),
        ("?a ^:p ?b", 12, "a property path"),
        ("?a !(:p|^:q) ?b", 12, "a property path"),
        ("?a :p ?b . ?a (:p/a)* ?b", 23, "a property path"),
        ("?a :p+ ?b", 12, "a property path"),
        ("SERVICE :s { SELECT ?a { ?a :p ?b } }", 22, "a subquery"),
        ("FILTER EXISTS { ?a :p ?b }", 16, "EXISTS"),
        ("FILTER(?a = 1 && NOT EXISTS { ?a :p ?b })", 26, "NOT EXISTS"),
        ("FILTER(CONTAINS(?substr, SUBSTR(?a, 1)))", 34, "the function SUBSTR"),
        ("FILTER(?now > NOW())", 23, "the function NOW"),
        ("FILTER(:double(?a) > 1)", 16, "the function <http://example.org/double>"),
        ("FILTER(1 + ?a = +?a)", 25, "unary +"),
        ("FILTER(COUNT(?a) > 1)", 16, "the aggregate COUNT"),
    ],
)
def test_in_a_pattern(registered, where, column, construct):
    place, message = refusal(registered(where))
    assert f"{construct} is not supported" in message
    assert place == (5, column)


@pytest.mark.parametrize(
    ("form", "column", "construct"),
    [
        ("SELECT REDUCED ?a", 8, "REDUCED"),
        ("SELECT ?b (?a + 1 AS ?c)", 11, "SELECT (… AS ?variable)"),
        ("SELECT (COUNT(*) AS ?n)", 9, "the aggregate COUNT"),
        ("SELECT (GROUP_CONCAT(?a; SEPARATOR=',') AS ?n)", 9, "the aggregate GROUP_CONCAT"),
        ("SELECT * FROM :g", 10, "FROM a static graph"),
        ("SELECT * FROM NAMED :g", 10, "FROM a static graph"),
        ("CONSTRUCT", 1, "CONSTRUCT WHERE"),
    ],
)
def test_in_the_form(registered, form, column, construct):
    place, message = refusal(registered(TRIPLE, form))
    assert f"{construct} is not supported" in message
    assert place == (3, column)


@pytest.mark.parametrize(
    ("after", "construct"),
    [
        ("GROUP BY ?a", "GROUP BY"),
        ("HAVING (?a > 1)", "HAVING"),
        ("ORDER BY DESC(?a)", "ORDER BY"),
        ("LIMIT 10", "LIMIT"),
        ("OFFSET 5 LIMIT 10", "OFFSET"),
        ("VALUES ?a { 1 }", "VALUES"),
    ],
)
def test_after_the_pattern(registered, after, construct):
    place, message = refusal(registered(TRIPLE, after=f"\n  {after}"))
    assert f"{construct} is not supported" in message
    assert place == (6, 3)
