"""What this version does not run is refused by name, with its place; the rest of SPARQL is not."""

import pytest

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import parse_query, plan

WINDOW = "WINDOW :w { ?a :p ?b }"
SERVICE = "SERVICE :s { ?a :q ?c }"
LARGEST = "SELECT ?a (MAX(?x) AS ?c) { ?a :q ?x } GROUP BY ?a"


def refusal(text):
    with pytest.raises(UnsupportedSparql) as caught:
        plan(parse_query(text))
    return (caught.value.line, caught.value.column), str(caught.value)


@pytest.mark.parametrize(
    ("where", "column", "construct"),
    [
        ("WINDOW ?w { ?a :p ?b }", 16, "WINDOW ?w"),
        ("FILTER(:double(?a) > 1)", 16, "the function <http://example.org/double>"),
        (f"{WINDOW} SERVICE ?s {{ ?a :p ?b }}", 32, "SERVICE ?s"),
        (f"{WINDOW} SERVICE SILENT ?s {{ ?a :p ?b }}", 32, "SERVICE ?s"),
        (
            f"{WINDOW} {SERVICE} FILTER EXISTS {{ SERVICE :t {{ ?c :q ?d }} }}",
            72,
            "SERVICE inside EXISTS",
        ),
        (f"WINDOW :w {{ GRAPH ?g {{ ?a :p ?b }} }} {SERVICE}", 21, "GRAPH inside WINDOW"),
        (f"{WINDOW} {SERVICE} ?a :q ?d", 56, "a triple pattern outside WINDOW and SERVICE"),
        (f"{WINDOW} {SERVICE} ?a :q* ?d", 56, "a triple pattern outside WINDOW and SERVICE"),
        (
            f"{WINDOW} {SERVICE} FILTER EXISTS {{ ?a :q ?d }}",
            72,
            "a triple pattern outside WINDOW and SERVICE",
        ),
    ],
)
def test_in_a_pattern(registered, where, column, construct):
    place, message = refusal(registered(where))
    assert f"{construct} is not supported" in message
    assert place == (5, column)


def test_an_unknown_cast_names_the_known_ones(registered):
    text = registered("FILTER(<http://www.w3.org/2001/XMLSchema#int>(?a) > 1)")
    _, message = refusal(text)
    assert "did you mean 'xsd:integer'" in message


@pytest.mark.parametrize(
    ("where", "form", "after"),
    [
        (f"{WINDOW} OPTIONAL {{ {SERVICE} }}", "SELECT *", ""),
        (f"{{ {WINDOW} {SERVICE} }} UNION {{ {WINDOW} {SERVICE} }}", "SELECT *", ""),
        (f"{WINDOW} MINUS {{ {SERVICE} }}", "SELECT *", ""),
        (f"{WINDOW} {SERVICE} BIND(?c + 1 AS ?d)", "SELECT DISTINCT *", ""),
        (f"{WINDOW} {SERVICE} VALUES ?a {{ :x }}", "SELECT REDUCED *", ""),
        (
            f"{WINDOW} SERVICE :s {{ {LARGEST} }}",
            "ASK",
            "",
        ),
        (f"{WINDOW} {SERVICE}", "SELECT ?c (COUNT(*) AS ?n)", "GROUP BY ?c HAVING(COUNT(*) > 1)"),
        (f"{WINDOW} {SERVICE}", "SELECT *", "ORDER BY DESC(?c) LIMIT 10 OFFSET 2"),
        ("WINDOW :w { ?a :p/:q* ?b } SERVICE :s { ?a ^:q ?c }", "SELECT *", ""),
        (f"{WINDOW} {SERVICE} ?a :q ?d GRAPH :h {{ ?d ?e ?f }}", "ASK FROM :g FROM NAMED :h", ""),
        (f"{WINDOW} {SERVICE} FILTER NOT EXISTS {{ WINDOW :w {{ ?a :q ?d }} }}", "SELECT *", ""),
        (f"{WINDOW} SERVICE SILENT :s {{ GRAPH ?g {{ ?a :q ?c }} }}", "SELECT *", ""),
    ],
)
def test_what_stands_around_the_clauses_is_planned(registered, where, form, after):
    found = plan(parse_query(registered(where, form, after)))
    assert [each.name for each in found.services[0].join_key] == ["a"]
