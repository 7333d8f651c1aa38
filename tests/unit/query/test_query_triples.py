import pytest

from bestbefore.errors import QueryError
from bestbefore.query import parse_query
from bestbefore.query.algebra import (
    BGP,
    Construct,
    Distinct,
    Filter,
    Join,
    Project,
    Select,
    Service,
    TriplePattern,
    Variable,
    Window,
)
from bestbefore.query.expressions import And, Compare, Constant
from bestbefore.rdf.terms import IRI, RDF, RDF_LANG_STRING, RDF_TYPE, XSD, BlankNode, Literal

E = "http://example.org/"
A, B, C, D = map(Variable, "abcd")
P, Q = IRI(E + "p"), IRI(E + "q")


def triple(subject, predicate, object_):
    return TriplePattern(subject, predicate, object_)


def test_the_influencer_query(influencers):
    user, followers = Variable("user"), Variable("followers")
    query = parse_query(influencers)
    mentioned = triple(user, IRI(E + "isMentionedIn"), Variable("post"))
    followed = triple(user, IRI(E + "hasFollowers"), followers)
    assert query.form == Select((user, followers))
    where = Filter(
        Compare(">", followers, Constant(Literal("100000", XSD + "integer"))),
        Join(Window(E + "w", BGP((mentioned,))), Service(E + "bkg", BGP((followed,)))),
    )
    assert query.pattern == Project(where, (user, followers))


def test_construct_influential_users(influencers):
    text = influencers.replace("SELECT ?user ?followers", "CONSTRUCT { ?user a :InfluentialUser }")
    template = (triple(Variable("user"), IRI(RDF_TYPE), IRI(E + "InfluentialUser")),)
    assert parse_query(text).form == Construct(template)


@pytest.mark.parametrize(
    ("where", "pattern"),
    [
        ("", BGP(())),
        ("{ } { { } }", BGP(())),
        ("?a :p ?b . ?b :q ?c", BGP((triple(A, P, B), triple(B, Q, C)))),
        (
            "?a :p ?b FILTER(?a = ?b) ?b :q ?c",
            Filter(Compare("=", A, B), BGP((triple(A, P, B), triple(B, Q, C)))),
        ),
        (
            "FILTER(?a = ?b) ?a :p ?b . FILTER(?b = ?c)",
            Filter(And((Compare("=", A, B), Compare("=", B, C))), BGP((triple(A, P, B),))),
        ),
        (
            "?a :p ?b { ?b :q ?c } ?c :p ?d",
            Join(
                Join(BGP((triple(A, P, B),)), BGP((triple(B, Q, C),))),
                BGP((triple(C, P, D),)),
            ),
        ),
        (
            "{ ?a :p ?b FILTER(?a = ?b) } FILTER(?b = ?a)",
            Filter(Compare("=", B, A), Filter(Compare("=", A, B), BGP((triple(A, P, B),)))),
        ),
        (
            "{ { ?a :p ?b } }",
            BGP((triple(A, P, B),)),
        ),
        (
            "SERVICE SILENT <bkg> { WINDOW :w { ?a :p ?b } }",
            Service("bkg", Window(E + "w", BGP((triple(A, P, B),))), silent=True),
        ),
        (
            "window :w { ?a a ?b } service :s { }",
            Join(Window(E + "w", BGP((triple(A, IRI(RDF_TYPE), B),))), Service(E + "s", BGP(()))),
        ),
    ],
)
def test_groups(pattern_of, where, pattern):
    assert pattern_of(where) == pattern


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("<http://e/x>", IRI("http://e/x")),
        ("?x", Variable("x")),
        ("$x", Variable("x")),
        ("_:b", BlankNode("b")),
        ("()", IRI(RDF + "nil")),
        ("01", Literal("01", XSD + "integer")),
        ("-05", Literal("-05", XSD + "integer")),
        ("+5", Literal("+5", XSD + "integer")),
        ("1.50", Literal("1.50", XSD + "decimal")),
        ("-1.0E+06", Literal("-1.0E+06", XSD + "double")),
        ("TRUE", Literal("true", XSD + "boolean")),
        ("'x'", Literal("x")),
        ('"x"^^<http://www.w3.org/2001/XMLSchema#string>', Literal("x")),
        ('"01"^^<http://www.w3.org/2001/XMLSchema#integer>', Literal("01", XSD + "integer")),
        ("'x'^^:type", Literal("x", E + "type")),
        ("'x'@en-GB", Literal("x", RDF_LANG_STRING, "en-gb")),
        ("'x' @en", Literal("x", RDF_LANG_STRING, "en")),
        (r"'\u0041\\u0041\'' ", Literal("A\\u0041'")),
        ("'''a\n'b''' ", Literal("a\n'b")),
    ],
)
def test_terms_stay_as_they_are_written(pattern_of, written, term):
    assert pattern_of(f"?a :p {written}") == BGP((triple(A, P, term),))


def test_lists_of_predicates_and_objects(pattern_of):
    pattern = pattern_of("?a :p ?b, ?c ; :q ?d ; .")
    assert pattern == BGP((triple(A, P, B), triple(A, P, C), triple(A, Q, D)))


def test_blank_node_property_lists(pattern_of):
    one, two = BlankNode("anon1"), BlankNode("anon2")
    pattern = pattern_of("?a :p [ :q ?b ], ?c . [ :p ?d ] :q ?a")
    assert set(pattern.patterns) == {
        *(triple(A, P, one), triple(one, Q, B), triple(A, P, C)),
        *(triple(two, P, D), triple(two, Q, A)),
    }


def test_collections(pattern_of):
    one, two = BlankNode("anon1"), BlankNode("anon2")
    first, rest, nil = (IRI(RDF + name) for name in ("first", "rest", "nil"))
    pattern = pattern_of("?a :p (?b 5)")
    assert set(pattern.patterns) == {
        *(triple(A, P, one), triple(one, first, B), triple(one, rest, two)),
        *(triple(two, first, Literal("5", XSD + "integer")), triple(two, rest, nil)),
    }


def test_a_blank_node_without_label_gets_one_that_is_not_taken(pattern_of):
    pattern = pattern_of("_:anon1 :p []")
    assert pattern.patterns[0].object not in (BlankNode("anon1"), pattern.patterns[0].subject)


def test_a_blank_node_cannot_join_two_groups(registered):
    where = "WINDOW :w { ?a :p _:b } SERVICE :s { _:b :q ?c }"
    with pytest.raises(QueryError, match="_:b stands in two groups; use a variable") as caught:
        parse_query(registered(where))
    assert (caught.value.line, caught.value.column) == (5, 46)


def test_select_star_takes_the_variables_in_scope_in_order(registered):
    where = "SERVICE :s { ?c :p [ :q ?a ] FILTER(?d > 1) } WINDOW :w { ?a ?b ?c }"
    assert parse_query(registered(where)).form == Select((C, A, B))


def test_select_distinct_names_each_variable_once(registered):
    query = parse_query(registered("?a :p ?b", "SELECT DISTINCT ?b $a ?b"))
    assert query.form == Select((B, A))
    assert query.pattern == Distinct(Project(BGP((triple(A, P, B),)), (B, A)))


def test_an_empty_template(registered):
    assert parse_query(registered("?a :p ?b", "CONSTRUCT { }")).form == Construct(())


def test_a_template_with_lists(registered):
    form = parse_query(registered("?a :p ?b", "CONSTRUCT { ?a :p ?b, _:x ; a [] }")).form
    assert form == Construct(
        (
            triple(A, P, B),
            triple(A, P, BlankNode("x")),
            triple(A, IRI(RDF_TYPE), BlankNode("anon1")),
        )
    )
