"""Strategies for patterns as the parser makes them: each is what some text means exactly.

To make a strategy takes longer than to draw from it, so that they are made once.
"""

from dataclasses import replace
from functools import cache
from itertools import count

from hypothesis import strategies as st

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
    Reduced,
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
    Variable,
    Window,
    with_children,
    with_expressions,
)
from bestbefore.query.expressions import Aggregate, Exists, operands, with_operands
from bestbefore.query.scope import variables
from bestbefore.rdf.terms import IRI, BlankNode

from . import terms

EMPTY = BGP(())
OUTPUTS = tuple(f"out{number}" for number in range(20))
NEW_NAMES = ("new1", "new2", "new3", "new4")
name = st.sampled_from(["http://e/w", "http://e/s?x=1", "w", "urn:w"])
some_variable = terms.variable | terms.hidden
triple = st.builds(
    TriplePattern,
    some_variable | terms.iri | terms.blank,
    some_variable | terms.iri,
    some_variable | terms.value | terms.blank,
)
bgp = st.lists(triple, min_size=1, max_size=3).map(lambda triples: BGP(tuple(triples)))
path_pattern = st.builds(
    PathPattern, some_variable | terms.iri, terms.lasting_path, some_variable | terms.value
)


up_to_two_names = st.lists(terms.variable, max_size=2, unique=True)
cell = st.none() | terms.value
rows = [st.lists(st.tuples(*[cell] * width), max_size=2) for width in range(3)]


@st.composite
def values(draw):
    names = draw(up_to_two_names)
    return Values(tuple(names), tuple(draw(rows[len(names)])))


@cache
def perhaps(pattern):
    return pattern | st.just(EMPTY)


@cache
def conditions(pattern):
    return terms.expression | st.builds(Exists, pattern, st.booleans())


@st.composite
def extended(draw, pattern):
    inner = draw(perhaps(pattern))
    free = [each for each in NEW_NAMES if Variable(each) not in variables(inner)]
    new = draw(st.sampled_from(free)) if free else "another"
    return Extend(inner, Variable(new), draw(terms.expression))


def combine(pattern):
    some = perhaps(pattern)
    return st.one_of(
        st.builds(Join, pattern, pattern),
        st.builds(LeftJoin, some, some, st.none() | conditions(pattern)),
        st.builds(Union, some, some),
        st.builds(Minus, some, some),
        st.builds(Filter, conditions(pattern), some),
        extended(pattern),
        st.builds(Graph, terms.variable | terms.iri, some),
        st.builds(Service, name | terms.variable, some, st.booleans()),
        selects(pattern),
        grouped_selects(pattern),
    )


@cache
def orders(expression):
    condition = st.builds(OrderCondition, expression, st.booleans())
    return st.lists(condition, min_size=1, max_size=2).map(tuple)


modifiers = st.sampled_from([None, Distinct, Reduced])
offsets, limits = st.integers(0, 2), st.none() | st.integers(0, 3)
one_to_three_names = st.lists(terms.variable, min_size=1, max_size=3, unique=True)


def finished(draw, pattern, projection):
    """A pattern with a projection and perhaps the modifiers that come after it."""
    result = Project(pattern, projection)
    modifier = draw(modifiers)
    return sliced(draw, modifier(result) if modifier else result)


def sliced(draw, pattern):
    offset, limit = draw(offsets), draw(limits)
    return Slice(pattern, offset, limit) if offset or limit is not None else pattern


@st.composite
def selects(draw, pattern):
    """A SELECT without groups."""
    inner = draw(perhaps(pattern))
    if draw(st.booleans()):
        inner = OrderBy(inner, draw(orders(terms.expression)))
    return finished(draw, inner, tuple(draw(one_to_three_names)))


aggregate = st.one_of(
    st.builds(
        Aggregate,
        st.sampled_from(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE"]),
        terms.expression,
        st.booleans(),
    ),
    st.builds(Aggregate, st.just("COUNT"), st.none(), st.booleans()),
    st.builds(
        Aggregate,
        st.just("GROUP_CONCAT"),
        terms.expression,
        st.booleans(),
        st.sampled_from([" ", ",", "", '"']),
    ),
)


new_keys = st.lists(st.sampled_from(NEW_NAMES[:2]), max_size=2, unique=True)
kinds_of_keys = st.sampled_from(["variable", "named", "expression"])
computed = terms.expression.filter(lambda each: not isinstance(each, Variable))


def keyed(draw, pattern):
    """A pattern and the keys that GROUP BY makes of it."""
    inner, keys = draw(perhaps(pattern)), list[Variable]()
    taken = set(variables(inner))
    for new in draw(new_keys):
        kind = draw(kinds_of_keys)
        key = {"variable": draw(terms.variable), "named": Variable(new)}.get(
            kind, Variable(f".k{len(keys) + 1}")
        )
        if key in keys or (kind == "named" and key in taken):
            continue
        if kind != "variable":
            inner = Extend(inner, key, draw(computed))
        keys.append(key)
    return inner, tuple(keys)


aggregates_of_groups = st.lists(aggregate, min_size=1, max_size=2, unique=True)


@cache
def over(leaves):
    """Expressions over some leaves; and perhaps one, and perhaps an order, over them."""
    leaf = terms.expressions(st.sampled_from(leaves))
    return leaf, st.none() | leaf, st.just(()) | orders(leaf)


def clauses_over_groups(draw, keys, *, named):
    """Expressions of SELECT, HAVING and ORDER BY that read keys and aggregates."""
    found = draw(aggregates_of_groups)
    marks = [Variable(f"!{number}") for number in range(len(found))]
    expression, perhaps_one, perhaps_order = over(
        (*marks, *sorted((each for each in keys if not each.hidden), key=str))
    )
    items = [(Variable(each), draw(expression)) for each in named]
    having, order = draw(perhaps_one), draw(perhaps_order)
    if not keys and not any(map(_marked, [each for _, each in items])):
        having = marks[0] if having is None or not _marked(having) else having
    return items, having, order, dict(zip(marks, found, strict=True))


def _marked(expression):
    if isinstance(expression, Variable):
        return expression.name.startswith("!")
    return any(map(_marked, operands(expression)))


def with_aggregates(items, having, order, found):
    """The clauses with their aggregates numbered as they are met in the text."""
    numbers = {}

    def numbered(expression):
        if _marked(expression) and isinstance(expression, Variable):
            return numbers.setdefault(found[expression], Variable(f".a{len(numbers) + 1}"))
        return with_operands(expression, numbered)

    items = [(variable, numbered(each)) for variable, each in items]
    having = None if having is None else numbered(having)
    order = tuple(replace(each, expression=numbered(each.expression)) for each in order)
    return items, having, order, tuple((variable, each) for each, variable in numbers.items())


def grouped(draw, pattern, *, named):
    """A pattern over groups up to ORDER BY, with what SELECT can list of it."""
    inner, keys = keyed(draw, pattern)
    free = [each for each in OUTPUTS if Variable(each) not in variables(inner)]
    clauses = clauses_over_groups(draw, keys, named=free[:named])
    items, having, order, aggregates = with_aggregates(*clauses)
    result = Group(inner, keys, aggregates)
    result = result if having is None else Filter(having, result)
    result = Join(result, draw(some_values)) if draw(st.booleans()) else result
    for variable, expression in items:
        result = Extend(result, variable, expression)
    visible = [each for each in keys if not each.hidden]
    return OrderBy(result, order) if order else result, (*visible, *(each for each, _ in items))


@st.composite
def grouped_selects(draw, pattern):
    """A SELECT over groups."""
    result, projection = grouped(draw, pattern, named=draw(one_or_two))
    return finished(draw, result, projection)


one_or_two, some_values = st.integers(1, 2), values()
leaf = bgp | path_pattern | some_values
group = st.recursive(leaf, combine, max_leaves=5)
window = st.builds(Window, name, group | st.just(EMPTY))
where = st.recursive(leaf | window, combine, max_leaves=4)


def with_labels_apart(pattern, number=None):
    """The pattern with other labels in each leaf, because SPARQL forbids one label in two."""
    number = count() if number is None else number

    def tested(expression):
        if isinstance(expression, Exists):
            return replace(expression, pattern=with_labels_apart(expression.pattern, number))
        return with_operands(expression, tested)

    if isinstance(pattern, BGP):
        mark = next(number)
        return BGP(tuple(_labelled(each, mark) for each in pattern.patterns))
    below = with_children(pattern, lambda each: with_labels_apart(each, number))
    return with_expressions(below, tested)


def _labelled(pattern, mark):
    def label(term):
        return BlankNode(f"{term.label}{mark}") if isinstance(term, BlankNode) else term

    return replace(pattern, subject=label(pattern.subject), object=label(pattern.object))


def without_clauses(pattern):
    """The pattern with a named graph in the place of each WINDOW and SERVICE, to be run locally."""

    def tested(expression):
        if isinstance(expression, Exists):
            return replace(expression, pattern=without_clauses(expression.pattern))
        return with_operands(expression, tested)

    below = with_expressions(with_children(pattern, without_clauses), tested)
    match below:
        case Service(Variable() as graph, inner, _):
            return Graph(graph, inner)
        case Service(iri, inner, _) | Window(iri, inner):
            return Graph(IRI(iri if ":" in iri else f"urn:{iri}"), inner)
    return below
