"""Rebuilding: a pattern with other patterns below it, an expression with other operands."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
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
)
from bestbefore.query.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Constant,
    Exists,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)


def with_children(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """A pattern with its children changed."""
    match pattern:
        case BGP() | PathPattern() | Values():
            return pattern
        case Join() | LeftJoin() | Union() | Minus():
            return replace(pattern, left=change(pattern.left), right=change(pattern.right))
        case Filter() | Extend() | Graph() | Window() | Service() | Group() | Project():
            return replace(pattern, pattern=change(pattern.pattern))
        case Distinct() | Reduced() | OrderBy() | Slice():
            return replace(pattern, pattern=change(pattern.pattern))
    assert_never(pattern)


def with_expressions(pattern: Pattern, change: Callable[[Expression], Expression]) -> Pattern:
    """A pattern with the expressions changed that it evaluates itself."""
    match pattern:
        case Filter(condition, _):
            return replace(pattern, condition=change(condition))
        case LeftJoin(_, _, condition) if condition is not None:
            return replace(pattern, condition=change(condition))
        case Extend(_, _, expression):
            return replace(pattern, expression=change(expression))
        case OrderBy(_, conditions):
            changed = (replace(each, expression=change(each.expression)) for each in conditions)
            return replace(pattern, conditions=tuple(changed))
        case Group(_, _, aggregates):
            return replace(pattern, aggregates=tuple(_aggregated(aggregates, change)))
    return pattern


def _aggregated(
    aggregates: tuple[tuple[Variable, Aggregate], ...], change: Callable[[Expression], Expression]
) -> Iterator[tuple[Variable, Aggregate]]:
    for variable, aggregate in aggregates:
        argument = aggregate.argument
        changed = None if argument is None else change(argument)
        yield variable, replace(aggregate, argument=changed)


def with_operands(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression with its operands changed; those of EXISTS are patterns and stay."""
    match expression:
        case Variable() | Constant() | Exists():
            return expression
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return replace(expression, left=change(left), right=change(right))
        case And(several) | Or(several):
            return replace(expression, operands=tuple(map(change, several)))
        case Call(_, several):
            return replace(expression, arguments=tuple(map(change, several)))
        case Not(one) | Negate(one) | Cast(_, one):
            return replace(expression, operand=change(one))
        case In(one, choices):
            return replace(expression, operand=change(one), choices=tuple(map(change, choices)))
    assert_never(expression)


def numbered(pattern: Pattern) -> Pattern:
    """A pattern whose WINDOW clauses have numbers, and its SERVICE clauses, in `walk`'s order."""
    windows, services = count(), count()

    def number(node: Pattern) -> Pattern:
        match node:
            case Window():
                node = replace(node, number=next(windows))
            case Service():
                node = replace(node, number=next(services))
        return with_expressions(with_children(node, number), tested)

    def tested(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return replace(expression, pattern=number(expression.pattern))
        return with_operands(expression, tested)

    return number(pattern)
