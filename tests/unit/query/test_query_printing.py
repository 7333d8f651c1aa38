import pyoxigraph
import pytest

from bestbefore.errors import InputError
from bestbefore.query import describe_algebra, parse_query, print_query
from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    OrderBy,
    OrderCondition,
    Project,
    Service,
    Slice,
    TriplePattern,
    Variable,
)
from bestbefore.query.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Compare,
    Constant,
    Negate,
    Not,
    Or,
)
from bestbefore.query.printing import print_expression, print_pattern
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal

A, B, C = map(Variable, "abc")
P = IRI("http://e/p")
FIVE = Constant(Literal("5", XSD + "integer"))


def test_the_influencer_query(influencers):
    assert print_query(parse_query(influencers)) == (
        "REGISTER RSTREAM <http://example.org/influencers> AS\n"
        "SELECT ?user ?followers\n"
        "FROM NAMED WINDOW <http://example.org/w> ON <http://example.org/mentions>"
        " [RANGE PT10M STEP PT1M]\n"
        "WHERE {\n"
        "  WINDOW <http://example.org/w> { ?user <http://example.org/isMentionedIn> ?post . }\n"
        "  SERVICE <http://example.org/bkg>"
        " { ?user <http://example.org/hasFollowers> ?followers . }\n"
        "  FILTER(?followers > 100000)\n"
        "}\n"
    )


def test_the_algebra_of_the_influencer_query(influencers):
    assert describe_algebra(parse_query(influencers).pattern).splitlines() == [
        "Project ?user ?followers",
        "  Filter ?followers > 100000",
        "    Join",
        "      Window <http://example.org/w>",
        "        BGP",
        "          ?user <http://example.org/isMentionedIn> ?post",
        "      Service <http://example.org/bkg>",
        "        BGP",
        "          ?user <http://example.org/hasFollowers> ?followers",
    ]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Or((And((A, B)), C)), "?a && ?b || ?c"),
        (And((Or((A, B)), C)), "(?a || ?b) && ?c"),
        (And((And((A, B)), C)), "(?a && ?b) && ?c"),
        (Arithmetic("-", Arithmetic("-", A, B), C), "?a - ?b - ?c"),
        (Arithmetic("-", A, Arithmetic("-", B, C)), "?a - (?b - ?c)"),
        (Arithmetic("*", Arithmetic("+", A, B), C), "(?a + ?b) * ?c"),
        (Compare("=", Compare("<", A, B), C), "(?a < ?b) = ?c"),
        (Not(Not(A)), "!(!?a)"),
        (Negate(FIVE), "- 5"),
    ],
)
def test_parentheses_stand_where_the_meaning_needs_them(expression, text):
    assert print_expression(expression) == text


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (Literal("007", XSD + "integer"), "007"),
        (Literal("-1.50", XSD + "decimal"), "-1.50"),
        (Literal("1e6", XSD + "double"), "1e6"),
        (Literal("true", XSD + "boolean"), "true"),
        (Literal("five", XSD + "integer"), f'"five"^^<{XSD}integer>'),
        (Literal("1", XSD + "boolean"), f'"1"^^<{XSD}boolean>'),
        (Literal('a"b\n'), r'"a\"b\n"'),
    ],
)
def test_literals(literal, text):
    assert print_pattern(BGP((TriplePattern(A, P, literal),))) == f"?a <http://e/p> {text} ."


def test_triples_of_two_patterns_stay_apart():
    left, right = BGP((TriplePattern(A, P, B),)), BGP((TriplePattern(B, P, BlankNode("n")),))
    assert print_pattern(Join(left, right)) == "?a <http://e/p> ?b . { ?b <http://e/p> _:n . }"


def test_a_filter_stays_in_its_group():
    inner = Filter(A, BGP((TriplePattern(A, P, B),)))
    outer = Join(inner, Service("http://e/s", BGP(()), silent=True))
    assert print_pattern(outer) == (
        "{ ?a <http://e/p> ?b . FILTER(?a) } SERVICE SILENT <http://e/s> {  }"
    )


def test_a_pattern_is_a_query_that_an_endpoint_answers(registered):
    where = "?a :p [ :q (?b 'x'@en 1.5) ] FILTER(!(?b IN (1, -2.0)) || STRLEN(STR(?a)) * 2 > 3)"
    store = pyoxigraph.Store()
    store.load(
        b'@prefix : <http://example.org/> . :it :p [ :q (7 "x"@en 1.5) ], [ :q (1 "y") ] .',
        format=pyoxigraph.RdfFormat.TURTLE,
    )
    pattern = print_pattern(parse_query(registered(where)).pattern)
    (solution,) = store.query(f"SELECT * WHERE {{ {pattern} }}")
    assert solution["b"].value == "7"


@pytest.mark.parametrize(
    "term",
    [Variable("a b"), Variable("a } DROP ALL #"), BlankNode("n . ?x ?y ?z"), IRI("http://e/>")],
)
def test_a_name_that_would_change_the_query_is_refused(term):
    with pytest.raises(InputError, match="cannot be"):
        print_pattern(BGP((TriplePattern(A, P, term),)))


def test_a_query_with_everything(registered):
    form = "SELECT ?c (COUNT(DISTINCT ?b) AS ?n) FROM :g FROM NAMED :h"
    where = "WINDOW :w { ?a :p/:q* ?b } OPTIONAL { SERVICE :s { ?a :q ?c } FILTER(?c > 1) }"
    after = "GROUP BY ?c (?a + 1) HAVING(COUNT(*) > 1) ORDER BY DESC(?n) ?c LIMIT 3 OFFSET 1"
    text = print_query(parse_query(registered(where, form, f"{after} VALUES ?c {{ 5 UNDEF }}")))
    assert text.replace("http://example.org/", "") == (
        "REGISTER RSTREAM <q> AS\n"
        "SELECT ?c (COUNT(DISTINCT ?b) AS ?n)\n"
        "FROM NAMED WINDOW <w> ON <s> [RANGE PT10M STEP PT1M]\n"
        "FROM <g>\n"
        "FROM NAMED <h>\n"
        "WHERE {\n"
        "  WINDOW <w> { ?a <p> ?_·p1 . ?_·p1 <q>* ?b . }\n"
        "  OPTIONAL { SERVICE <s> { ?a <q> ?c . } FILTER(?c > 1) }\n"
        "}\n"
        "GROUP BY ?c (?a + 1)\n"
        "HAVING(COUNT(*) > 1)\n"
        "ORDER BY DESC(?n) ?c\n"
        "LIMIT 3\n"
        "OFFSET 1\n"
        "VALUES (?c) { (5) (UNDEF) }\n"
    )


EVERYTHING = """?a :p* ?b { { :x :p ?b } UNION { GRAPH ?g { } } } BIND(STR(?a) AS ?c)
    MINUS { ?a :p 1 } OPTIONAL { SERVICE SILENT ?e { } FILTER(?a) } VALUES (?a ?b) { (1 UNDEF) }
    { SELECT REDUCED ?d (SUM(?a) AS ?n) { WINDOW :w { } } GROUP BY ?d ORDER BY DESC(?n) LIMIT 2 }
    FILTER(NOT EXISTS { ?a :p ?b } || EXISTS { SELECT DISTINCT ?a { } OFFSET 1 })"""


def test_the_algebra_of_everything(pattern_of):
    text = describe_algebra(pattern_of(EVERYTHING)).replace("http://example.org/", "")
    assert text.splitlines() == [
        "Filter NOT EXISTS { … } || EXISTS { … }",
        "  Join",
        "    Join",
        "      LeftJoin ?a",
        "        Minus",
        "          Extend ?c = STR(?a)",
        "            Join",
        "              Path ?a <p>* ?b",
        "              Union",
        "                BGP",
        "                  <x> <p> ?b",
        "                Graph ?g",
        "                  BGP",
        "          BGP",
        "            ?a <p> 1",
        "        Service ?e silent",
        "          BGP",
        "      Values ?a ?b",
        "        1 UNDEF",
        "    Slice from 0 at most 2",
        "      Reduced",
        "        Project ?d ?n",
        "          OrderBy ?n descending",
        "            Extend ?n = ?_·a1",
        "              Group by ?d: ?_·a1 = SUM(?a)",
        "                Window <w>",
        "                  BGP",
        "  EXISTS 1",
        "    BGP",
        "      ?a <p> ?b",
        "  EXISTS 2",
        "    Slice from 1",
        "      Distinct",
        "        Project ?a",
        "          BGP",
    ]


def test_the_text_of_everything_reads_back(registered):
    query = parse_query(registered(EVERYTHING))
    assert parse_query(print_query(query)) == query


def test_a_base_is_printed_for_the_function_that_needs_it(registered):
    query = parse_query("BASE <http://e/> " + registered("BIND(IRI(?a) AS ?b)", "ASK"))
    assert print_query(query).startswith("BASE <http://e/>\nREGISTER")
    assert parse_query(print_query(query)) == query


def test_a_name_that_is_a_word_is_not_resolved_against_a_base():
    text = "BASE <http://e/> REGISTER QUERY q AS ASK FROM NAMED WINDOW <w> ON <s> [RANGE 1s] "
    query = parse_query(text + "{ BIND(IRI(?a) AS ?b) }")
    assert (query.name, query.windows[0].name) == ("q", "http://e/w")
    assert parse_query(print_query(query)) == query


A_GROUP = Group(BGP((TriplePattern(A, P, B),)), (A,), ((Variable(".a1"), Aggregate("COUNT", B)),))


SIX_AND_ONE = [("x", number) for number in range(6)] + [("y", 9)]
"""The subject and the object of each triple of a store: x has six, y has one."""


def solutions(pattern):
    """The values of ?a, ?b and ?c that another engine finds for the text of a pattern."""
    store = pyoxigraph.Store()
    triples = " ".join(f"<http://e/{name}> <http://e/p> {number} ." for name, number in SIX_AND_ONE)
    store.update(f"INSERT DATA {{ {triples} }}")
    found = store.query(f"SELECT * {{ {print_pattern(pattern)} }}")
    names = [name for name in "abc" if name in {each.value for each in found.variables}]
    return sorted(tuple(_plain(row[name].value) for name in names) for row in found)


def _plain(text):
    return int(text) if text.isdecimal() else text.removeprefix("http://e/")


SOME_TRIPLES = BGP((TriplePattern(A, P, B),))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (A_GROUP, [("x",), ("y",)]),
        (Join(A_GROUP, BGP((TriplePattern(A, P, C),))), SIX_AND_ONE),
        (Filter(Compare(">", Variable(".a1"), FIVE), A_GROUP), [("x",)]),
        (Extend(A_GROUP, C, Variable(".a1")), [("x", 6), ("y", 1)]),
        (Group(BGP(()), (), ()), [()]),
        (Distinct(SOME_TRIPLES), SIX_AND_ONE),
        (Slice(OrderBy(SOME_TRIPLES, (OrderCondition(B),)), 6, 1), [("y", 9)]),
        (OrderBy(SOME_TRIPLES, (OrderCondition(A),)), SIX_AND_ONE),
        (Join(BGP(()), SOME_TRIPLES), SIX_AND_ONE),
        (Project(Filter(C, Extend(A_GROUP, C, Variable(".a1"))), (C,)), [(1,), (6,)]),
    ],
)
def test_what_no_text_means_exactly_is_printed_as_something_with_the_same_solutions(
    pattern, expected
):
    assert solutions(pattern) == expected


def test_a_slice_of_no_select_is_printed_as_one():
    assert len(solutions(Slice(SOME_TRIPLES, 0, 1))) == 1


def test_a_subquery_stands_in_braces_next_to_others(pattern_of):
    pattern = pattern_of("SELECT ?a { ?a :p ?b }").pattern
    assert print_pattern(Project(pattern, (A,))) == (
        "{ SELECT ?a WHERE { ?a <http://example.org/p> ?b . } }"
    )
