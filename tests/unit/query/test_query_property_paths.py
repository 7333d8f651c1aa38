"""Property paths: section 18.2.2.4 of SPARQL 1.1."""

import pytest

from bestbefore.query import parse_query
from bestbefore.query.algebra import BGP, Join, PathPattern, Select, TriplePattern, Union, Variable
from bestbefore.query.expression_printing import print_path
from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.query.scope import visible_variables
from bestbefore.rdf.terms import IRI, RDF_TYPE, BlankNode

E = "http://example.org/"
A, B = map(Variable, "ab")
P, Q, R = (IRI(E + name) for name in "pqr")
LP, LQ = Link(P), Link(Q)
FIRST, SECOND = Variable(".p1"), Variable(".p2")


def bgp(*triples):
    return BGP(tuple(TriplePattern(*each) for each in triples))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (":p", bgp((A, P, B))),
        ("^:p", bgp((B, P, A))),
        ("(:p)", bgp((A, P, B))),
        (":p/:q", bgp((A, P, FIRST), (FIRST, Q, B))),
        ("^(:p/:q)", bgp((B, P, FIRST), (FIRST, Q, A))),
        (":p/^:q/a", bgp((A, P, SECOND), (FIRST, Q, SECOND), (FIRST, IRI(RDF_TYPE), B))),
        (":p|:q", Union(bgp((A, P, B)), bgp((A, Q, B)))),
        (":p|:q|^:r", Union(Union(bgp((A, P, B)), bgp((A, Q, B))), bgp((B, R, A)))),
        (":p*", PathPattern(A, ZeroOrMore(LP), B)),
        (":p +", PathPattern(A, OneOrMore(LP), B)),
        (":p?", PathPattern(A, ZeroOrOne(LP), B)),
        ("^:p*", PathPattern(B, ZeroOrMore(LP), A)),
        ("(^:p)*", PathPattern(A, ZeroOrMore(Inverse(LP)), B)),
        ("(:p/:q|^:p)+", PathPattern(A, OneOrMore(Alternative(Sequence(LP, LQ), Inverse(LP))), B)),
        ("!:p", PathPattern(A, NegatedSet((P,), ()), B)),
        ("!^:p", PathPattern(A, NegatedSet((), (P,)), B)),
        ("!(:p|^:q|a)", PathPattern(A, NegatedSet((P, IRI(RDF_TYPE)), (Q,)), B)),
        ("!()", PathPattern(A, NegatedSet((), ()), B)),
        (
            ":p/:q*",
            Join(bgp((A, P, FIRST)), PathPattern(FIRST, ZeroOrMore(LQ), B)),
        ),
        (
            "(:p|:q)/:r",
            Join(
                Union(bgp((A, P, FIRST)), bgp((A, Q, FIRST))),
                bgp((FIRST, R, B)),
            ),
        ),
    ],
)
def test_paths(pattern_of, path, pattern):
    assert pattern_of(f"?a {path} ?b") == pattern


def test_triples_around_a_path_stay_together_as_far_as_they_touch(pattern_of):
    closure = PathPattern(A, ZeroOrMore(LP), B)
    assert pattern_of("?a :p ?b ; :p/:q ?b ; :p* ?b . ?b :r ?a") == Join(
        Join(bgp((A, P, B), (A, P, FIRST), (FIRST, Q, B)), closure), bgp((B, R, A))
    )


def test_a_blank_node_that_joins_a_path_with_triples_is_a_hidden_variable(pattern_of):
    shared = Variable(".b1")
    pattern = pattern_of("?a :p _:x . _:x :q* ?b . [] :r _:y")
    assert pattern == Join(
        Join(bgp((A, P, shared)), PathPattern(shared, ZeroOrMore(LQ), B)),
        bgp((BlankNode("anon1"), R, BlankNode("y"))),
    )


def test_what_a_path_passes_through_is_not_visible(registered):
    query = parse_query(registered("?a :p/:q*/:r ?b . ?b !:p [ :q+ ?c ]"))
    assert query.form == Select((A, B, Variable("c")))
    assert visible_variables(query.pattern.pattern) == (A, B, Variable("c"))


def test_hidden_variables_are_never_taken_twice(pattern_of):
    pattern = pattern_of("?a :p/:q ?b . ?_·p1 :r ?b")
    assert pattern == bgp((A, P, SECOND), (SECOND, Q, B), (FIRST, R, B))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (Sequence(Alternative(LP, LQ), LP), "(<p>|<q>)/<p>"),
        (Alternative(Sequence(LP, LQ), LP), "<p>/<q>|<p>"),
        (Alternative(LP, Alternative(LQ, LP)), "<p>|(<q>|<p>)"),
        (Sequence(Sequence(LP, LQ), LP), "<p>/<q>/<p>"),
        (Inverse(ZeroOrMore(LP)), "^<p>*"),
        (ZeroOrMore(Inverse(LP)), "(^<p>)*"),
        (OneOrMore(ZeroOrOne(LP)), "(<p>?)+"),
        (NegatedSet((P,), (Q,)), "!(<p>|^<q>)"),
    ],
)
def test_parentheses_stand_where_the_meaning_needs_them(path, text):
    assert print_path(path).replace(E, "") == text
