"""Expressions to Spark SQL: one case per node."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from bestbefore.query.algebra import Pattern
from bestbefore.query.expressions import (
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
from bestbefore.spark.expressions import numbers
from bestbefore.spark.expressions.casts import cast
from bestbefore.spark.expressions.functions import FUNCTIONS, WITH_CONSTANTS, blank_node, iri_of
from bestbefore.spark.expressions.relations import compare, is_in
from bestbefore.spark.expressions.values import (
    Booleans,
    Numbers,
    Terms,
    Value,
    constant,
    number_of,
    term_of,
    truth_of,
)
from bestbefore.spark.sql import NO_TERM, Cheap


@dataclass(frozen=True)
class Scope:
    """What an expression sees: the SQL of variables and of EXISTS patterns, and its solution.

    `solution` is what tells one mapping from all others.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    exists: Mapping[Pattern, str] = field(default_factory=dict)
    solution: str | None = None

    def variable(self, variable: str) -> str:
        """The SQL of a variable; one that nothing binds is null."""
        return self.variables.get(variable, Cheap(NO_TERM))


def condition_sql(expression: Expression, scope: Scope) -> str:
    """The SQL of the effective boolean value of an expression."""
    return truth_of(value_of(expression, scope))


def term_sql(expression: Expression, scope: Scope) -> str:
    """The SQL of the term that an expression gives."""
    return term_of(value_of(expression, scope))


def value_of(expression: Expression, scope: Scope) -> Value:  # noqa: C901, PLR0911 - one case per node
    """The compiled form of an expression."""
    match expression:
        case Variable(variable):
            return Terms(scope.variable(variable))
        case Constant(term):
            return constant(term)
        case Compare(op, left, right):
            return Booleans(compare(op, value_of(left, scope), value_of(right, scope)))
        case Arithmetic(op, left, right):
            one, other = (number_of(value_of(operand, scope)) for operand in (left, right))
            return Numbers(numbers.arithmetic(op, one, other))
        case And(operands):
            return Booleans(_chain("AND", operands, scope))
        case Or(operands):
            return Booleans(_chain("OR", operands, scope))
        case Not(operand):
            return Booleans(f"(NOT {condition_sql(operand, scope)})")
        case Negate(operand):
            return Numbers(numbers.negate(number_of(value_of(operand, scope))))
        case In(operand, choices, negated):
            found = is_in(value_of(operand, scope), [value_of(choice, scope) for choice in choices])
            return Booleans(f"(NOT {found})" if negated else found)
        case Call():
            return _call(expression, scope)
        case Cast(datatype, operand):
            return cast(datatype, value_of(operand, scope))
        case Exists(pattern, negated):
            flag = scope.exists[pattern]
            return Booleans(f"(NOT {flag})" if negated else flag)
    assert_never(expression)


def _chain(op: str, operands: tuple[Expression, ...], scope: Scope) -> str:
    return "(" + f" {op} ".join(condition_sql(operand, scope) for operand in operands) + ")"


def _call(call: Call, scope: Scope) -> Value:
    values = [value_of(argument, scope) for argument in call.arguments]
    match call.function:
        case "BOUND":
            return Booleans(f"({term_of(values[0])} IS NOT NULL)")
        case "BNODE":
            return blank_node(values, scope.solution)
        case "IRI":
            return iri_of(values[0], call.base)
    if call.function in WITH_CONSTANTS:
        return WITH_CONSTANTS[call.function](values, call.arguments)
    return FUNCTIONS[call.function](values)
