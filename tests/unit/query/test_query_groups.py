"""Groups: section 18.2.2 of SPARQL 1.1."""

import pyoxigraph
import pytest

from bestbefore.errors import QueryError
from bestbefore.query.algebra import (
    BGP,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Project,
    Service,
    TriplePattern,
    Union,
    Values,
    Variable,
)
from bestbefore.query.expressions import And, Compare, Constant, Exists, Not
from bestbefore.query.printing import print_pattern
from bestbefore.rdf.terms import IRI, XSD, Literal

E = "http://example.org/"
A, B, C = map(Variable, "abc")
P, Q = IRI(E + "p"), IRI(E + "q")
ONE, TWO = (Literal(text, XSD + "integer") for text in "12")
AB, BC = BGP((TriplePattern(A, P, B),)), BGP((TriplePattern(B, Q, C),))
EMPTY = BGP(())
SAME, OTHER = Compare("=", A, B), Compare("!=", A, C)


@pytest.mark.parametrize(
    ("where", "pattern"),
    [
        ("?a :p ?b OPTIONAL { ?b :q ?c }", LeftJoin(AB, BC)),
        ("OPTIONAL { ?b :q ?c }", LeftJoin(EMPTY, BC)),
        ("?a :p ?b OPTIONAL { ?b :q ?c FILTER(?a != ?c) }", LeftJoin(AB, BC, OTHER)),
        (
            "?a :p ?b OPTIONAL { FILTER(?a = ?b) ?b :q ?c FILTER(?a != ?c) }",
            LeftJoin(AB, BC, And((SAME, OTHER))),
        ),
        (
            "?a :p ?b OPTIONAL { { ?b :q ?c FILTER(?a != ?c) } }",
            LeftJoin(AB, Filter(OTHER, BC)),
        ),
        (
            "?a :p ?b OPTIONAL { SELECT ?c { ?b :q ?c } }",
            LeftJoin(AB, Project(BC, (C,))),
        ),
        ("OPTIONAL { ?b :q ?c } ?a :p ?b", Join(LeftJoin(EMPTY, BC), AB)),
        ("{ ?a :p ?b } UNION { ?b :q ?c }", Union(AB, BC)),
        ("{ ?a :p ?b } UNION { } UNION { ?b :q ?c }", Union(Union(AB, EMPTY), BC)),
        ("{ ?a :p ?b } UNION { { } UNION { ?b :q ?c } }", Union(AB, Union(EMPTY, BC))),
        ("?a :p ?b MINUS { ?b :q ?c FILTER(?a != ?c) }", Minus(AB, Filter(OTHER, BC))),
        ("?a :p ?b BIND(?a = ?b AS ?c)", Extend(AB, C, SAME)),
        ("BIND(1 AS ?a) ?b :q ?c", Join(Extend(EMPTY, A, Constant(ONE)), BC)),
        (
            "?a :p ?b BIND(?a = ?b AS ?x) FILTER(?a = ?b) ?b :q ?c",
            Filter(SAME, Join(Extend(AB, Variable("x"), SAME), BC)),
        ),
        ("VALUES ?a { 1 :p UNDEF }", Values((A,), ((ONE,), (P,), (None,)))),
        (
            "?a :p ?b VALUES (?a ?b) { (1 2) (UNDEF -1) }",
            Join(AB, Values((A, B), ((ONE, TWO), (None, Literal("-1", XSD + "integer"))))),
        ),
        ("VALUES () { () () }", Values((), ((), ()))),
        ("VALUES (?a) { }", Values((A,), ())),
        ("GRAPH :p { ?a :p ?b }", Graph(P, AB)),
        ("GRAPH ?c { ?a :p ?b }", Graph(C, AB)),
        ("SERVICE ?c { ?a :p ?b }", Service(C, AB)),
        ("SERVICE SILENT ?c { ?a :p ?b }", Service(C, AB, silent=True)),
        ("{ SELECT ?a { ?a :p ?b } } ?b :q ?c", Join(Project(AB, (A,)), BC)),
        ("SELECT ?a { ?a :p ?b }", Project(AB, (A,))),
        ("?a :p ?b FILTER EXISTS { ?b :q ?c }", Filter(Exists(BC), AB)),
        ("?a :p ?b FILTER(NOT EXISTS { ?b :q ?c })", Filter(Exists(BC, negated=True), AB)),
        ("?a :p ?b FILTER(!EXISTS { ?b :q ?c })", Filter(Not(Exists(BC)), AB)),
    ],
)
def test_groups(pattern_of, where, pattern):
    assert pattern_of(where) == pattern


@pytest.mark.parametrize(
    ("where", "column", "message"),
    [
        ("?a :p ?b BIND(1 AS ?b)", 28, "BIND cannot set ?b, which the group before it uses"),
        ("{ ?a :p ?b } BIND(1 AS ?b)", 32, "BIND cannot set ?b"),
        ("{ ?a :p ?b } UNION { ?b :q ?c } BIND(1 AS ?c)", 51, "BIND cannot set ?c"),
        ("GRAPH ?g { ?a :p ?b } BIND(1 AS ?g)", 41, "BIND cannot set ?g"),
        ("VALUES (?a ?b) { (1 2) (1) }", 9, "row 2 of VALUES has 1 values for 2 variables"),
        ("VALUES (?a ?a) { }", 9, "?a stands twice in the list of VALUES"),
        ("FILTER(?a = 1 && COUNT(?b) > 1)", 26, "COUNT cannot stand in FILTER; aggregates"),
        ("BIND(SUM(?b) AS ?c)", 14, "SUM cannot stand in BIND"),
        ("?a :p _:x . { _:x :p ?b }", 23, "the blank node _:x stands in two groups"),
        ("?a :p _:x OPTIONAL { } _:x :p ?b", 32, "the blank node _:x stands in two groups"),
        ("?a :p _:x FILTER EXISTS { _:x :p ?b }", 35, "the blank node _:x stands in two"),
        ("?a !(^^:p) ?b", 14, "'^^' does not fit here"),
    ],
)
def test_what_sparql_forbids_is_refused_with_its_place(pattern_of, where, column, message):
    with pytest.raises(QueryError) as caught:
        pattern_of(where)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (5, column)


SOME_TRIPLES = """PREFIX : <http://example.org/> INSERT DATA {
    :x :p :y . :y :p :z . :z :p :x . :z :q :x . :y :q :y }"""


def solutions(where):
    """What another engine finds for a pattern among some triples."""
    store = pyoxigraph.Store()
    store.update(SOME_TRIPLES)
    found = store.query(f"PREFIX : <http://example.org/> SELECT * {{ {where} }}")
    names = sorted(variable.value for variable in found.variables)
    return sorted([(name, str(row[name])) for name in names] for row in found)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("?a :p ?b MINUS { ?b :q ?c } BIND(1 AS ?c)", 1),
        ("{ BIND(1 AS ?a) } UNION { BIND(2 AS ?a) }", 2),
        ("{ SELECT ?a { ?a :p ?b } } BIND(1 AS ?b)", 3),
        ("?a :p _:x FILTER(?a = :x) _:x :p ?b", 1),
    ],
)
def test_what_sparql_allows_is_read_as_it_is_meant(pattern_of, where, count):
    expected = solutions(where)
    assert len(expected) == count
    assert solutions(print_pattern(pattern_of(where))) == expected
