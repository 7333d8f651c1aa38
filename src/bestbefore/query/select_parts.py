"""The parts of a SELECT, found again in its pattern."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bestbefore.query.algebra import (
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    OrderBy,
    OrderCondition,
    Pattern,
    Project,
    Reduced,
    Slice,
    Values,
)
from bestbefore.query.expressions import Aggregate, Expression, Variable
from bestbefore.query.scope import variables


@dataclass(frozen=True, slots=True)
class Grouped:
    """The clauses of a query over groups, from GROUP BY to the expressions of SELECT."""

    keys: Mapping[Variable, Expression | None]
    aggregates: Mapping[Variable, Aggregate]
    having: Expression | None = None
    values: Values | None = None
    named: Mapping[Variable, Expression] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SelectParts:
    """The clauses of a SELECT."""

    where: Pattern
    grouped: Grouped | None
    order: tuple[OrderCondition, ...]
    offset: int
    limit: int | None
    modifier: str = ""
    projection: tuple[Variable, ...] = ()


def is_select(pattern: Pattern) -> bool:
    """Whether a pattern can only be written as a subquery."""
    if isinstance(pattern, Group):
        return bool(pattern.keys or pattern.aggregates)
    return isinstance(pattern, Slice | Distinct | Reduced | Project | OrderBy)


def is_grouped(pattern: Pattern) -> bool:
    """Whether a pattern is a group with clauses around it that are evaluated after grouping."""
    while isinstance(pattern, Extend | Filter | OrderBy):
        pattern = pattern.pattern
    if isinstance(pattern, Join) and isinstance(pattern.right, Values):
        return is_grouped(pattern.left)
    return isinstance(pattern, Group)


def select_parts(pattern: Pattern) -> SelectParts:
    """The parts of the SELECT that a pattern is."""
    sliced = pattern if isinstance(pattern, Slice) else Slice(pattern)
    inner, modifier = sliced.pattern, ""
    if isinstance(inner, Distinct | Reduced):
        inner, modifier = inner.pattern, type(inner).__name__.upper()
    if not isinstance(inner, Project):
        return replace(_parts(sliced, inner, ()), modifier=modifier, projection=variables(inner))
    parts = _parts(sliced, inner.pattern, inner.variables)
    return replace(parts, modifier=modifier, projection=inner.variables)


def form_parts(pattern: Pattern) -> SelectParts:
    """The parts of a query of another form, which has no SELECT clause."""
    sliced = pattern if isinstance(pattern, Slice) else Slice(pattern)
    return _parts(sliced, sliced.pattern, ())


def _parts(sliced: Slice, pattern: Pattern, projection: tuple[Variable, ...]) -> SelectParts:
    ordered = pattern if isinstance(pattern, OrderBy) else OrderBy(pattern, ())
    where, grouped = _grouped(ordered.pattern, projection)
    return SelectParts(where, grouped, ordered.conditions, sliced.offset, sliced.limit)


def _grouped(pattern: Pattern, projection: tuple[Variable, ...]) -> tuple[Pattern, Grouped | None]:
    """The pattern below the clauses over a group and these, if the pattern is what they mean."""
    named, inner = _peel(pattern)
    if [name for name in projection if name in named] != list(named):
        return pattern, None
    values = inner.right if isinstance(inner, Join) and isinstance(inner.right, Values) else None
    inner = inner.left if isinstance(inner, Join) and values else inner
    having = inner.condition if isinstance(inner, Filter) else None
    group = inner.pattern if isinstance(inner, Filter) else inner
    if not isinstance(group, Group) or not (group.keys or group.aggregates):
        return pattern, None
    where, keys = _keys(group)
    return where, Grouped(keys, dict(group.aggregates), having, values, named)


def _peel(pattern: Pattern) -> tuple[dict[Variable, Expression], Pattern]:
    """The variables that a pattern adds, innermost first, and the pattern that it adds them to."""
    added: list[tuple[Variable, Expression]] = []
    while isinstance(pattern, Extend):
        added.append((pattern.variable, pattern.expression))
        pattern = pattern.pattern
    return dict(reversed(added)), pattern


def _keys(group: Group) -> tuple[Pattern, dict[Variable, Expression | None]]:
    """The pattern below a group and its keys, each with the expression that GROUP BY gives it."""
    where, named = group.pattern, dict[Variable, Expression]()
    for key in reversed(group.keys):
        if isinstance(where, Extend) and where.variable == key:
            named[key] = where.expression
            where = where.pattern
    return where, {key: named.get(key) for key in group.keys}
