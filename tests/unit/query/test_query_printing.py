import pyoxigraph
import pytest

from bestbefore.errors import InputError
from bestbefore.query import (
    BGP,
    Filter,
    Join,
    Service,
    TriplePattern,
    Variable,
    describe_algebra,
    parse_query,
    print_expression,
    print_pattern,
    print_query,
)
from bestbefore.query.expressions import And, Arithmetic, Compare, Constant, Negate, Not, Or
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
        "Filter ?followers > 100000",
        "  Join",
        "    Window <http://example.org/w>",
        "      BGP",
        "        ?user <http://example.org/isMentionedIn> ?post",
        "    Service <http://example.org/bkg>",
        "      BGP",
        "        ?user <http://example.org/hasFollowers> ?followers",
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
