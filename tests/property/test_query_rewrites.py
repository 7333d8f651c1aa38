"""The law of rewriting: a pattern has the same solutions before and after, for another engine."""

import random
from collections import Counter
from itertools import product

import pyoxigraph as ox
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestbefore.query import DatasetClause, print_sparql, rewrite
from bestbefore.query.algebra import (
    BGP,
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
    children,
)
from bestbefore.query.expressions import Aggregate, And, Call, Compare, Constant, Exists, Not, Or
from bestbefore.query.needed_triples import needed_triples
from bestbefore.query.paths import Inverse, Link, OneOrMore, ZeroOrMore
from bestbefore.query.rewrites import REWRITES
from bestbefore.query.scope import variables, visible_variables
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, to_sparql

from .patterns import EMPTY, with_labels_apart, without_clauses

FIXED = settings(max_examples=600, deadline=None, derandomize=True)
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


names = st.lists(variable, min_size=1, max_size=2, unique=True).map(tuple)
cell = st.none() | node | number
rows = {width: st.lists(st.tuples(*[cell] * width), min_size=1, max_size=2) for width in (1, 2)}


@st.composite
def values(draw):
    these = draw(names)
    return Values(these, tuple(draw(rows[len(these)])))


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


leaf = st.one_of(bgp, bgp, bgp, path_pattern, values())
graph = st.sampled_from(GRAPHS)
value = st.one_of(variable, number.map(Constant), atom)
perhaps_names, perhaps_variable = names | st.just(()), st.none() | variable
perhaps_condition, perhaps_bgp = st.none() | condition, st.just(EMPTY) | bgp
tested = st.builds(Exists, bgp, st.booleans())
mixed = st.builds(lambda a, b: And((a, b)), tested, simple)
filters = st.one_of(condition, condition, condition, tested, mixed)


def extended(draw, below):
    inner = below()
    free = [each for each in NEW if each not in variables(inner)]
    return Extend(inner, free[0], draw(value)) if free else inner


def projected(draw, below):
    inner = below()
    if draw(st.booleans()):
        inner = OrderBy(inner, (OrderCondition(draw(variable)),))
    result = Project(inner, draw(names))
    return Distinct(result) if draw(st.booleans()) else result


def grouped(draw, below):
    keys, total = draw(perhaps_names), Variable(".a1")
    count = Aggregate("COUNT", draw(perhaps_variable), draw(st.booleans()))
    result = Group(below(), keys, ((total, count),))
    if draw(st.booleans()):
        result = Filter(draw(condition), result)
    return Project(Extend(result, NEW[0], total), (*keys, NEW[0]))


def filtered(draw, below):
    return Filter(draw(filters), below())


OPERATORS = (
    lambda draw, below: Join(below(), below()),
    lambda draw, below: Join(below(), below()),
    lambda draw, below: Join(draw(perhaps_bgp), below()),
    lambda draw, below: LeftJoin(below(), below(), draw(perhaps_condition)),
    lambda draw, below: LeftJoin(below(), draw(perhaps_bgp)),
    lambda draw, below: LeftJoin(draw(perhaps_bgp), below()),
    lambda draw, below: Union(below(), below()),
    lambda draw, below: Minus(below(), draw(perhaps_bgp)),
    # Oxigraph binds the name of a graph inside of it: there OPTIONAL and MINUS would see it.
    lambda draw, below: Graph(draw(variable), draw(bgp)),
    lambda draw, below: Graph(IRI(draw(graph)), below()),
    lambda draw, below: Window(draw(graph), below()),
    lambda draw, below: Service(draw(graph), below()),
    extended,
    projected,
    grouped,
    filtered,
)


@st.composite
def patterns(draw):
    """Patterns of a few levels, mostly with a FILTER on top: there a rewrite can go wrong."""

    def grown(depth):
        if depth == 0 or not draw(st.integers(0, 3)):
            return draw(leaf)
        operator = draw(st.sampled_from(OPERATORS))
        return operator(draw, lambda: grown(depth - 1))

    pattern = grown(draw(st.integers(1, 3)))
    if draw(st.integers(0, 3)):
        pattern = filtered(draw, lambda: pattern)
    assume(most_solutions(pattern) < 10**4)
    return with_labels_apart(pattern)


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


def solutions(pattern, visible, store):
    local = Project(without_clauses(pattern), visible)
    found = store.query(print_sparql(Select(visible), local, DatasetClause()))
    return Counter(tuple(str(row[each.name]) for each in visible) for row in found)


@FIXED
@given(patterns())
def test_rewriting_keeps_the_solutions(pattern):
    visible = visible_variables(pattern)
    expected = [solutions(pattern, visible, store) for store in STORES]
    for change in (*REWRITES, rewrite):
        changed = change(pattern)
        if changed != pattern:
            assert [solutions(changed, visible, store) for store in STORES] == expected


def without(store, shapes):
    """A store less the triples of no such shape."""
    kept = ox.Store()
    for quad in store:
        terms = (quad.subject, quad.predicate, quad.object)
        if any(admits(shape, map(str, terms)) for shape in shapes):
            kept.add(quad)
    return kept


def admits(shape, terms):
    pairs = zip(shape.terms, terms, strict=True)
    return all(wanted is None or to_sparql(wanted) == term for wanted, term in pairs)


@settings(FIXED, max_examples=200)
@given(patterns())
def test_triples_that_are_not_needed_change_no_solution(pattern):
    shapes, visible = needed_triples(pattern), visible_variables(pattern)
    for store in STORES:
        found = solutions(pattern, visible, without(store, shapes))
        assert found == solutions(pattern, visible, store)
