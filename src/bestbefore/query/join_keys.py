"""Join keys: the variables on which a SERVICE meets the WINDOWs it is joined with.

Only those mappings of a SERVICE can reach the answer that agree with the mappings of the WINDOWs
around it. Which these are follows the algebra: both sides of a join restrict each other, the left
side of OPTIONAL and MINUS restricts the right one but not the other way round, and what a subquery
does not select restricts nothing outside of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from bestbefore.query.algebra import (
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    Leaf,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    Selection,
    Service,
    Slice,
    Union,
    Variable,
    Window,
    children,
    walk,
)
from bestbefore.query.expressions import Exists, Expression, conjuncts
from bestbefore.query.scope import certain_variables, visible_variables


@dataclass(frozen=True, slots=True)
class JoinKey:
    """The variables on which a SERVICE is joined, in its own order, and what binds them.

    That is a pattern of WINDOW clauses, each a part or an alternative (joins and unions), whose
    mappings those that the SERVICE is joined with extend. Both sides bind the variables always, for
    an unbound one would agree with every value.
    """

    variables: tuple[Variable, ...]
    bound_by: Pattern


def join_key(service: Service, pattern: Pattern) -> JoinKey | None:
    """The join key of a service of a pattern with numbered clauses, if any WINDOW restricts it."""
    certain = certain_variables(service.pattern)
    usable = certain & {*visible_variables(service)}
    binding: Pattern | None = None
    for node, inner in _way_to(service, pattern):
        binding = _around(node, inner, usable, binding)
    if binding is None:
        return None
    shared = usable & certain_variables(binding)
    return JoinKey(tuple(name for name in visible_variables(service) if name in shared), binding)


def _way_to(service: Service, pattern: Pattern) -> list[tuple[Pattern, Pattern]]:
    """The patterns from the outermost down to a service, each with the child that leads there."""
    above = {id(child): node for node in walk(pattern) for child in children(node)}
    way: list[tuple[Pattern, Pattern]] = []
    inner: Pattern = service
    while inner is not pattern:
        way.append((above[id(inner)], inner))
        inner = above[id(inner)]
    return way[::-1]


def _around(
    pattern: Pattern, inner: Pattern, usable: frozenset[Variable], outer: Pattern | None
) -> Pattern | None:
    """What restricts a child of a pattern, given what restricts the pattern."""
    match pattern:
        case Join(left, right):
            return _together(outer, _windows(right if inner is left else left, usable))
        case LeftJoin(left, right, _) | Minus(left, right) if inner is right:
            # What the left side binds decides whether there is a match, and nothing else may.
            around = _together(outer, _windows(left, usable))
            return _shown(around, certain_variables(left), usable)
        case Filter(condition, _):
            tested = (_tested(part, inner, usable) for part in conjuncts(condition))
            return reduce(_together, tested, outer)
        case Project(_, names) | Group(_, names, _):
            return _shown(outer, names, usable)
        case Slice():
            # Which mappings are the first depends on all of them.
            return None
    return outer


def _windows(  # noqa: PLR0911 - one case per node
    pattern: Pattern, usable: frozenset[Variable]
) -> Pattern | None:
    """The WINDOWs that have a part in every mapping of a pattern and bind a usable variable."""
    if isinstance(pattern, Leaf | Graph | Service):
        return None
    match pattern:
        case Window():
            return _shown(pattern, visible_variables(pattern), usable)
        case Join(left, right):
            return _together(_windows(left, usable), _windows(right, usable))
        case Union(left, right):
            one, other = _windows(left, usable), _windows(right, usable)
            either = Union(one, other) if one and other else None
            return _shown(either, visible_variables(pattern), usable)
        case Project(inner, names) | Group(inner, names, _):
            return _shown(_windows(inner, usable), names, usable)
        case LeftJoin() | Minus():
            return _windows(pattern.left, usable)
    if isinstance(pattern, Selection | Extend):
        return _windows(pattern.pattern, usable)
    assert_never(pattern)


def _tested(condition: Expression, inner: Pattern, usable: frozenset[Variable]) -> Pattern | None:
    """The WINDOWs that must have a mapping for EXISTS to be true, however many they have."""
    if not isinstance(condition, Exists) or condition.negated:
        return None
    found = _shown(_windows(condition.pattern, usable), visible_variables(inner), usable)
    return None if found is None else Distinct(found)


def _together(left: Pattern | None, right: Pattern | None) -> Pattern | None:
    return Join(left, right) if left and right else left or right


def _shown(
    pattern: Pattern | None, names: Iterable[Variable], usable: frozenset[Variable]
) -> Pattern | None:
    """A pattern with some variables only; None if none of them is a usable one that it binds."""
    if pattern is None:
        return None
    known, wanted = visible_variables(pattern), frozenset(names)
    kept = tuple(name for name in known if name in wanted)
    if not usable & certain_variables(pattern) & {*kept}:
        return None
    return pattern if kept == known else Project(pattern, kept)
