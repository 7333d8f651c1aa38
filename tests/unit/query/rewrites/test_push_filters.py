import pytest

from bestbefore.query.rewrites import push_filters


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{ ?a :p ?b } VALUES ?c { 1 } FILTER(?a != ?b)",
            "{ ?a :p ?b FILTER(?a != ?b) } VALUES ?c { 1 }",
        ),
        (
            "VALUES ?c { 1 } { ?a :p ?b } FILTER(?a != ?b)",
            "VALUES ?c { 1 } { ?a :p ?b FILTER(?a != ?b) }",
        ),
        (
            "WINDOW :w { ?a :p ?b } SERVICE :s { ?a :q ?c } FILTER(?b > 1 && ?c > 2)",
            "WINDOW :w { ?a :p ?b FILTER(?b > 1) } SERVICE :s { ?a :q ?c } FILTER(?c > 2)",
        ),
        (
            "WINDOW :w { ?a :p ?b } SERVICE :s { ?a :q ?c } FILTER(?a > 1)",
            "WINDOW :w { ?a :p ?b FILTER(?a > 1) } SERVICE :s { ?a :q ?c }",
        ),
        (
            "?a :p ?b OPTIONAL { ?b :p ?c } FILTER(?b > 1)",
            "{ ?a :p ?b FILTER(?b > 1) } OPTIONAL { ?b :p ?c }",
        ),
        (
            "?a :p ?b MINUS { ?b :p ?c } FILTER(?b > 1)",
            "{ ?a :p ?b FILTER(?b > 1) } MINUS { ?b :p ?c }",
        ),
        (
            "{ ?a :p ?b } UNION { ?b :p ?a } FILTER(?b > 1)",
            "{ ?a :p ?b FILTER(?b > 1) } UNION { ?b :p ?a FILTER(?b > 1) }",
        ),
        (
            "?a :p ?b BIND(?b + 1 AS ?c) FILTER(?b > 1 && ?c > 1)",
            "{ ?a :p ?b FILTER(?b > 1) } BIND(?b + 1 AS ?c) FILTER(?c > 1)",
        ),
        ("GRAPH ?g { ?a :p ?b } FILTER(?b > 1)", "GRAPH ?g { ?a :p ?b FILTER(?b > 1) }"),
        (
            "{ SELECT DISTINCT ?a { ?a :p ?b } ORDER BY ?b } FILTER(?a > 1)",
            "{ SELECT DISTINCT ?a { ?a :p ?b FILTER(?a > 1) } ORDER BY ?b }",
        ),
        (
            "{ SELECT ?a (COUNT(*) AS ?n) { ?a :p ?b } GROUP BY ?a } FILTER(?a > 1 && ?n > 1)",
            "{ SELECT ?a (COUNT(*) AS ?n) { ?a :p ?b FILTER(?a > 1) } GROUP BY ?a } FILTER(?n > 1)",
        ),
        (
            "{ ?a :p ?b FILTER(?b != 1) } VALUES ?c { 1 } FILTER(?b > 1)",
            "{ ?a :p ?b FILTER(?b != 1 && ?b > 1) } VALUES ?c { 1 }",
        ),
        (
            "{ ?a :p ?b . ?a :q* ?c } VALUES ?d { 1 } FILTER(?b > 1) FILTER EXISTS { ?a ?b ?c }",
            "{ { ?a :p ?b FILTER(?b > 1) } ?a :q* ?c } VALUES ?d { 1 } FILTER EXISTS { ?a ?b ?c }",
        ),
    ],
)
def test_a_filter_goes_where_its_variables_are_bound(pattern_of, before, after):
    assert push_filters(pattern_of(before)) == pattern_of(after)


@pytest.mark.parametrize(
    "where",
    [
        "SERVICE :s { ?a :p ?b } FILTER(?b > 1)",
        "WINDOW :w { ?a :p ?b } SERVICE :s { ?b :p ?c } FILTER(?c > 1)",
        "SERVICE :s { { ?a :p ?b } { ?b :p ?c } FILTER(?a > 1) }",
        "?a :p ?b OPTIONAL { ?b :p ?c } FILTER(?c > 1)",
        "?a :p ?b OPTIONAL { ?b :p ?c } FILTER(!BOUND(?c))",
        "?a :p ?b OPTIONAL { { ?b :p ?c } { ?c :p ?d } FILTER(?c > 1) }",
        "{ ?a :p ?b OPTIONAL { ?b :p ?c } } { ?a :p ?c } FILTER(!BOUND(?c) || ?c > 1 && ?b > 1)",
        "{ VALUES ?a { UNDEF } } { SELECT ?a { { ?a :p ?b } UNION { } } } FILTER(?a > 1)",
        "{ ?a :p ?b } UNION { ?a :p ?c } FILTER(?b > 1)",
        "GRAPH ?g { ?a :p ?b } FILTER(?g = ?a)",
        "BIND(1 AS ?c) FILTER(?c > 1)",
        "{ SELECT ?a { ?a :p ?b } LIMIT 1 } FILTER(?a > 1)",
        "{ SELECT ?a { ?a :p ?b } } FILTER(?b > 1)",
        "{ SELECT (COUNT(*) AS ?n) { ?a :p ?b } } FILTER(?n > 1)",
        "{ ?a :p ?b } { ?b :p ?c } FILTER(?b > RAND())",
        "{ ?a :p ?b } { ?b :p ?c } FILTER EXISTS { ?a :q ?b }",
        "{ ?a :p ?b } { ?b :p ?c } FILTER(?a > ?c)",
        "{ ?a :p ?b } { ?b :p ?c } FILTER(1 > 2)",
        "?a :p ?b FILTER EXISTS { { ?a :p ?b } { ?b :p ?c } FILTER(?a > 1) }",
    ],
)
def test_a_filter_that_cannot_move_stays(pattern_of, where):
    assert push_filters(pattern_of(where)) == pattern_of(where)
