"""FILTERs go down to where their variables are bound.

A condition moves only where each solution decides it the same way there: what else is joined must
not bind a variable that is unbound below. It never moves into SERVICE, into the right side of
OPTIONAL or MINUS, or below a LIMIT, and not at all if it is volatile or holds EXISTS.
"""

from dataclasses import replace

from bestbefore.query.algebra import (
    Binary,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    Leaf,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Selection,
    Service,
    Slice,
    Union,
    Window,
    with_children,
)
from bestbefore.query.expressions import Expression, conjunction, conjuncts, is_stable
from bestbefore.query.scope import certain_variables, expression_variables, variables
from bestbefore.query.select_parts import is_grouped, is_select


def push_filters(pattern: Pattern) -> Pattern:
    """A pattern with its FILTERs as far down as they may go."""
    match pattern:
        case Service():
            return pattern
        case Filter(condition, inner):
            inner, staying = _spread(condition, inner)
            inner = push_filters(inner)
            return Filter(conjunction(staying), inner) if staying else inner
    return with_children(pattern, push_filters)


def _spread(condition: Expression, pattern: Pattern) -> tuple[Pattern, list[Expression]]:
    """A pattern with the parts of a condition that can move into it, and the parts that stay."""
    staying: list[Expression] = []
    for part in conjuncts(condition):
        pushed = _push(part, pattern) if is_stable(part) else None
        if pushed is None:
            staying.append(part)
        else:
            pattern = pushed
    return pattern, staying


def _settle(condition: Expression, pattern: Pattern) -> Pattern:
    """A pattern with a condition that holds for it, as far down as it may go."""
    pushed = _push(condition, pattern)
    if pushed is not None:
        return pushed
    if isinstance(pattern, Filter):
        return replace(pattern, condition=conjunction([*conjuncts(pattern.condition), condition]))
    return Filter(condition, pattern)


def _push(  # noqa: PLR0911 - one case per node
    condition: Expression, pattern: Pattern
) -> Pattern | None:
    """A pattern with a condition somewhere below its root, if it may go there."""
    read = set(expression_variables(condition))
    if isinstance(pattern, Leaf | Service | Slice):
        return None
    if isinstance(pattern, Binary):
        return _push_aside(condition, pattern)
    match pattern:
        case Extend(_, variable, _) if variable in read:
            return None
        case Graph(name, _) if name in read:
            return None
        case Group(_, keys, _) if not keys or not read <= set(keys):
            return None
        case Project(_, names) if not read <= set(names):
            return None
        case Extend() | Graph() | Group() | Window():
            return replace(pattern, pattern=_settle(condition, pattern.pattern))
    return _push_through(condition, pattern)


def _push_through(condition: Expression, pattern: Selection | Project) -> Pattern | None:
    """A pattern with a condition further down than just below its root, unless that is its WHERE.

    Between the clauses of a SELECT over groups no FILTER can be written.
    """
    inner = pattern.pattern
    if isinstance(pattern, Project | OrderBy) and not is_select(inner) and not is_grouped(inner):
        return replace(pattern, pattern=_settle(condition, inner))
    pushed = _push(condition, inner)
    return None if pushed is None else replace(pattern, pattern=pushed)


def _push_aside(condition: Expression, pattern: Binary) -> Pattern | None:
    left, right = pattern.left, pattern.right
    match pattern:
        case Minus():
            return replace(pattern, left=_settle(condition, left))
        case Union():
            read = set(expression_variables(condition))
            if not read <= set(variables(left)) & set(variables(right)):
                return None
            return Union(_settle(condition, left), _settle(condition, right))
        case Join() | LeftJoin() if _decides(left, condition, right):
            return replace(pattern, left=_settle(condition, left))
        case Join() if _decides(right, condition, left):
            return replace(pattern, right=_settle(condition, right))
    return None


def _decides(side: Pattern, condition: Expression, other: Pattern) -> bool:
    """Whether one side of a join binds all variables of a condition, whatever the other binds.

    A condition on a SERVICE stays above the join, where maintenance looks for it.
    """
    read = set(expression_variables(condition))
    if isinstance(side, Service) or not read or not read <= set(variables(side)):
        return False
    return not (read - certain_variables(side)) & set(variables(other))
