import pytest

from bestbefore.query.algebra import BGP, Join, TriplePattern, Variable
from bestbefore.query.rewrites import merge_bgps
from bestbefore.rdf.terms import IRI, BlankNode


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?a :p ?b { ?b :p ?c }", "?a :p ?b . ?b :p ?c"),
        ("{ ?a :p ?b } { ?b :p ?c } { ?c :p ?d }", "?a :p ?b . ?b :p ?c . ?c :p ?d"),
        (
            "VALUES ?a { 1 } { { ?a :p ?b } { { ?b :p ?c } ?c :p* ?d } }",
            "VALUES ?a { 1 } ?a :p ?b . ?b :p ?c . ?c :p* ?d",
        ),
        (
            "OPTIONAL { ?a :p ?b { ?b :p ?c } } FILTER(?a = ?b)",
            "OPTIONAL { ?a :p ?b . ?b :p ?c } FILTER(?a = ?b)",
        ),
        ("WINDOW :w { ?a :p ?b { ?b :p ?c } }", "WINDOW :w { ?a :p ?b . ?b :p ?c }"),
    ],
)
def test_neighbours_become_one(pattern_of, before, after):
    assert merge_bgps(pattern_of(before)) == pattern_of(after)


@pytest.mark.parametrize(
    "where",
    [
        "?a :p ?b OPTIONAL { ?b :p ?c } ?c :p ?d",
        "?a :p ?b WINDOW :w { ?b :p ?c }",
        "{ ?a :p ?b } UNION { ?b :p ?c }",
        "SERVICE :s { ?a :p ?b { ?b :p ?c } }",
        "?a :p ?b FILTER EXISTS { ?a :p ?b { ?b :p ?c } }",
    ],
)
def test_others_stay_apart(pattern_of, where):
    assert merge_bgps(pattern_of(where)) == pattern_of(where)


def test_blank_nodes_of_the_same_name_stay_apart():
    triple = TriplePattern(Variable("a"), IRI("http://e/p"), BlankNode("x"))
    pattern = Join(BGP((triple,)), BGP((triple,)))
    assert merge_bgps(pattern) == pattern
