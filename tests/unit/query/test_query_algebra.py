import pytest

from bestbefore.query.algebra import (
    BGP,
    Filter,
    Join,
    Service,
    TriplePattern,
    Variable,
    Window,
    services_of,
    walk,
    windows_of,
)
from bestbefore.query.expressions import And, Call, Compare, Exists, In, Not, exists_patterns
from bestbefore.query.scope import (
    certain_variables,
    expression_variables,
    mentioned_variables,
    variables,
    visible_variables,
)
from bestbefore.rdf.terms import IRI, BlankNode

A, B, C, D = map(Variable, "abcd")
P = IRI("http://e/p")
LEFT = Window("w", BGP((TriplePattern(B, P, A),)))
RIGHT = Service("s", Filter(Compare("=", D, A), BGP((TriplePattern(A, C, BlankNode("n")),))))
WHOLE = Filter(Compare(">", C, D), Join(LEFT, RIGHT))


def test_variables_in_scope_come_from_patterns_in_order_of_first_appearance():
    assert variables(WHOLE) == (B, A, C)


def test_clauses_are_found_wherever_they_stand():
    nested = Service("outer", Join(WHOLE, Window("v", BGP(()))))
    assert windows_of(nested) == (LEFT, Window("v", BGP(())))
    assert services_of(nested) == (nested, RIGHT)


def test_walk_goes_from_the_outside_in_and_from_left_to_right():
    names = [type(node).__name__ for node in walk(WHOLE)]
    assert names == ["Filter", "Join", "Window", "BGP", "Service", "Filter", "BGP"]


def test_variables_of_an_expression():
    expression = And((Compare("=", C, A), Not(In(A, (B, C))), D))
    assert expression_variables(expression) == (C, A, B, D)


def test_equal_queries_are_equal_and_can_be_keys():
    again = Filter(Compare(">", C, D), Join(LEFT, RIGHT))
    assert {WHOLE: 1}[again] == 1


def spelled(several):
    return " ".join(each.name for each in several)


@pytest.mark.parametrize(
    ("where", "in_scope", "certain"),
    [
        ("?a :p ?b . ?b ?c ?a", "a b c", "a b c"),
        ("?a :p* ?b", "a b", "a b"),
        (":x !:p :y", "", ""),
        ("?a :p ?b OPTIONAL { ?b :p ?c FILTER(?d) }", "a b c", "a b"),
        ("{ ?a :p ?b } UNION { ?b :p ?c }", "a b c", "b"),
        ("?a :p ?b MINUS { ?b :p ?c }", "a b", "a b"),
        ("?a :p ?b BIND(?b + 1 AS ?c)", "a b c", "a b"),
        ("?a :p ?b BIND(1 AS ?c)", "a b c", "a b c"),
        ("VALUES (?b ?a) { (1 2) (UNDEF 3) }", "b a", "a"),
        ("GRAPH ?c { ?a :p ?b }", "c a b", "a b c"),
        ("GRAPH :g { ?a :p ?b }", "a b", "a b"),
        ("SERVICE ?c { ?a :p ?b }", "c a b", "a b c"),
        ("SERVICE SILENT :s { ?a :p ?b }", "a b", ""),
        ("WINDOW :w { ?a :p ?b FILTER(?c) }", "a b", "a b"),
        ("SELECT ?b ?c { ?a :p ?b }", "b c", "b"),
        ("SELECT DISTINCT ?b { ?a :p ?b } ORDER BY ?a LIMIT 1", "b", "b"),
        ("SELECT ?a (COUNT(*) AS ?n) (MAX(?b) AS ?m) { ?a :p ?b } GROUP BY ?a", "a n m", "a"),
    ],
)
def test_variables_in_scope_and_those_that_are_always_bound(pattern_of, where, in_scope, certain):
    pattern = pattern_of(where)
    assert spelled(variables(pattern)) == in_scope
    assert spelled(sorted(certain_variables(pattern), key=str)) == certain


def test_the_variables_of_a_group_are_its_keys_and_its_aggregates(pattern_of):
    pattern = pattern_of("SELECT ?a (COUNT(*) AS ?n) { ?a :p ?b } GROUP BY ?a (?b + 1)")
    group = pattern.pattern.pattern
    assert spelled(variables(group)) == "a .k2 .a1"
    assert spelled(visible_variables(group)) == "a"
    assert spelled(sorted(certain_variables(group), key=str)) == ".a1 a"


def test_what_a_pattern_mentions(pattern_of):
    where = """?a :p ?b MINUS { ?c :p ?d FILTER(?e) } { SELECT ?f { ?f :p ?g } }
               OPTIONAL { ?h :p ?i FILTER(EXISTS { ?j :p ?k FILTER(?l) }) } BIND(?m AS ?n)"""
    found = spelled(sorted(mentioned_variables(pattern_of(where)), key=str))
    assert found == "a b c d e f h i j k l m n"


def test_exists_in_expressions():
    inner = Filter(C, BGP((TriplePattern(A, P, B),)))
    expression = And((Not(Exists(inner)), Call("IF", (D, A, Exists(LEFT)))))
    assert exists_patterns(expression) == (inner, LEFT)
    assert expression_variables(expression) == (A, B, C, D)


def test_walk_also_finds_the_patterns_of_exists(pattern_of):
    where = "?a :p ?b FILTER EXISTS { WINDOW :w { ?a :q ?c } } OPTIONAL { SERVICE :s { } }"
    pattern = pattern_of(where)
    names = [type(node).__name__ for node in walk(pattern)]
    assert names == ["Filter", "LeftJoin", "BGP", "Service", "BGP", "Window", "BGP"]
    assert len(windows_of(pattern)) == len(services_of(pattern)) == 1
