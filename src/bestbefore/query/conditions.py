"""Conditions: expressions that a solution must fulfil, taken apart and put together."""

from collections.abc import Iterator, Sequence

from bestbefore.query.expressions import And, Call, Expression, exists_patterns, operands

_VOLATILE = ("BNODE", "RAND", "STRUUID", "UUID")


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that `&&` joins; all of them are true exactly when the whole is."""
    if isinstance(condition, And):
        for operand in condition.operands:
            yield from conjuncts(operand)
    else:
        yield condition


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """One condition for some, of which there is at least one."""
    return And(tuple(conditions)) if len(conditions) > 1 else conditions[0]


def is_stable(expression: Expression) -> bool:
    """Whether an expression depends on nothing but the values of its variables.

    EXISTS depends on all that a solution binds, and a volatile function on nothing at all.
    """
    return not is_volatile(expression) and not exists_patterns(expression)


def is_volatile(expression: Expression) -> bool:
    """Whether an expression may have another value each time it is evaluated."""
    if isinstance(expression, Call) and expression.function in _VOLATILE:
        return True
    return any(map(is_volatile, operands(expression)))
