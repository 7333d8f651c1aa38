"""The query text that is sent."""

import pyoxigraph as ox
import pytest

from bestbefore.errors import InputError
from bestbefore.query.algebra import BGP, LeftJoin, TriplePattern, Variable
from bestbefore.rdf.terms import IRI
from bestbefore.service import (
    ServicePattern,
    load_query,
    refresh_query,
    refusal,
    single_query,
)

from .conftest import asked

TEXT = "?user <http://e/followers> ?count ."
PAIRS = asked(
    "?user <http://e/nick> ?name ; <http://e/n> ?count .",
    ("user", "name", "count"),
    ("user", "name"),
)
A = ("<http://e/a>",)


def on_one_line(query):
    return " ".join(query.split())


def test_load_asks_for_every_variable(followers):
    assert on_one_line(load_query(followers)) == f"SELECT ?user ?count WHERE {{ {TEXT} }}"


def test_a_page_has_a_total_order(followers):
    assert on_one_line(load_query(followers, limit=100, offset=200)) == (
        f"SELECT ?user ?count WHERE {{ {TEXT} }} ORDER BY ?user ?count LIMIT 100 OFFSET 200"
    )


def test_refresh_puts_the_keys_first():
    keys = [("<http://e/a>", '"b"'), ("<http://e/c>", '"5"^^<http://e/int>')]
    assert on_one_line(refresh_query(PAIRS, keys)) == (
        "SELECT ?user ?name ?count WHERE { "
        'VALUES (?user ?name) { (<http://e/a> "b") (<http://e/c> "5"^^<http://e/int>) } '
        "?user <http://e/nick> ?name . ?user <http://e/n> ?count . }"
    )


def test_single_writes_the_key_into_the_pattern():
    assert on_one_line(single_query(PAIRS, ("<http://e/a>", '"b"@en'))) == (
        'SELECT ?count WHERE { <http://e/a> <http://e/nick> "b"@en . '
        "<http://e/a> <http://e/n> ?count . }"
    )


def test_a_change_interval_is_one_more_optional():
    interval = TriplePattern(Variable("user"), IRI("http://e/interval"), Variable("interval"))
    pattern = ServicePattern(
        LeftJoin(asked(TEXT).pattern, BGP((interval,))), ("user", "count", "interval"), ("user",)
    )
    assert on_one_line(single_query(pattern, A)) == (
        "SELECT ?count ?interval WHERE { <http://e/a> <http://e/followers> ?count . "
        "OPTIONAL { <http://e/a> <http://e/interval> ?interval . } }"
    )
    assert on_one_line(refresh_query(pattern, [A])) == (
        "SELECT ?user ?count ?interval WHERE { VALUES (?user) { (<http://e/a>) } "
        f"{TEXT} OPTIONAL {{ ?user <http://e/interval> ?interval . }} }}"
    )


def test_only_variables_are_replaced():
    text = (
        "?user <http://e/?user> ?count . # ?user\n"
        '$user <http://e/q> \'?user\', "a \\" ?user" .\n'
        "?users <http://e/?user> ?count FILTER(?user!=?count)"
    )
    assert on_one_line(single_query(asked(text), A)) == (
        "SELECT ?count WHERE { <http://e/a> <http://e/?user> ?count . "
        '<http://e/a> <http://e/q> "?user" . <http://e/a> <http://e/q> "a \\" ?user" . '
        "?users <http://e/?user> ?count . FILTER(<http://e/a> != ?count) }"
    )


BANNED = "{ ?user <http://e/q> <http://e/Banned> . }"


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        (
            "{ SELECT ?user (SUM(?n) AS ?count) { ?user <a:p> ?n } GROUP BY ?user }",
            "SELECT ?user (SUM(?n) AS ?count) WHERE { KEYS ?user <a:p> ?n . } GROUP BY ?user",
        ),
        (
            f"?user <http://e/p> ?count MINUS {BANNED}",
            f"KEYS ?user <http://e/p> ?count . MINUS {BANNED}",
        ),
        (
            f"?user <http://e/p> ?count FILTER NOT EXISTS {BANNED}",
            f"KEYS ?user <http://e/p> ?count . FILTER(NOT EXISTS {BANNED})",
        ),
        (
            "?user <http://e/p> ?count FILTER(BOUND(?user))",
            "KEYS ?user <http://e/p> ?count . FILTER(BOUND(?user))",
        ),
        (
            "?x <http://e/p> ?count BIND(IRI(?x) AS ?user)",
            "KEYS { ?x <http://e/p> ?count . BIND(IRI(?x) AS ?user) }",
        ),
        (
            "?x <http://e/p> ?count FILTER(?x != ?count) OPTIONAL { ?user <http://e/q> ?x }",
            None,
        ),
        (
            "{ ?y <http://e/p> ?count OPTIONAL { ?user <http://e/q> ?y } } ?user <http://e/r> ?y",
            None,
        ),
        (
            "VALUES ?user { <http://e/a> } ?user <http://e/p> ?count",
            "KEYS { VALUES (?user) { (<http://e/a>) } ?user <http://e/p> ?count . }",
        ),
        (
            "{ SELECT ?user ?count { ?user <http://e/p> ?count } ORDER BY ?count LIMIT 2 }",
            None,
        ),
        (
            "{ ?user <http://e/p> ?count } UNION { ?other <http://e/p> ?count }",
            "KEYS { ?user <http://e/p> ?count . } UNION { ?other <http://e/p> ?count . }",
        ),
    ],
)
def test_the_keys_go_as_far_inside_as_nothing_else_changes(text, matched):
    pattern = asked(text)
    query = on_one_line(refresh_query(pattern, [A]))
    whole = on_one_line(load_query(pattern)).partition("{ ")[2].removesuffix(" }")
    if matched is None:
        matched = f"KEYS {{ {whole} }}"
    block = "VALUES (?user) { (<http://e/a>) }"
    assert query == f"SELECT ?user ?count WHERE {{ {matched.replace('KEYS', block)} }}"
    compared = on_one_line(single_query(pattern, A))
    assert compared.endswith("FILTER(SAMETERM(?user, <http://e/a>)) }")
    assert "VALUES" not in compared.replace("VALUES (?user) { (<http://e/a>) } ?user", "")


def test_a_unit_without_other_variables_asks_for_its_rows():
    only = asked("?user a <http://e/User>", variables=("user",))
    query = single_query(only, A)
    store = ox.Store()
    assert len(list(store.query(query))) == 0
    store.update("INSERT DATA { <http://e/a> a <http://e/User> }")
    assert on_one_line(query).startswith("SELECT * WHERE { <http://e/a> <http")
    assert len(list(store.query(query))) == 1


def test_a_pattern_without_key_is_one_unit(followers):
    assert single_query(asked(TEXT, key=()), ()) == load_query(followers)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('say "hi"', '"say \\"hi\\""'),
        ("two\nlines\r\t", '"two\\nlines\\r\\t"'),
        ('"} } DELETE WHERE { ?s ?p ?o } #', '"\\"} } DELETE WHERE { ?s ?p ?o } #"'),
        ("back\\", '"back\\\\"'),
        ("\\u0022 }", '"\\\\u0022 }"'),
        ("$user ?user", '"$user ?user"'),
    ],
)
def test_no_literal_leaves_its_quotes(value, written):
    pattern, key = asked(TEXT, key=("count",)), (f'"{value}"',)
    assert on_one_line(refresh_query(pattern, [key])) == (
        f"SELECT ?user ?count WHERE {{ VALUES (?count) {{ ({written}) }} {TEXT} }}"
    )
    assert on_one_line(single_query(pattern, key)) == (
        f"SELECT ?user WHERE {{ ?user <http://e/followers> {written} . }}"
    )


@pytest.mark.parametrize("name", ["user", "property"])
def test_a_literal_that_no_triple_can_begin_with_is_compared(name):
    pattern = asked("?user ?property ?count", ("user", "property", "count"), (name,))
    query = single_query(pattern, ('"x"',))
    assert f'FILTER(SAMETERM(?{name}, "x"))' in query
    assert list(ox.Store().query(query)) == []


@pytest.mark.parametrize(
    ("key", "part"),
    [
        (("_:b0",), "cannot be written"),
        (("<http://e/> } ; DELETE { <x>",), "cannot be written"),
        (("<http://e/a b>",), "cannot be written"),
        (('"x"^^<a b>',), "cannot be written"),
        (('"x"^^<a>',), "relative IRI"),
        (("<local>",), "relative IRI"),
        (("nonsense",), "not an encoded RDF term"),
        (('"\ud800"',), "lone surrogate"),
        (("<http://e/a>", "<http://e/b>"), "has 2 values"),
    ],
)
def test_a_key_that_sparql_cannot_name_is_refused_with_a_reason(followers, key, part):
    assert part in refusal(followers, key)


def test_a_key_that_sparql_can_name_is_not_refused(followers):
    assert refusal(followers, ("<http://e/ü>",)) is None


@pytest.mark.parametrize(
    ("variables", "key", "part"),
    [
        (("?user",), (), "has no variable '?user'; it has user, count"),
        ((), (), "distinct variables"),
        (("user", "user"), (), "distinct variables"),
        (("count",), ("user",), "?user must be"),
        (("user", "other"), ("other",), "has no variable 'other'"),
        (("user",), ("user", "user"), "named once"),
    ],
)
def test_a_wrong_pattern_is_an_input_error(variables, key, part):
    with pytest.raises(InputError) as caught:
        asked(TEXT, variables, key)
    assert part in str(caught.value)
