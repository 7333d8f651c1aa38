"""SPARQL expressions as Spark columns.

A compiled expression is a `Value`: a column of encoded terms, of booleans, of numbers or of
strings. Null is the SPARQL error (or an unbound variable): it passes through functions, `&&` and
`||` as SPARQL prescribes, and a FILTER drops it.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.errors import UnsupportedSparql
from bestbefore.query.algebra import Variable
from bestbefore.query.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
)
from bestbefore.rdf.numbers import DOUBLE_SUFFIXES, EXACT_SUFFIXES
from bestbefore.rdf.terms import XSD, encode
from bestbefore.spark import terms
from bestbefore.spark.columns import column_of

Binary = Callable[[Column, Column], Column]

_COMPARISONS: dict[str, Binary] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ORDERS = ("<", "<=", ">", ">=")
_ARITHMETIC: dict[str, Binary] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip


@dataclass(frozen=True)
class Terms:
    """A column of encoded RDF terms."""

    column: Column


@dataclass(frozen=True)
class Booleans:
    """A column of truth values."""

    column: Column


@dataclass(frozen=True)
class Numbers:
    """Numbers as decimals where they are exact (else null) and always as doubles."""

    exact: Column
    double: Column


@dataclass(frozen=True)
class Strings:
    """A column of plain strings."""

    column: Column


Value = Terms | Booleans | Numbers | Strings


@cache
def compile_condition(expression: Expression) -> Column:
    """The effective boolean value of an expression: true, false or null for an error.

    Each operator costs a call to the JVM; a query's conditions are built once, not per batch.
    """
    return _truth(_compile(expression))


def _compile(expression: Expression) -> Value:  # noqa: C901, PLR0911 - one case per node
    match expression:
        case Variable(name):
            return Terms(F.col(column_of(name)))
        case Constant(term):
            return Terms(F.lit(encode(term)))
        case Compare(op, left, right) if op in _ORDERS and _numeric(left, right):
            numbers = (_numbers(_compile(each)) for each in (left, right))
            return Booleans(_compare_numbers(_COMPARISONS[op], *numbers))
        case Compare(op, left, right):
            return Booleans(_compare(op, _compile(left), _compile(right)))
        case Arithmetic(op, left, right):
            return _arithmetic(op, _compile(left), _compile(right))
        case And(operands):
            return Booleans(reduce(operator.and_, map(compile_condition, operands)))
        case Or(operands):
            return Booleans(reduce(operator.or_, map(compile_condition, operands)))
        case Not(operand):
            return Booleans(~compile_condition(operand))
        case Negate(operand):
            number = _numbers(_compile(operand))
            return Numbers(-number.exact, -number.double)
        case In(operand, choices, negated):
            found = _is_in(_compile(operand), [_compile(choice) for choice in choices])
            return Booleans(~found if negated else found)
        case Call(function, arguments):
            return _call(function, [_compile(argument) for argument in arguments])
        case _:
            assert_never(expression)


def _numeric(*expressions: Expression) -> bool:
    """Whether one of them is a number as written: only numbers are ordered against it."""
    kinds = (*EXACT_SUFFIXES, *DOUBLE_SUFFIXES)
    return any(
        isinstance(each, Constant) and encode(each.term).endswith(kinds) for each in expressions
    )


def _truth(value: Value) -> Column:
    match value:
        case Booleans(column):
            return column
        case Strings(column):
            return column != ""
        case Numbers(_, double):
            return (double != 0) & ~F.isnan(double)
        case Terms(column):
            number = terms.double(column)
            return F.coalesce(
                terms.boolean(column),
                (number != 0) & ~F.isnan(number),
                terms.string(column) != "",
            )
        case _:
            assert_never(value)


def _numbers(value: Value) -> Numbers:
    match value:
        case Numbers():
            return value
        case Terms(column):
            return Numbers(terms.exact(column), terms.double(column))
        case Booleans() | Strings():
            return Numbers(F.lit(None).cast(terms.EXACT_TYPE), F.lit(None).cast("double"))
        case _:
            assert_never(value)


def _term(value: Value) -> Column:
    match value:
        case Terms(column):
            return column
        case Booleans(column):
            return F.concat(F.lit('"'), column.cast("string"), F.lit(f'"^^<{XSD}boolean>'))
        case Strings(column):
            return F.concat(F.lit('"'), column, F.lit('"'))
        case Numbers(exact, double):
            plain = F.regexp_replace(exact.cast("string"), r"\.?0+$", "")
            return F.coalesce(
                F.concat(F.lit('"'), plain, F.lit(f'"^^<{XSD}decimal>')),
                F.concat(F.lit('"'), double.cast("string"), F.lit(f'"^^<{XSD}double>')),
            )
        case _:
            assert_never(value)


def _string(value: Value) -> Column:
    """The characters of a string argument: a plain or language-tagged literal, else an error."""
    if isinstance(value, Strings):
        return value.column
    term = _term(value)
    return F.when(terms.suffix(term).rlike("^(@.*)?$"), terms.lexical(term))


def _compare(op: str, left: Value, right: Value) -> Column:
    """Value comparison (SPARQL 1.1 section 17.3): by number, string, boolean or dateTime."""
    compare = _COMPARISONS[op]
    if isinstance(left, Booleans) and isinstance(right, Booleans):
        return compare(left.column, right.column)
    if isinstance(left, Numbers) or isinstance(right, Numbers):
        return _compare_numbers(compare, _numbers(left), _numbers(right))
    one, other = _term(left), _term(right)
    kinds = [
        _compare_numbers(compare, _numbers(left), _numbers(right)),
        compare(terms.string(one), terms.string(other)),
        compare(terms.boolean(one), terms.boolean(other)),
        compare(terms.instant(one), terms.instant(other)),
    ]
    if op in ("=", "!="):
        kinds.append(_compare_terms(compare, one, other))
    return F.coalesce(*kinds)


def _compare_numbers(compare: Binary, left: Numbers, right: Numbers) -> Column:
    # Spark holds NaN for equal to itself and greater than all else; IEEE 754 and SPARQL do not.
    undefined = F.isnan(left.double) | F.isnan(right.double)
    inexact = F.when(undefined, F.lit(compare is operator.ne)).otherwise(
        compare(left.double, right.double)
    )
    return F.coalesce(
        compare(left.exact, right.exact),
        F.when(left.double.isNotNull() & right.double.isNotNull(), inexact),
    )


def _compare_terms(compare: Binary, left: Column, right: Column) -> Column:
    """Term equality where it is decided: a literal of an unknown type may equal any other one."""
    decided = (
        (left == right)
        | ~terms.is_literal(left)
        | ~terms.is_literal(right)
        | (terms.language(left) != "")
        | (terms.language(right) != "")
        | (_has_known_value(left) & _has_known_value(right))
    )
    return F.when(decided, compare(left, right))


def _has_known_value(literal: Column) -> Column:
    kinds = (terms.string, terms.double, terms.boolean, terms.instant)
    return reduce(operator.or_, [kind(literal).isNotNull() for kind in kinds])


def _arithmetic(op: str, left: Value, right: Value) -> Numbers:
    apply = _ARITHMETIC[op]
    one, other = _numbers(left), _numbers(right)
    if op == "/":
        exact = F.try_divide(one.exact, other.exact)
        forbidden = one.exact.isNotNull() & (other.exact == 0)
        inexact = F.when(~F.coalesce(forbidden, F.lit(False)), _divide(one.double, other.double))  # noqa: FBT003
        return Numbers(exact.try_cast(terms.EXACT_TYPE), inexact)
    return Numbers(apply(one.exact, other.exact).try_cast(terms.EXACT_TYPE),
                   apply(one.double, other.double))  # fmt: skip


def _divide(dividend: Column, divisor: Column) -> Column:
    """IEEE 754 division: by zero it is infinite or NaN, where Spark would give null."""
    infinite = F.signum(dividend) * F.lit(float("inf"))
    return F.when(divisor == 0, infinite).otherwise(dividend / divisor)


def _is_in(operand: Value, choices: list[Value]) -> Column:
    matches = [_compare("=", operand, choice) for choice in choices]
    return reduce(operator.or_, matches, F.lit(False))  # noqa: FBT003


def _call(function: str, arguments: list[Value]) -> Value:
    if function not in _FUNCTIONS:
        raise UnsupportedSparql(f"the function {function} is not supported")
    return _FUNCTIONS[function](arguments)


def _on_term(kind: Callable[[Column], Value], part: Callable[[Column], Column]) -> "Function":
    return lambda arguments: kind(part(_term(arguments[0])))


def _on_strings(test: Callable[[Column, Column], Column]) -> "Function":
    return lambda arguments: Booleans(test(_string(arguments[0]), _string(arguments[1])))


def _absolute(arguments: list[Value]) -> Value:
    number = _numbers(arguments[0])
    return Numbers(F.abs(number.exact), F.abs(number.double))


def _length(arguments: list[Value]) -> Value:
    size = F.char_length(_string(arguments[0]))
    return Numbers(size.cast(terms.EXACT_TYPE), size.cast("double"))


def _with_case(change: Callable[[Column], Column]) -> "Function":
    def apply(arguments: list[Value]) -> Value:
        term = _term(arguments[0])
        changed = change(_string(arguments[0]))
        return Terms(F.concat(F.lit('"'), changed, F.lit('"'), terms.suffix(term)))

    return apply


def _choice(arguments: list[Value]) -> Value:
    condition, then, otherwise = arguments
    truth = _truth(condition)
    return Terms(F.when(truth, _term(then)).when(~truth, _term(otherwise)))


def _regex(arguments: list[Value]) -> Value:
    subject, pattern = _string(arguments[0]), _string(arguments[1])
    if len(arguments) == 2:
        return Booleans(F.regexp_like(subject, pattern))
    flags = F.concat(
        F.lit("(?"), F.regexp_replace(_string(arguments[2]), "[^imsx]", ""), F.lit(")")
    )
    return Booleans(F.regexp_like(subject, F.concat(flags, pattern)))


def _lang_matches(arguments: list[Value]) -> Value:
    tag, wanted = F.lower(_string(arguments[0])), F.lower(_string(arguments[1]))
    prefix = (tag == wanted) | tag.startswith(F.concat(wanted, F.lit("-")))
    return Booleans(F.when(wanted == "*", tag != "").otherwise(prefix))


Function = Callable[[list[Value]], Value]

_FUNCTIONS: dict[str, Function] = {
    "BOUND": _on_term(Booleans, lambda term: term.isNotNull()),
    "STR": _on_term(Strings, terms.text),
    "LANG": _on_term(Strings, terms.language),
    "DATATYPE": _on_term(Terms, terms.datatype),
    "ISIRI": _on_term(Booleans, terms.is_iri),
    "ISURI": _on_term(Booleans, terms.is_iri),
    "ISBLANK": _on_term(Booleans, terms.is_blank),
    "ISLITERAL": _on_term(Booleans, terms.is_literal),
    "ISNUMERIC": _on_term(
        Booleans, lambda term: F.when(term.isNotNull(), terms.double(term).isNotNull())
    ),
    "SAMETERM": lambda arguments: Booleans(_term(arguments[0]) == _term(arguments[1])),
    "CONTAINS": _on_strings(lambda text, part: text.contains(part)),
    "STRSTARTS": _on_strings(lambda text, part: text.startswith(part)),
    "STRENDS": _on_strings(lambda text, part: text.endswith(part)),
    "STRLEN": _length,
    "UCASE": _with_case(F.upper),
    "LCASE": _with_case(F.lower),
    "ABS": _absolute,
    "REGEX": _regex,
    "LANGMATCHES": _lang_matches,
    "COALESCE": lambda arguments: Terms(F.coalesce(*(_term(each) for each in arguments))),
    "IF": _choice,
}
