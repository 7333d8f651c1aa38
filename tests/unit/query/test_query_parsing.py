"""Text that no one would write, and what must hold of any text."""

import sys
import time

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import find_warnings, parse_query, parse_sparql, plan, print_query

# Far more than any of it takes, and far less than what is quadratic takes.
AT_MOST_S = 20


@pytest.mark.parametrize(
    "where",
    [
        "{" * 10_000,
        "{" * 10_000 + "}" * 10_000,
        "FILTER(" + "(" * 5_000 + "1" + ")" * 5_000 + ")",
        "?a :p " + "[ :p " * 5_000,
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
        "{" * 500 + "}" * 500,
        "FILTER(" + "!" * 10_000 + "?a)",
        "FILTER(" + "(" * 100_000,
        "?a :p" + "|:p" * 10_000 + " ?b",
        "?a (:p" + "/:p" * 10_000 + ")* ?b",
        "?a " + "^" * 10_000 + ":p ?b",
        "BIND(1" + " * 1" * 10_000 + " AS ?x)",
    ],
    ids=lambda where: where[:12].replace("\x00", "NUL"),
)
def test_hostile_text_ends_in_one_line_with_its_place(registered, where):
    before = sys.getrecursionlimit()
    with pytest.raises(QueryError) as caught:
        parse_query(registered(where))
    assert sys.getrecursionlimit() == before
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert caught.value.line == 5
    assert caught.value.column > 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (GROUP_CONCAT(?u; SEPARATOR=) AS ?x) { ?u ?p ?o }",
        "SELECT (GROUP_CONCAT(?u; SEPARATOR) AS ?x) { ?u ?p ?o }",
        "ASK { FILTER(?f IN (1,2,3) |< !(?f = -1)) }",
        "ASK { FILTER(?a <>) }",
        "ASK { ?a ?b ?c } LIMIT " + "9" * 5_000,
        "ASK { FILTER(?a<b>=",
        "ASK { ?a ?b 'c'^^ }",
        "ASK { ?a ?b -  5 }",
        "ASK { VALUES ?a { - } }",
        "ASK { ?a !(^) ?b }",
        "REGISTER",
        "REGISTER QUERY q COMPUTED EVERY",
        "PREFIX",
        "BASE <http://e/> PREFIX : <" + "../" * 10_000,
    ],
)
def test_malformed_text_ends_in_one_line(text):
    for parse in (parse_sparql, parse_query):
        with pytest.raises(QueryError) as caught:
            parse(text)
        assert "\n" not in str(caught.value)
        assert caught.value.line is not None


@pytest.mark.parametrize(
    "term",
    [
        "9" * 5_000,
        "-" + "9" * 5_000,
        "1." + "9" * 5_000,
        "1e" + "9" * 5_000,
        "'" + "x" * 10**6 + "'",
    ],
)
def test_a_long_term_is_read_and_planned(registered, term):
    where = f"WINDOW :w {{ ?a :p {term} }} SERVICE :s {{ ?a :q ?c }} FILTER(?c > {term})"
    query = parse_query(registered(where))
    plan(query)
    assert parse_query(print_query(query)) == query


CHAIN = " ".join(f"?a{number} :p{number} ?a{number + 1} ." for number in range(10_000))


@pytest.mark.parametrize(
    "window",
    [
        "?a0 :p ?b . " * 10_000,
        CHAIN,
        "?a0 :p (" + "1 " * 5_000 + ")",
        "?a0 :p ?b ; " + " ; ".join(f":p{number} [ :q {number} ]" for number in range(3_000)),
        "?a0 :p" + "/:p" * 5_000 + " ?b",
        "?a0 :p ?b VALUES ?b { " + "1 " * 10_000 + "}",
        "?a0 :p ?b FILTER(?b IN (" + "1, " * 10_000 + "1))",
        "?a0 :p ?b FILTER(" + "?b = 1 || " * 5_000 + "?b = 2)",
        "?a0 :p ?b " + "FILTER(?b = 1) " * 5_000,
        "?a0 :p ?b " + "OPTIONAL { ?a0 :q ?c } " * 150,
        "{" * 90 + "?a0 :p ?b" + "}" * 90,
    ],
    ids=lambda window: window[:20],
)
def test_a_very_large_query_is_read_planned_printed_and_hashed(registered, window):
    start = time.process_time()
    query = parse_query(registered(f"WINDOW :w {{ {window} }} SERVICE :s {{ ?a0 :q ?x }}", "ASK"))
    assert len(plan(query).windows) == 1
    assert find_warnings(query) == ()
    again = parse_query(print_query(query))
    assert again == query
    assert hash(again.pattern) == hash(query.pattern)
    assert time.process_time() - start < AT_MOST_S


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
