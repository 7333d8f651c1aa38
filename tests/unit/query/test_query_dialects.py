"""One query in the spellings of several engines."""

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import NamedWindow, TimeWindow, parse_query, plan, print_query
from bestbefore.query.algebra import BGP, Join, Service, TriplePattern, Variable, Window
from bestbefore.rdf.terms import IRI

E = "http://example.org/"
PREFIX = f"PREFIX : <{E}>\n"
SERVICE = "SERVICE :bkg { ?user :hasFollowers ?followers }"
FILTER = "FILTER(?followers > 100000)"
RSP_QL = f"""{PREFIX}REGISTER RSTREAM :q AS
SELECT ?user FROM NAMED WINDOW :mentions ON :mentions [RANGE PT10M STEP PT1M]
WHERE {{ WINDOW :mentions {{ ?user :isMentionedIn ?post }} {SERVICE} {FILTER} }}"""
C_SPARQL = f"""REGISTER QUERY :q AS {PREFIX}
SELECT ?user FROM STREAM :mentions [RANGE 10m STEP 1m]
WHERE {{ ?user :isMentionedIn ?post . {SERVICE} {FILTER} }}"""
CQELS = f"""{PREFIX}REGISTER STREAM :q AS SELECT ?user
WHERE {{ STREAM :mentions [RANGE 10m SLIDE 1m] {{ ?user :isMentionedIn ?post }}
         {SERVICE} {FILTER} }}"""


@pytest.mark.parametrize("text", [C_SPARQL, CQELS], ids=["C-SPARQL", "CQELS"])
def test_the_same_query_in_another_spelling_is_the_same(text):
    query = parse_query(text)
    assert query == parse_query(RSP_QL)
    assert parse_query(print_query(query)) == query
    assert [each.name for each in plan(query).services[0].join_key] == ["user"]


def streaming(clauses, where):
    return parse_query(f"{PREFIX}REGISTER QUERY :q AS ASK {clauses} WHERE {{ {where} }}")


ONE = "FROM STREAM :s [RANGE 1m]"
A, B, C = map(Variable, "abc")
P, Q = IRI(E + "p"), IRI(E + "q")
AB, BC = BGP((TriplePattern(A, P, B),)), BGP((TriplePattern(B, Q, C),))


def over(pattern):
    return Window(E + "s", pattern)


def test_a_clause_is_put_around_as_much_as_holds_no_other():
    services = "SERVICE :x { ?a :p ?b }"
    query = streaming(ONE, f"?a :p ?b {{ ?b :q ?c }} {services} ?b :q ?c")
    service = Service(E + "x", AB)
    assert query.pattern == Join(Join(over(Join(AB, BC)), service), over(BC))


@pytest.mark.parametrize(
    "where",
    [
        "?a :p ?b OPTIONAL { ?b :q ?c } FILTER(?a != ?b)",
        "?a :p ?b FILTER NOT EXISTS { ?b :q ?c }",
        "{ SELECT ?a { ?a :p+ ?b } }",
        "?a :p ?b VALUES ?a { 1 }",
    ],
)
def test_without_other_clauses_all_is_over_the_stream(where):
    explicit = f"FROM NAMED WINDOW :s ON :s [RANGE 1m] WHERE {{ WINDOW :s {{ {where} }} }}"
    expected = parse_query(f"{PREFIX}REGISTER QUERY :q AS ASK {explicit}")
    assert streaming(ONE, where) == expected


def test_exists_is_over_the_stream_too():
    query = streaming(ONE, "?a :p ?b SERVICE :x { ?a :p ?b } FILTER EXISTS { ?b :q ?c }")
    assert query.pattern.condition.pattern == over(BC)


def test_clauses_that_match_no_triple_stay_outside():
    query = streaming(ONE, "VALUES ?a { 1 } GRAPH :g { ?a :p ?b }")
    assert not any(isinstance(each, Window) for each in (query.pattern.left, query.pattern.right))


def test_several_streams_make_one_window_over_all():
    query = streaming("FROM STREAM :s [RANGE 1m] FROM STREAM :t [RANGE PT1M]", "?a :p ?b")
    extent = TimeWindow(60_000, 60_000)
    assert query.windows == (NamedWindow(E + "s", (E + "s", E + "t"), extent),)
    assert query.pattern == over(AB)
    assert parse_query(print_query(query)) == query


def test_several_streams_of_a_named_window():
    clause = "FROM NAMED WINDOW :w ON :s, :t [RANGE 1m]"
    assert streaming(clause, "WINDOW :w { ?a :p ?b }").windows[0].streams == (E + "s", E + "t")


@pytest.mark.parametrize(
    ("clauses", "where", "place", "message"),
    [
        (f"{ONE}\nFROM STREAM :t [RANGE 2m]", "", (3, 1), "give them the same extent"),
        (f"{ONE}\nFROM NAMED WINDOW :s ON :t [RANGE 2m]", "", (3, 1), "is declared twice"),
        (
            "",
            "\nSTREAM :s [RANGE 1m] { }\nSTREAM :s [RANGE 2m] { }",
            (4, 8),
            "the stream <http://example.org/s> with two different windows is not supported",
        ),
        ("", "\nSTREAM :s { }", (3, 11), "[RANGE … STEP …] after the stream, found '{'"),
        (f"{ONE}\nFROM :g", "", (3, 1), "FROM next to FROM STREAM is not supported"),
    ],
)
def test_what_does_not_go_together_is_refused(clauses, where, place, message):
    clauses = clauses or "FROM NAMED WINDOW :w ON :s [RANGE 1m]"
    with pytest.raises(QueryError) as caught:
        streaming(clauses, where)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_static_graphs():
    query = streaming(f"{ONE} FROM NAMED :g FROM NAMED :h", "?a :p ?b GRAPH :g { ?b :q ?c }")
    assert (query.default_graphs, query.named_graphs) == ((), (E + "g", E + "h"))
    query = streaming("FROM :g FROM NAMED WINDOW :w ON :s [RANGE 1m]", "?a :p ?b")
    assert (query.default_graphs, query.pattern) == ((E + "g",), AB)
