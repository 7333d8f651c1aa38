"""The query text that is sent."""

import pytest

from bestbefore.errors import InputError
from bestbefore.service import ServicePattern, load_query, refresh_query, single_query
from bestbefore.service.request import refusal

TEXT = "?user <http://e/followers> ?count ."
PAIRS = ServicePattern(
    ("user", "name", "count"),
    ("user", "name"),
    "?user <http://e/nick> ?name ; <http://e/n> ?count .",
)


def pattern(text, *, variables=("user", "count"), key=("user",), optional_text=""):
    return ServicePattern(variables, key, text, optional_text)


def test_load_asks_for_every_variable(followers):
    assert load_query(followers) == f"SELECT ?user ?count WHERE {{\n{TEXT}\n}}"


def test_a_page_has_a_total_order(followers):
    assert load_query(followers, limit=100, offset=200) == (
        f"SELECT ?user ?count WHERE {{\n{TEXT}\n}}\nORDER BY ?user ?count LIMIT 100 OFFSET 200"
    )


def test_refresh_puts_the_keys_first():
    keys = [("<http://e/a>", '"b"'), ("<http://e/c>", '"5"^^<http://e/int>')]
    assert refresh_query(PAIRS, keys) == (
        "SELECT ?user ?name ?count WHERE {\n"
        'VALUES (?user ?name) { (<http://e/a> "b") (<http://e/c> "5"^^<http://e/int>) }\n'
        f"{PAIRS.text}\n}}"
    )


def test_single_writes_the_key_into_the_pattern():
    assert single_query(PAIRS, ("<http://e/a>", '"b"@en')) == (
        'SELECT ?count WHERE {\n <http://e/a>  <http://e/nick>  "b"@en  ; <http://e/n> ?count .\n}'
    )


def test_the_optional_text_is_one_more_optional_block():
    asked = pattern(
        TEXT + " # all of them",
        variables=("user", "count", "interval"),
        optional_text="?user <http://e/interval> ?interval",
    )
    assert single_query(asked, ("<http://e/a>",)) == (
        "SELECT ?count ?interval WHERE {\n"
        " <http://e/a>  <http://e/followers> ?count . # all of them\n"
        "OPTIONAL {\n <http://e/a>  <http://e/interval> ?interval\n}\n}"
    )


def test_only_variables_are_replaced():
    text = (
        "?user <http://e/?user> ?count . # ?user\n"
        '$user <http://e/q> \'?user\', "a \\" ?user", \'\'\'it\'s ?user\'\'\', """"?user" """ .\n'
        "?users e:a\\?user ?count FILTER(?user!=?count)"
    )
    assert single_query(pattern(text), ("<http://e/a>",)) == (
        "SELECT ?count WHERE {\n"
        " <http://e/a>  <http://e/?user> ?count . # ?user\n"
        " <http://e/a>  <http://e/q> '?user', \"a \\\" ?user\", '''it's ?user''',"
        ' """"?user" """ .\n'
        "?users e:a\\?user ?count FILTER( <http://e/a> !=?count)\n}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?user (SUM(?n) AS ?count) WHERE { ?user <http://e/p> ?n } GROUP BY ?user",
        "?user <http://e/p> ?count MINUS { ?user a <http://e/Banned> }",
        "{ ?user <http://e/p> ?count } UNION { ?other <http://e/p> ?count }",
        "OPTIONAL { ?user <http://e/p> ?count } ?user a <http://e/User>",
        "?x <http://e/p> ?count FILTER(?x != ?user) OPTIONAL { ?user <http://e/q> ?x }",
        "?x <http://e/p> ?count BIND(IRI(?x) AS ?user)",
        "?user <http://e/p> ?count FILTER(BOUND(?user))",
        "?user <http://e/p> ?count FILTER NOT EXISTS { ?user a <http://e/Bot> }",
        "?user <http://e/p> ?count OPTIONAL { ?user <http://e/q> ?x OPTIONAL { ?x a ?y } }",
        "VALUES ?user { <http://e/a> } ?user <http://e/p> ?count",
    ],
)
def test_a_pattern_that_nests_is_restricted_from_outside(text):
    assert single_query(pattern(text), ("<http://e/a>",)) == (
        f"SELECT ?count WHERE {{\n{{\n{text}\n}}\nFILTER(sameTerm(?user, <http://e/a>))\n}}"
    )
    assert refresh_query(pattern(text), [("<http://e/a>",)]) == (
        f"SELECT ?user ?count WHERE {{\nVALUES (?user) {{ (<http://e/a>) }}\n{{\n{text}\n}}\n}}"
    )


def test_words_in_names_and_strings_do_not_nest():
    text = "?user <http://e/union{> 'BIND {', e:bind, \"x\"@bind ; <http://e/p> ?count # UNION {"
    text = text.replace("union{", "union")
    assert "FILTER" not in single_query(pattern(text), ("<http://e/a>",))


def test_a_unit_without_other_variables_asks_for_its_rows():
    only = pattern("?user a <http://e/User>", variables=("user",))
    assert single_query(only, ("<http://e/a>",)) == (
        "SELECT * WHERE {\n <http://e/a>  a <http://e/User>\n}"
    )


def test_a_pattern_without_key_is_one_unit(followers):
    whole = pattern(TEXT, key=())
    assert single_query(whole, ()) == load_query(followers)


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
def test_no_literal_leaves_its_quotes(followers, value, written):
    key = (f'"{value}"',)
    assert refresh_query(followers, [key]) == (
        f"SELECT ?user ?count WHERE {{\nVALUES (?user) {{ ({written}) }}\n{TEXT}\n}}"
    )
    assert single_query(followers, key) == (
        f"SELECT ?count WHERE {{\n {written}  <http://e/followers> ?count .\n}}"
    )


@pytest.mark.parametrize(
    ("key", "part"),
    [
        (("_:b0",), "cannot be written"),
        (("<http://e/> } ; DELETE { <x>",), "cannot be written"),
        (("<http://e/a b>",), "cannot be written"),
        (('"x"^^<a b>',), "relative IRI"),
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
        (("?user",), (), "without '?'"),
        ((), (), "distinct variables"),
        (("user", "user"), (), "distinct variables"),
        (("count",), ("user",), "?user must be"),
        (("user", "other"), ("other",), "?other must be"),
        (("user",), ("user", "user"), "named once"),
    ],
)
def test_a_wrong_pattern_is_an_input_error(variables, key, part):
    with pytest.raises(InputError, match=part.replace("?", r"\?")):
        ServicePattern(variables, key, TEXT)
