from bestbefore.query import rewrite
from bestbefore.query.rewrites import (
    REWRITES,
    merge_bgps,
    order_joins,
    push_filters,
    remove_identities,
)


def test_their_order():
    assert (remove_identities, merge_bgps, push_filters, order_joins) == REWRITES


def test_one_after_the_other(pattern_of):
    before = "SERVICE :s { ?a :p ?n } { } WINDOW :w { { ?a ?b ?c } { ?c :p ?d } } FILTER(?d > 1)"
    after = "WINDOW :w { { ?c :p ?d . ?a ?b ?c } FILTER(?d > 1) } SERVICE :s { ?a :p ?n }"
    assert rewrite(pattern_of(before)) == pattern_of(after)
    assert rewrite(pattern_of(after)) == pattern_of(after)
