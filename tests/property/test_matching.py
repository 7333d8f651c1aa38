"""The law of matching: rows of some keys are the rows of the whole pattern that have these keys."""

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestbefore.query.algebra import (
    BGP,
    Filter,
    Join,
    LeftJoin,
    Minus,
    TriplePattern,
    Union,
    Variable,
)
from bestbefore.query.expressions import Call, Compare, Constant, Exists, Not
from bestbefore.query.matching import match, substitute
from bestbefore.query.scope import certain_variables, visible_variables
from bestbefore.rdf.terms import decode, encode

from .patterns import with_labels_apart, without_clauses
from .test_query_rewrites import FIXED, STORES, node, number, patterns, predicate, solutions

# What a client is mostly asked for: triples, OPTIONAL, UNION, FILTER, over few variables.
name = st.sampled_from("xy").map(Variable)
triple = st.builds(TriplePattern, name, predicate, st.one_of(name, name, name, number))
bgp = st.lists(triple, min_size=1, max_size=2).map(lambda triples: BGP(tuple(triples)))
atom = st.one_of(
    st.builds(Compare, st.just("!="), name, name),
    st.builds(Compare, st.just(">"), name, number.map(Constant)),
    st.builds(Call, st.just("ISIRI"), st.tuples(name)),
    st.builds(Call, st.just("BOUND"), st.tuples(name)),
    st.builds(Exists, bgp, st.booleans()),
)


def combine(pattern):
    return st.one_of(
        st.builds(Join, pattern, pattern),
        st.builds(LeftJoin, pattern, pattern, st.none() | atom),
        st.builds(Union, pattern, pattern),
        st.builds(Minus, pattern, bgp),
        st.builds(Filter, atom | st.builds(Not, atom), pattern),
    )


plain = st.recursive(bgp, combine, max_leaves=3)
mostly_plain = st.one_of(plain, plain, plain, patterns())
value = node | number
others = {width: st.tuples(*[value] * width) for width in (1, 2)}


@st.composite
def asked(draw, *, always_bound):
    """A pattern, some of its variables, and keys."""
    pattern = without_clauses(with_labels_apart(draw(mostly_plain)))
    certain = certain_variables(pattern)
    names = [each for each in visible_variables(pattern) if each in certain or not always_bound]
    assume(names)
    key = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    found = {row for store in STORES for row in solutions(pattern, tuple(key), store)}
    known = [tuple(map(decode, row)) for row in sorted(found) if "None" not in row]
    other = others[len(key)]
    one = st.sampled_from(known) if known else other
    return pattern, tuple(key), [*draw(st.lists(one, min_size=1, max_size=3)), draw(other)]


def restricted(pattern, visible, key, keys, store):
    """The rows of the whole pattern that have these keys."""
    wanted = {tuple(map(encode, each)) for each in keys}
    places = [visible.index(each) for each in key]
    rows = solutions(pattern, visible, store).items()
    return Counter(
        {row: count for row, count in rows if tuple(row[place] for place in places) in wanted}
    )


@settings(FIXED, max_examples=400)
@given(asked(always_bound=True))
def test_the_rows_of_keys_are_the_rows_of_the_whole_that_have_them(question):
    pattern, key, keys = question
    visible = visible_variables(pattern)
    for store in STORES[:2]:
        expected = restricted(pattern, visible, key, keys, store)
        assert solutions(match(pattern, key, keys), visible, store) == expected


@settings(FIXED, max_examples=400)
@given(asked(always_bound=False))
def test_the_rows_of_one_key_are_the_same_without_values(question):
    pattern, key, (one, *_) = question
    visible = visible_variables(pattern)
    others = tuple(each for each in visible if each not in key)
    kept = [place for place, each in enumerate(visible) if each not in key]
    for store in STORES[:2]:
        expected = Counter()
        for row, count in restricted(pattern, visible, key, [one], store).items():
            expected[tuple(row[place] for place in kept)] += count
        asked_for = substitute(pattern, dict(zip(key, one, strict=True)))
        assert solutions(asked_for, others, store) == expected
