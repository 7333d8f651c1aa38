from bestbefore.query import (
    BGP,
    Filter,
    Join,
    Service,
    TriplePattern,
    Variable,
    Window,
    services_of,
    variables,
    walk,
    windows_of,
)
from bestbefore.query.expressions import And, Compare, In, Not, expression_variables
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
