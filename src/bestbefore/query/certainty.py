"""Certainty: which variables every solution of a pattern binds."""

from typing import assert_never

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
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Service,
    Slice,
    Union,
    Values,
    Window,
    variables,
)
from bestbefore.query.expressions import Constant, Variable


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
        case Filter() | Window() | Distinct() | Reduced() | OrderBy() | Slice():
            return certain_variables(pattern.pattern)
    assert_never(pattern)


def _made(pattern: Extend | Values | Group) -> frozenset[Variable]:
    """The certain variables of a pattern that makes values, of which some may be errors."""
    match pattern:
        case Extend(inner, variable, expression):
            new = {variable} if isinstance(expression, Constant) else frozenset[Variable]()
            return certain_variables(inner) | new
        case Values(names, rows):
            columns = (tuple(row[column] for row in rows) for column in range(len(names)))
            return frozenset(
                name for name, cells in zip(names, columns, strict=True) if None not in cells
            )
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
