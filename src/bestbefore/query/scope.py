"""Scope: which variables a pattern binds, which of them always, and which it reads."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Extend,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    PathPattern,
    Pattern,
    Project,
    Selection,
    Service,
    TriplePattern,
    Union,
    Values,
    Window,
    children,
    expressions_of,
)
from bestbefore.query.expressions import Constant, Exists, Expression, Variable, operands


def variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope in a pattern (SPARQL 1.1 section 18.2.1), by first appearance.

    A FILTER and the right side of MINUS bring none into scope, and a blank node never is one.
    Hidden variables count: patterns are joined on them too.
    """
    # Once through all of it, however long a chain of operators is.
    found: dict[Variable, None] = {}
    pending: list[Pattern | Variable] = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, Variable):
            found[node] = None
        else:
            pending += reversed(_in_scope(node))
    return tuple(found)


def _in_scope(pattern: Pattern) -> Sequence[Pattern | Variable]:  # noqa: PLR0911 - one case per node
    """What brings variables into the scope of a pattern: those that it names, patterns below it."""
    match pattern:
        case BGP(patterns):
            return triple_variables(patterns)
        case PathPattern(subject, _, object_):
            return [end for end in (subject, object_) if isinstance(end, Variable)]
        case Join(left, right) | LeftJoin(left, right) | Union(left, right):
            return left, right
        case Minus(left, _):
            return (left,)
        case Extend(inner, variable, _):
            return inner, variable
        case Values(names, _) | Project(_, names):
            return names
        case Graph(name, inner) | Service(name, inner):
            return (name, inner) if isinstance(name, Variable) else (inner,)
        case Group(_, keys, aggregates):
            return (*keys, *(variable for variable, _ in aggregates))
    if isinstance(pattern, Selection | Window):
        return (pattern.pattern,)
    assert_never(pattern)


def visible_variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope that a query can name: what `SELECT *` selects."""
    return tuple(name for name in variables(pattern) if not name.hidden)


def mentioned_variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables that a pattern binds or reads, but for those that a subquery keeps inside."""
    if isinstance(pattern, Project | Values):
        return variables(pattern)
    below = (name for child in children(pattern) for name in mentioned_variables(child))
    read = (name for part in expressions_of(pattern) for name in expression_variables(part))
    return _distinct((*variables(pattern), *below, *read))


def expression_variables(expression: Expression) -> tuple[Variable, ...]:
    """The variables that an expression reads, in order of first appearance.

    EXISTS reads all that its pattern binds or reads, since any of them may come from outside.
    """
    if isinstance(expression, Variable):
        return (expression,)
    if isinstance(expression, Exists):
        return mentioned_variables(expression.pattern)
    return _distinct(name for part in operands(expression) for name in expression_variables(part))


def triple_variables(patterns: tuple[TriplePattern, ...]) -> tuple[Variable, ...]:
    """The variables of triple patterns, in order of first appearance."""
    terms = (term for triple in patterns for term in triple.terms)
    return _distinct(term for term in terms if isinstance(term, Variable))


def certain_variables(pattern: Pattern) -> frozenset[Variable]:  # noqa: PLR0911 - one case per node
    """The variables that are bound in every solution; others may be unbound in some."""
    match pattern:
        case BGP() | PathPattern():
            return frozenset(variables(pattern))
        case Join(left, right):
            return certain_variables(left) | certain_variables(right)
        case Union(left, right):
            return certain_variables(left) & certain_variables(right)
        case LeftJoin(left, _, _) | Minus(left, _):
            return certain_variables(left)
        case Extend() | Values() | Group():
            return _made(pattern)
        case Graph() | Service():
            return _named(pattern)
        case Project(inner, names):
            return certain_variables(inner) & frozenset(names)
    if isinstance(pattern, Selection | Window):
        return certain_variables(pattern.pattern)
    assert_never(pattern)


def _made(pattern: Extend | Values | Group) -> frozenset[Variable]:
    """The certain variables of a pattern that makes values, of which some may be errors."""
    match pattern:
        case Extend(inner, variable, expression):
            new = {variable} if isinstance(expression, Constant) else frozenset[Variable]()
            return certain_variables(inner) | new
        case Values(names, rows):
            columns = {name: [row[number] for row in rows] for number, name in enumerate(names)}
            return frozenset(name for name, cells in columns.items() if None not in cells)
        case Group(inner, keys, aggregates):
            counts = (name for name, aggregate in aggregates if aggregate.function == "COUNT")
            return certain_variables(inner) & frozenset(keys) | frozenset(counts)
    assert_never(pattern)


def _named(pattern: Graph | Service) -> frozenset[Variable]:
    """The certain variables of a clause; a silent SERVICE that fails binds nothing."""
    name = pattern.name if isinstance(pattern, Graph) else pattern.iri
    if isinstance(pattern, Service) and pattern.silent:
        return frozenset()
    inner = certain_variables(pattern.pattern)
    return inner | {name} if isinstance(name, Variable) else inner


def _distinct(several: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(several))
