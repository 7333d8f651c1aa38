"""The law of rewriting: a pattern has the same solutions before and after, for another engine."""

import random
from collections import Counter
from itertools import product

import pyoxigraph as ox
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.query import (
    BGP,
    DatasetClause,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    OrderCondition,
    PathPattern,
    Project,
    Select,
    Service,
    TriplePattern,
    Union,
    Values,
    Variable,
    Window,
    print_sparql,
    rewrite,
    variables,
    visible_variables,
)
from bestbefore.query.algebra import children
from bestbefore.query.expressions import Aggregate, And, Call, Compare, Constant, Exists, Not, Or
from bestbefore.query.paths import Inverse, Link, OneOrMore, ZeroOrMore
from bestbefore.query.rewrites import REWRITES
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal

from .patterns import EMPTY, with_labels_apart, without_clauses

FIXED = settings(max_examples=1500, deadline=None, derandomize=True)
E = "http://e/"
GRAPHS = (f"{E}g", f"{E}h")
TRIPLES = 12
NEW = Variable("new"), Variable("newer"), Variable("newest")

variable = st.sampled_from("xyz").map(Variable)
node = st.sampled_from("ab").map(lambda name: IRI(E + name))
predicate = st.sampled_from("pq").map(lambda name: IRI(E + name))
number = st.sampled_from("12").map(lambda text: Literal(text, XSD + "integer"))
blank = st.sampled_from("m").map(BlankNode)
# Mostly variables, so that most patterns have solutions on a small graph.
subject = st.one_of(variable, variable, variable, variable, node, blank)
triple = st.builds(
    TriplePattern, subject, st.one_of(predicate, predicate, variable), subject | number
)
bgp = st.lists(triple, min_size=1, max_size=2).map(lambda triples: BGP(tuple(triples)))
link = predicate.map(Link)
path = st.builds(ZeroOrMore, link) | st.builds(OneOrMore, link | st.builds(Inverse, link))
path_pattern = st.builds(PathPattern, variable, path, variable | node)


@st.composite
def values(draw):
    names = draw(st.lists(variable, min_size=1, max_size=2, unique=True))
    row = st.tuples(*(st.none() | node | number for _ in names))
    return Values(tuple(names), tuple(draw(st.lists(row, min_size=1, max_size=2))))


atom = st.one_of(
    st.builds(Compare, st.sampled_from(["!=", "="]), variable, variable),
    st.builds(Compare, st.sampled_from(["!=", "="]), variable, node.map(Constant)),
    st.builds(Compare, st.sampled_from(["!=", ">"]), variable, number.map(Constant)),
    st.builds(Call, st.just("BOUND"), st.tuples(variable)),
    st.builds(Call, st.just("ISIRI"), st.tuples(variable)),
    st.builds(Compare, st.just("="), st.sampled_from(NEW), number.map(Constant)),
)
simple = atom | st.builds(Not, atom) | st.builds(lambda a, b: Or((a, b)), atom, atom)
condition = simple | st.builds(lambda a, b: And((a, b)), simple, simple)


@st.composite
def extended(draw, pattern):
    inner = draw(pattern)
    free = [each for each in NEW if each not in variables(inner)]
    value = st.one_of(variable, number.map(Constant), atom)
    return Extend(inner, free[0], draw(value)) if free else inner


@st.composite
def projected(draw, pattern):
    inner = draw(pattern)
    names = tuple(draw(st.lists(variable, min_size=1, max_size=2, unique=True)))
    if draw(st.booleans()):
        inner = OrderBy(inner, (OrderCondition(draw(variable)),))
    result = Project(inner, names)
    return Distinct(result) if draw(st.booleans()) else result


@st.composite
def grouped(draw, pattern):
    keys = tuple(draw(st.lists(variable, max_size=2, unique=True)))
    total = Variable(".a1")
    count = Aggregate("COUNT", draw(st.none() | variable), draw(st.booleans()))
    result = Group(draw(pattern), keys, ((total, count),))
    if draw(st.booleans()):
        result = Filter(draw(condition), result)
    return Project(Extend(result, NEW[0], total), (*keys, NEW[0]))


def operators(pattern):
    perhaps = pattern | st.just(EMPTY)
    named = st.sampled_from(GRAPHS)
    return st.one_of(
        st.builds(Join, pattern, pattern),
        st.builds(Join, perhaps, pattern),
        st.builds(Join, pattern, pattern),
        st.builds(LeftJoin, pattern, pattern, st.none() | condition),
        st.builds(LeftJoin, perhaps, perhaps),
        st.builds(Union, pattern, pattern),
        st.builds(Minus, pattern, perhaps),
        extended(pattern),
        projected(pattern),
        grouped(pattern),
        # Oxigraph binds the name of a graph inside of it: there OPTIONAL and MINUS would see it.
        st.builds(Graph, variable, bgp),
        st.builds(Graph, named.map(IRI), pattern),
        st.builds(Window, named, pattern),
        st.builds(Service, named, pattern),
    )


def filtered(pattern):
    tested = st.builds(Exists, bgp, st.booleans())
    mixed = st.builds(lambda a, b: And((a, b)), tested, simple)
    return st.builds(Filter, st.one_of(condition, condition, condition, tested, mixed), pattern)


def most_solutions(pattern):  # noqa: PLR0911 - one case per node
    """An upper bound of the number of solutions on a store below."""
    below = [most_solutions(each) for each in children(pattern)]
    match pattern:
        case BGP(triples):
            return TRIPLES ** len(triples)
        case PathPattern():
            return TRIPLES * 2
        case Values(_, rows):
            return len(rows)
        case Join() | LeftJoin():
            return max(below[0], 1) * max(below[1], 1)
        case Union():
            return sum(below)
        case Graph(Variable(), _):
            return len(GRAPHS) * below[0]
    return below[0]


# Three levels, mostly with a FILTER on top: that is where a rewrite can go wrong.
leaf = st.deferred(lambda: st.one_of(bgp, bgp, bgp, path_pattern, values()))
small = st.deferred(lambda: st.one_of(leaf, leaf, operators(leaf), filtered(operators(leaf))))
large = st.deferred(lambda: operators(small))
# What may be unbound on one side of a join and bound on the other is where it goes wrong first.
unsure = st.one_of(st.builds(LeftJoin, bgp, bgp), st.builds(Union, bgp, bgp), values())
delicate = st.deferred(
    lambda: st.one_of(
        st.builds(Join, unsure, bgp),
        st.builds(Join, bgp, unsure),
        st.builds(LeftJoin, unsure, bgp),
        extended(bgp),
    )
)
pattern = st.deferred(
    lambda: st.one_of(large, filtered(large), filtered(large), filtered(delicate))
).filter(lambda each: most_solutions(each) < 10**4)


def dense_store(seed):
    """A store with so many of few triples that most patterns have solutions."""
    chance, store = random.Random(seed), ox.Store()
    terms = [ox.NamedNode(E + name) for name in "abc"]
    links = [ox.NamedNode(E + name) for name in "pq"]
    values = [*terms, ox.Literal(1), ox.Literal(2)]
    for graph in (ox.DefaultGraph(), *map(ox.NamedNode, GRAPHS)):
        for triple in chance.sample(list(product(terms, links, values)), TRIPLES):
            store.add(ox.Quad(*triple, graph))
    return store


STORES = [dense_store(seed) for seed in range(3)]


def solutions(pattern, names, store):
    local = Project(without_clauses(pattern), names)
    found = store.query(print_sparql(Select(names), local, DatasetClause()))
    return Counter(tuple(str(row[each.name]) for each in names) for row in found)


@FIXED
@given(pattern.map(with_labels_apart))
def test_rewriting_keeps_the_solutions(pattern):
    names = visible_variables(pattern)
    expected = [solutions(pattern, names, store) for store in STORES]
    for change in (*REWRITES, rewrite):
        changed = change(pattern)
        if changed != pattern:
            assert [solutions(changed, names, store) for store in STORES] == expected
