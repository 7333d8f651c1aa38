"""Thresholds: FILTERs that compare a variable of the SERVICE with a number."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bestbefore.query.algebra import (
    Filter,
    LeftJoin,
    Minus,
    Pattern,
    Service,
    Union,
    Window,
    children,
)
from bestbefore.query.expressions import (
    Compare,
    ComparisonOperator,
    Constant,
    Expression,
    Negate,
    Variable,
    conjuncts,
)
from bestbefore.rdf.lexical_forms import number_of
from bestbefore.rdf.terms import encode

_TURNED: dict[str, ComparisonOperator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Threshold:
    """The condition `variable op number` that every answer fulfils."""

    variable: Variable
    op: ComparisonOperator
    number: float

    def __str__(self) -> str:
        return f"?{self.variable.name} {self.op} {self.number:.15g}"


def find_thresholds(pattern: Pattern, candidates: Collection[Variable]) -> tuple[Threshold, ...]:
    """The thresholds on some variables, in the order the FILTERs are met from outside in.

    Only what an answer must fulfil counts: a FILTER around the clauses that is no part of an
    OPTIONAL, a UNION or a MINUS, or a part of one that `&&` joins to others.
    """
    parts = (part for condition in _conditions(pattern) for part in conjuncts(condition))
    found = (_threshold(part) for part in parts)
    return tuple(one for one in found if one is not None and one.variable in candidates)


def _conditions(pattern: Pattern) -> Iterator[Expression]:
    """The conditions of the FILTERs that every mapping of an answer has passed."""
    match pattern:
        case Window() | Service() | Union():
            return
        case LeftJoin(left, _, _) | Minus(left, _):
            yield from _conditions(left)
            return
        case Filter(condition, _):
            yield condition
    for child in children(pattern):
        yield from _conditions(child)


def _threshold(condition: Expression) -> Threshold | None:
    match condition:
        case Compare(op, Variable() as variable, other) if op in _TURNED:
            order = op
        case Compare(op, other, Variable() as variable) if op in _TURNED:
            order = _TURNED[op]
        case _:
            return None
    number = _number(other)
    return None if number is None else Threshold(variable, order, number)


def _number(expression: Expression) -> float | None:
    match expression:
        case Constant(term):
            number = number_of(encode(term))
            return number if number is not None and abs(number) < float("inf") else None
        case Negate(operand):
            number = _number(operand)
            return None if number is None else -number
    return None
