"""Strategies for patterns as the parser makes them: each is what some text means exactly."""

from dataclasses import replace
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


@st.composite
def values(draw):
    names = draw(st.lists(terms.variable, max_size=2, unique=True))
    row = st.tuples(*(st.none() | terms.value for _ in names))
    return Values(tuple(names), tuple(draw(st.lists(row, max_size=2))))


def conditions(pattern):
    return terms.expression | st.builds(Exists, pattern, st.booleans())


@st.composite
def extended(draw, pattern):
    inner = draw(pattern | st.just(EMPTY))
    free = [each for each in NEW_NAMES if Variable(each) not in variables(inner)]
    new = draw(st.sampled_from(free)) if free else "another"
    return Extend(inner, Variable(new), draw(terms.expression))


def combine(pattern):
    perhaps = pattern | st.just(EMPTY)
    return st.one_of(
        st.builds(Join, pattern, pattern),
        st.builds(LeftJoin, perhaps, perhaps, st.none() | conditions(pattern)),
        st.builds(Union, perhaps, perhaps),
        st.builds(Minus, perhaps, perhaps),
        st.builds(Filter, conditions(pattern), perhaps),
        extended(pattern),
        st.builds(Graph, terms.variable | terms.iri, perhaps),
        st.builds(Service, name | terms.variable, perhaps, st.booleans()),
        selects(pattern),
        grouped_selects(pattern),
    )


def orders(expression):
    condition = st.builds(OrderCondition, expression, st.booleans())
    return st.lists(condition, min_size=1, max_size=2).map(tuple)


@st.composite
def finished(draw, pattern, projection):
    """A pattern with a projection and perhaps the modifiers that come after it."""
    result = Project(pattern, projection)
    modifier = draw(st.sampled_from([None, Distinct, Reduced]))
    return draw(sliced(modifier(result) if modifier else result))


@st.composite
def sliced(draw, pattern):
    offset, limit = draw(st.integers(0, 2)), draw(st.none() | st.integers(0, 3))
    return Slice(pattern, offset, limit) if offset or limit is not None else pattern


@st.composite
def selects(draw, pattern):
    """A SELECT without groups."""
    inner = draw(pattern | st.just(EMPTY))
    if draw(st.booleans()):
        inner = OrderBy(inner, draw(orders(terms.expression)))
    names = draw(st.lists(terms.variable, min_size=1, max_size=3, unique=True))
    return draw(finished(inner, tuple(names)))


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


@st.composite
def keyed(draw, pattern):
    """A pattern and the keys that GROUP BY makes of it."""
    inner, keys = draw(pattern | st.just(EMPTY)), list[Variable]()
    taken = set(variables(inner))
    for new in draw(st.lists(st.sampled_from(NEW_NAMES[:2]), max_size=2, unique=True)):
        kind = draw(st.sampled_from(["variable", "named", "expression"]))
        key = {"variable": draw(terms.variable), "named": Variable(new)}.get(
            kind, Variable(f".k{len(keys) + 1}")
        )
        if key in keys or (kind == "named" and key in taken):
            continue
        if kind != "variable":
            value = draw(terms.expression.filter(lambda each: not isinstance(each, Variable)))
            inner = Extend(inner, key, value)
        keys.append(key)
    return inner, tuple(keys)


@st.composite
def clauses_over_groups(draw, keys, *, named):
    """Expressions of SELECT, HAVING and ORDER BY that read keys and aggregates."""
    found = draw(st.lists(aggregate, min_size=1, max_size=2, unique=True))
    marks = [Variable(f"!{number}") for number in range(len(found))]
    visible = [each for each in keys if not each.hidden]
    leaf = terms.expressions(st.sampled_from([*marks, *visible]))
    items = [(Variable(each), draw(leaf)) for each in named]
    having = draw(st.none() | leaf)
    order = draw(st.just(()) | orders(leaf))
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


@st.composite
def grouped(draw, pattern, *, named):
    """A pattern over groups up to ORDER BY, with what SELECT can list of it."""
    inner, keys = draw(keyed(pattern))
    free = [each for each in OUTPUTS if Variable(each) not in variables(inner)]
    clauses = draw(clauses_over_groups(keys, named=free[:named]))
    items, having, order, aggregates = with_aggregates(*clauses)
    result = Group(inner, keys, aggregates)
    result = result if having is None else Filter(having, result)
    result = Join(result, draw(values())) if draw(st.booleans()) else result
    for variable, expression in items:
        result = Extend(result, variable, expression)
    visible = [each for each in keys if not each.hidden]
    return OrderBy(result, order) if order else result, (*visible, *(each for each, _ in items))


@st.composite
def grouped_selects(draw, pattern):
    """A SELECT over groups."""
    result, projection = draw(grouped(pattern, named=draw(st.integers(1, 2))))
    return draw(finished(result, projection))


leaf = bgp | path_pattern | values()
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
