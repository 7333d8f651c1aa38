"""Comparisons of compiled values, each in the cheapest way that what is known of them allows."""

from bestbefore.rdf.terms import Literal
from bestbefore.spark.expressions import comparison, numbers, values
from bestbefore.spark.expressions.values import Booleans, Numbers, Strings, Terms, Value
from bestbefore.spark.sql import Cheap, call, let

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(op: str, left: Value, right: Value) -> str:
    """A comparison by value: `=`, `!=`, `<`, `<=`, `>` or `>=`."""
    match op:
        case "=":
            return equal(left, right)
        case "!=":
            return call("not", equal(left, right))
    return _ordered(op, left, right)


def is_in(operand: Value, choices: list[Value]) -> str:
    """Whether a value equals one of some; an error of one counts unless another is equal."""
    if not choices:
        return "FALSE"
    if isinstance(operand, Terms) and all(isinstance(e, Terms) and e.alone for e in choices):
        return f"({operand.sql} IN ({', '.join(choice.sql for choice in choices)}))"
    # Spark's `exists` is null as OR is, and the comparison is written once for all choices.
    known = ", ".join(values.comparable(choice) for choice in choices)
    choice = Cheap("choice")
    return let(
        values.comparable(operand),
        lambda one: f"exists(array({known}), {choice} -> {comparison.equal(one, choice)})",
    )


def equal(left: Value, right: Value) -> str:
    """Whether two values are equal."""
    match left, right:
        case (Strings(one), Strings(other)) | (Booleans(one), Booleans(other)):
            return call("=", one, other)
        case (Terms(one), Terms(other, True)) | (Terms(one, True), Terms(other)):
            return call("=", one, other)
        case Numbers(one), Numbers(other):
            return numbers.compare(one, other, "=")
        case Terms(Cheap() as term), _:
            return _term_equals(term, right)
        case _, Terms(Cheap() as term):
            return _term_equals(term, left)
    return comparison.equal(values.comparable(left), values.comparable(right))


def _term_equals(term: Cheap, value: Value) -> str:
    match value:
        case Numbers(Cheap() as number, Literal()):
            return comparison.equals_number(term, number, value.kind or 0)
        case Strings(Cheap() as characters):
            return comparison.equals_string(term, characters)
    return comparison.equal(values.comparable(Terms(term)), values.comparable(value))


def _ordered(op: str, left: Value, right: Value) -> str:
    match left, right:
        case Terms(Cheap() as term), Numbers(Cheap() as number, Literal()):
            return comparison.number_ordered(op, term, number, right.kind or 0)
        case Numbers(Cheap() as number, Literal()), Terms(Cheap() as term):
            return comparison.number_ordered(_MIRRORED[op], term, number, left.kind or 0)
        case (Numbers(), _) | (_, Numbers()):
            # Only numbers are ordered against a number.
            return numbers.compare(values.number_of(left), values.number_of(right), op)
        case Strings(one), Strings(other):
            return call(op, one, other)
    return comparison.ordered(values.comparable(left), values.comparable(right), op)
