"""Casts to XML Schema types (SPARQL 1.1 section 17.5, XPath functions section 17.1).

A cast that XPath does not have is an error.
"""

from collections.abc import Callable

from bestbefore.spark.expressions import comparison, dates, numbers, values
from bestbefore.spark.expressions.values import Booleans, Numbers, Strings, Terms, Value
from bestbefore.spark.sql import Cheap, field, has_form, if_known, let, once, quote
from bestbefore.spark.terms import literal


def _to_string(operand: Value) -> Value:
    """A string: the characters of an IRI or literal, numbers as XPath writes them."""
    if isinstance(operand, Strings | Booleans):
        return Strings(values.text_of(operand))
    return Strings(
        let(
            values.comparable(operand),
            lambda one: (
                f"CASE WHEN {one}.f = {comparison.NUMBER} THEN {_written(field(one, 'n'))} "
                f"WHEN {one}.f = {comparison.BOOLEAN} THEN IF({one}.n.e = 1, 'true', 'false') "
                f"ELSE {values.text_of(operand)} END"
            ),
        )
    )


def _written(number: Cheap) -> str:
    """A number as XPath casts it to a string: without exponent where it is near to 1."""
    near = f"abs({number}.d) >= 0.000001D AND abs({number}.d) < 1000000D"
    text = numbers.java_form(number)
    return (
        f"CASE WHEN {near} THEN {numbers.plain(f'CAST({text} AS {numbers.EXACT})')} "
        f"WHEN {number}.d = 0 THEN IF({text} = '0.0', '0', '-0') "
        f"ELSE {numbers.canonical(number)} END"
    )


def _to_boolean(operand: Value) -> Value:
    return Booleans(
        _by_family(
            operand,
            from_string=_truth_of_text,
            from_number=numbers.truth,
            from_boolean=lambda number: f"{number}.e = 1",
        )
    )


@once
def _truth_of_text(form: Cheap) -> str:
    return (
        f"CASE WHEN {form} IN ('true', '1') THEN TRUE WHEN {form} IN ('false', '0') THEN FALSE END"
    )


def _to_number(kind: int) -> Callable[[Value], Value]:
    is_exact = kind <= numbers.DECIMAL
    make = numbers.exact if is_exact else numbers.inexact
    target = numbers.EXACT if is_exact else "DOUBLE"

    @once
    def from_text(form: Cheap) -> str:
        value = make(f"CAST({form} AS {target})", kind)
        return f"CASE WHEN {has_form(form, numbers.FORMS[kind])} THEN {value} END"

    def from_number(number: Cheap) -> str:
        if not is_exact:
            return make(numbers.double_of(number), kind)
        # Infinite and undefined numbers have no exact value.
        return make(_whole(f"coalesce({number}.e, CAST({number}.d AS {target}))", kind), kind)

    return lambda operand: Numbers(
        _by_family(
            operand, from_string=from_text, from_number=from_number, from_boolean=from_number
        )
    )


def _whole(value: str, kind: int) -> str:
    """A value without what follows its point, for integers."""
    if kind == numbers.DECIMAL:
        return value
    return let(value, lambda one: f"IF({one} < 0, ceil({one}), floor({one}))")


def _to_date_time(operand: Value) -> Value:
    if not isinstance(operand, Terms):
        return Terms(_date_time(values.string_of(operand)))
    kinds = ("", dates.DATE_TIME)
    return Terms(let(operand.sql, lambda term: _date_time(dates.text_of_kinds(term, kinds))))


@once
def _date_time(text: Cheap) -> str:
    written = literal(dates.plain_form(text), quote(dates.DATE_TIME))
    return if_known(dates.instant(text), written)


def _by_family(
    operand: Value,
    *,
    from_string: Callable[[str], str],
    from_number: Callable[[Cheap], str],
    from_boolean: Callable[[Cheap], str],
) -> str:
    match operand:
        case Strings():
            return from_string(operand.sql)
        case Numbers():
            return let(operand.sql, from_number)
    text = values.string_of(operand)
    return let(
        values.comparable(operand),
        lambda one: (
            f"CASE {one}.f WHEN {comparison.NUMBER} THEN {from_number(field(one, 'n'))} "
            f"WHEN {comparison.BOOLEAN} THEN {from_boolean(field(one, 'n'))} "
            f"WHEN {comparison.STRING} THEN {from_string(text)} END"
        ),
    )


CASTS: dict[str, Callable[[Value], Value]] = {
    "string": _to_string,
    "boolean": _to_boolean,
    **{kind: _to_number(rank) for rank, kind in enumerate(numbers.KINDS)},
    "dateTime": _to_date_time,
}
