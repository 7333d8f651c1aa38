import pytest

from bestbefore.query import parse_sparql
from bestbefore.query.needed_triples import needed_triples

PREFIX = "PREFIX : <http://e/>\n"


def needed(where):
    _, pattern, _ = parse_sparql(f"{PREFIX}ASK {{ {where} }}")
    return [str(each).replace("http://e/", "") for each in needed_triples(pattern)]


@pytest.mark.parametrize(
    ("where", "shapes"),
    [
        (
            "?a :p ?b . ?b :q 5",
            ["_ <p> _", '_ <q> "5"^^<http://www.w3.org/2001/XMLSchema#integer>'],
        ),
        ("?a :p ?b OPTIONAL { ?c :p ?d } MINUS { :x :q ?a }", ["_ <p> _", "<x> <q> _"]),
        ("?a :p :x . ?a :p ?b", ["_ <p> _"]),
        ("?a ?p :x . ?a :p :x . :s :p :x", ["_ _ <x>"]),
        ("?a :p ?b . ?c ?d ?e", ["_ _ _"]),
        ("?a :p ?b FILTER NOT EXISTS { ?a :hidden ?c }", ["_ <p> _", "_ <hidden> _"]),
        ("{ SELECT ?a { ?a :p ?b FILTER EXISTS { ?b :q ?c } } }", ["_ <p> _", "_ <q> _"]),
        ("?a :p/^:q ?b . ?a (:r|:s)+ ?b", ["_ <p> _", "_ <q> _", "_ <r> _", "_ <s> _"]),
        ("?a :p* ?b", ["_ _ _"]),
        ("?a !:p ?b", ["_ _ _"]),
        ("BIND(1 AS ?a)", []),
    ],
)
def test_the_triples_that_a_pattern_can_look_at(where, shapes):
    assert sorted(needed(where)) == sorted(shapes)
