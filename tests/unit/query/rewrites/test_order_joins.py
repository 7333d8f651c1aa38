import pytest

from bestbefore.query.rewrites import order_joins


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?a ?b ?c . ?a :p ?c . ?a :q 1", "?a :q 1 . ?a :p ?c . ?a ?b ?c"),
        ("?a :p ?b . ?c :p ?d . ?b :p ?c", "?a :p ?b . ?b :p ?c . ?c :p ?d"),
        ("?a :p _:x . ?c :p ?d . _:x :p ?c", "?a :p _:x . _:x :p ?c . ?c :p ?d"),
        ("{ ?a :p ?b } { ?c :p ?d } { ?b :p ?c }", "{ ?a :p ?b } { ?b :p ?c } { ?c :p ?d }"),
        ("?a :p* ?b VALUES ?a { 1 }", "VALUES ?a { 1 } ?a :p* ?b"),
        ("?a :p* ?b . :x :p* ?a", ":x :p* ?a . ?a :p* ?b"),
        (
            "SERVICE :s { ?a :p ?b } WINDOW :w { ?a :q ?c }",
            "WINDOW :w { ?a :q ?c } SERVICE :s { ?a :p ?b }",
        ),
        (
            "SERVICE :s { ?a :p ?b } { WINDOW :w { ?a :q ?c } OPTIONAL { SERVICE :t { } } }",
            "SERVICE :s { ?a :p ?b } { WINDOW :w { ?a :q ?c } OPTIONAL { SERVICE :t { } } }",
        ),
        (
            "WINDOW :w { ?a :p ?b } WINDOW :v { ?x :q 1 } SERVICE :s { ?b :p ?x }",
            "WINDOW :w { ?a :p ?b } SERVICE :s { ?b :p ?x } WINDOW :v { ?x :q 1 }",
        ),
        (
            "WINDOW :w { ?a :p ?b } WINDOW :v { ?b :q 1 } SERVICE :s { ?b :p ?x }",
            "WINDOW :w { ?a :p ?b } WINDOW :v { ?b :q 1 } SERVICE :s { ?b :p ?x }",
        ),
        (
            "WINDOW :w { ?a ?b ?c . ?a :p 1 } SERVICE :s { ?a ?b ?c . ?a :p 1 }",
            "WINDOW :w { ?a :p 1 . ?a ?b ?c } SERVICE :s { ?a ?b ?c . ?a :p 1 }",
        ),
    ],
)
def test_connected_and_bound_patterns_come_first(pattern_of, before, after):
    assert order_joins(pattern_of(before)) == pattern_of(after)


@pytest.mark.parametrize(
    "where",
    [
        "?a :p ?b . ?b :p ?c",
        "?a ?b ?c OPTIONAL { ?a :p 1 }",
        "WINDOW :v { ?a ?b ?c } WINDOW :w { ?a :q 1 }",
        "WINDOW :v { ?a ?b ?c } SERVICE :s { ?a ?d ?e } SERVICE :t { ?a :q 1 }",
    ],
)
def test_what_is_written_first_stays_first(pattern_of, where):
    assert order_joins(pattern_of(where)) == pattern_of(where)
