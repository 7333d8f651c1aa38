"""Expressions to Spark SQL: one case per node."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never, cast

from bestbefore.query import expressions as nodes
from bestbefore.query.algebra import Pattern
from bestbefore.query.expressions import Expression
from bestbefore.spark.expressions import numbers, values
from bestbefore.spark.expressions.casts import CASTS
from bestbefore.spark.expressions.functions import FUNCTIONS, WITH_CONSTANTS, blank_node, iri_of
from bestbefore.spark.expressions.relations import compare, is_in
from bestbefore.spark.expressions.values import Booleans, Numbers, Terms, Value
from bestbefore.spark.sql import NO_TERM, Cheap, call, chain


@dataclass(frozen=True)
class Scope:
    """What an expression sees: the SQL of variables and of EXISTS patterns, and its solution.

    `solution` is what tells one mapping from all others.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    exists: Mapping[Pattern, str] = field(default_factory=dict)
    solution: str | None = None


def condition_sql(expression: Expression, scope: Scope) -> str:
    """The SQL of the effective boolean value of an expression."""
    return values.truth_of(value_of(expression, scope))


def term_sql(expression: Expression, scope: Scope) -> str:
    """The SQL of the term that an expression gives."""
    return values.term_of(value_of(expression, scope))


def value_of(expression: Expression, scope: Scope) -> Value:  # noqa: C901, PLR0911 - one case per node
    """The compiled form of an expression."""
    match expression:
        case nodes.Variable(variable):
            return Terms(scope.variables.get(variable, Cheap(NO_TERM)))
        case nodes.Constant(term):
            return values.constant(term)
        case nodes.Compare(op, left, right):
            return Booleans(compare(op, value_of(left, scope), value_of(right, scope)))
        case nodes.Arithmetic(op, left, right):
            one, other = (values.number_of(value_of(operand, scope)) for operand in (left, right))
            return Numbers(numbers.arithmetic(one, other, op))
        case nodes.And(operands):
            return Booleans(_chain("AND", _among(operands, "!="), scope))
        case nodes.Or(operands):
            return Booleans(_chain("OR", _among(operands, "="), scope))
        case nodes.Not(operand):
            return Booleans(call("not", condition_sql(operand, scope)))
        case nodes.Negate(operand):
            return Numbers(numbers.changed(values.number_of(value_of(operand, scope)), "-"))
        case nodes.In(operand, choices, negated):
            found = is_in(value_of(operand, scope), [value_of(choice, scope) for choice in choices])
            return Booleans(call("not", found) if negated else found)
        case nodes.Call():
            return _call(expression, scope)
        case nodes.Cast(datatype, operand):
            return CASTS[datatype](value_of(operand, scope))
        case nodes.Exists(pattern, negated):
            flag = scope.exists[pattern]
            return Booleans(call("not", flag) if negated else flag)
    assert_never(expression)


def _among(operands: Iterable[Expression], op: str) -> list[Expression]:
    """Conditions, of which those that compare one variable with constants are an IN, or NOT IN.

    That is what an IN stands for; and in SQL a comparison is much longer than one more choice.
    """
    found, places = list[Expression](), dict[nodes.Variable, int]()
    for operand in operands:
        match operand:
            case nodes.Compare(same, nodes.Variable() as variable, nodes.Constant() as choice) | (
                nodes.Compare(same, nodes.Constant() as choice, nodes.Variable() as variable)
            ) if same == op:
                place = places.setdefault(variable, len(found))
                if place == len(found):
                    found.append(nodes.In(variable, (choice,), negated=op == "!="))
                else:
                    one = cast("nodes.In", found[place])
                    found[place] = replace(one, choices=(*one.choices, choice))
            case _:
                found.append(operand)
    return found


def _chain(op: str, operands: Iterable[Expression], scope: Scope) -> str:
    return chain(op, [condition_sql(operand, scope) for operand in operands])


def _call(node: nodes.Call, scope: Scope) -> Value:
    arguments = [value_of(argument, scope) for argument in node.arguments]
    match node.function:
        case "BOUND":
            return Booleans(call("isnotnull", values.term_of(arguments[0])))
        case "BNODE":
            return blank_node(arguments, scope.solution)
        case "IRI":
            return iri_of(arguments[0], node.base)
    if node.function in WITH_CONSTANTS:
        return WITH_CONSTANTS[node.function](arguments, node.arguments)
    return FUNCTIONS[node.function](arguments)
