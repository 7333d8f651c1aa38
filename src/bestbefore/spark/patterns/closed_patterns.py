"""Closed patterns: those that EXISTS may evaluate apart from the mappings it tests."""

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
    Variable,
    Window,
    mentioned_variables,
)
from bestbefore.query.certainty import certain_variables
from bestbefore.query.expressions import Expression, expression_variables
from bestbefore.spark.patterns.path_forms import can_be_empty

Names = frozenset[Variable]


def is_closed(pattern: Pattern, outer: Names) -> bool:  # noqa: C901, PLR0911 - one case per node
    """Whether EXISTS may evaluate a pattern by itself and join it with the outer mappings.

    SPARQL puts the values of the outer variables into the pattern first. That is the same unless
    something inside depends on an outer variable before a triple has bound it.
    """
    match pattern:
        case BGP() | Values() | Window() | Service():
            return True
        case PathPattern(subject, path, object_):
            return not (can_be_empty(path) and outer & {subject, object_})
        case Join(left, right) | Union(left, right):
            return is_closed(left, outer) and is_closed(right, outer)
        case LeftJoin(left, right, condition):
            seen = frozenset(mentioned_variables(right)) | _read(condition)
            return is_closed(left, outer) and outer & seen <= certain_variables(left)
        case Minus(left, right):
            return is_closed(left, outer) and not outer & {*mentioned_variables(right)}
        case Filter(condition, inner):
            return is_closed(inner, outer) and outer & _read(condition) <= certain_variables(inner)
        case Extend(inner, _, expression):
            return is_closed(inner, outer) and outer & _read(expression) <= certain_variables(inner)
        case Graph(_, inner) | Distinct(inner) | Reduced(inner) | OrderBy(inner):
            return is_closed(inner, outer)
        case Project(inner, names):
            return is_closed(inner, outer & {*names})
        case Group(inner, keys):
            return is_closed(inner, outer & {*keys})
        case Slice(inner):
            return not outer & {*mentioned_variables(inner)}
    assert_never(pattern)


def _read(expression: Expression | None) -> Names:
    return frozenset() if expression is None else frozenset(expression_variables(expression))
