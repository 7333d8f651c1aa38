"""Text that no one would write, and what must hold of any text."""

import sys

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import parse_query, plan, print_query


@pytest.mark.parametrize(
    "where",
    [
        "{" * 10_000,
        "{" * 10_000 + "}" * 10_000,
        "FILTER(" + "(" * 5_000 + "1" + ")" * 5_000 + ")",
        "?a :p " + "[ :p " * 5_000,
        "?a :p ?b . " * 3_000,
        "{ ?a :p ?b } " * 300,
        "FILTER(1" + " + 1" * 300 + ")",
        'FILTER("',
        "'''",
        "?a :p ?b \x00",
        "SERVICE :s { " * 50 + "?a",
        " ".join(f"BIND(1 AS ?x{each})" for each in range(250)),
        "{ } " + "UNION { } " * 250,
        "?a :p ?b " + "MINUS { ?a :q ?b } " * 250,
        "?a :p* " * 250 + "?b",
        "?a (:p" + "/:p" * 250 + ")* ?b",
        "?a :p" + "|:p" * 250 + " ?b",
        "FILTER EXISTS { " * 110 + "}" * 110,
    ],
    ids=lambda where: where[:12].replace("\x00", "NUL"),
)
def test_hostile_text_ends_in_a_query_error(registered, where):
    before = sys.getrecursionlimit()
    with pytest.raises(QueryError):
        parse_query(registered(where))
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    "where",
    [
        "FILTER(" + "(" * 90 + "?a" + ")" * 90 + ")",
        "FILTER(" + " || ".join(f"?a = {each}" for each in range(250)) + ")",
        "?a :p ?b . " * 500,
        "{ ?a :p ?b } " * 150,
        "SERVICE :s { " * 40 + "?a :p ?b" + " }" * 40,
        "?a :p" + "/:p" * 250 + " ?b",
        "FILTER(?a) " * 250,
        "VALUES ?a { " + "1 " * 500 + "}",
        "{ SELECT * { " * 40 + "?a :p ?b" + " } }" * 40,
        "FILTER EXISTS { " * 40 + "?a :p ?b" + " }" * 40,
        "?a " + "(" * 80 + ":p" + ")*" * 80 + " ?b",
    ],
    ids=lambda where: where[:12],
)
def test_a_large_query_is_read_and_printed(registered, where):
    query = parse_query(registered(where))
    assert parse_query(print_query(query)) == query


def test_names_may_be_keywords():
    text = """PREFIX window: <http://e/>
    REGISTER RSTREAM service AS SELECT ?window $SELECT
    FROM NAMED WINDOW window:window ON window:SERVICE [RANGE 1s]
    WHERE { WINDOW window:window { ?window window:filter ?SELECT }
            SERVICE <service> { ?window window:a "OPTIONAL { } UNION" } # MINUS
          }"""
    query = parse_query(text)
    assert query.name == "service"
    assert plan(query).windows[0].window.name == "http://e/window"
    assert plan(query).services[0].iri == "service"
