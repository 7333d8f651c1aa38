"""Numbers as Spark SQL: their values, their arithmetic and their canonical forms.

A number is a struct of `k`, its rank in the order of promotion (integer, decimal, float, double),
and its value: `e`, exact, for the first two, `d`, a double, for the others. A float is a double
that was rounded to one. Exact values have 19 digits before the point and 18 after it; a value that
does not fit is an error.
"""

import re
from collections.abc import Callable
from functools import reduce
from typing import Final

from bestbefore.rdf.lexical_forms import INTEGER_TYPES, NUMBER_FORMS
from bestbefore.rdf.terms import XSD
from bestbefore.spark.sql import Cheap, has_form, let, let_both, one_of, quote
from bestbefore.spark.terms import form as lexical_form
from bestbefore.spark.terms import is_literal, literal, suffix, type_suffix

INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
Step = Callable[[str], str]
KINDS: Final = ("integer", "decimal", "float", "double")
EXACT = "DECIMAL(37,18)"
NO_EXACT, NO_DOUBLE = f"CAST(NULL AS {EXACT})", "CAST(NULL AS DOUBLE)"
NO_NUMBER = f"CAST(NULL AS STRUCT<k: INT, e: {EXACT}, d: DOUBLE>)"

INTEGER_SUFFIXES = tuple(f"^^<{datatype}>" for datatype in INTEGER_TYPES)
SUFFIXES = (*INTEGER_SUFFIXES, *(type_suffix(kind) for kind in KINDS[1:]))
FORMS = tuple(NUMBER_FORMS[f"{XSD}{kind}"] for kind in KINDS)
# Those that fit into an exact value.
_SHORT_INTEGER = r"[+-]?0*[0-9]{1,19}"
_SHORT_DECIMAL = r"[+-]?(?:0*[0-9]{1,19}(?:\.[0-9]*)?|\.[0-9]+)"


def of_term(term: Cheap) -> str:
    """The number that a term is, null if it is none."""
    read = let(suffix(term), lambda ending: of_literal(lexical_form(term, ending), ending))
    return f"CASE WHEN {is_literal(term)} THEN {read} END"


def of_literal(form: str, ending: Cheap) -> str:
    """The number that a literal is, null if it is none, by its lexical form and its suffix."""

    def read(text: Cheap) -> str:
        cases = (
            f"WHEN {condition} THEN {_number(value, kind)}"
            for condition, kind, value in _cases(text, ending)
        )
        return f"CASE {' '.join(cases)} END"

    return let(form, read)


def _cases(form: str, ending: str) -> list[tuple[str, int, str]]:
    """The kinds of numbers: when a literal is one, which it is, and its value."""
    exact_value = f"CAST({form} AS {EXACT})"
    double, single = f"CAST({form} AS DOUBLE)", f"CAST(CAST({form} AS FLOAT) AS DOUBLE)"
    cases = [
        (INTEGER, INTEGER_SUFFIXES, _SHORT_INTEGER, exact_value),
        (DECIMAL, (type_suffix("decimal"),), _SHORT_DECIMAL, exact_value),
        (DOUBLE, (type_suffix("double"),), FORMS[DOUBLE], double),
        (FLOAT, (type_suffix("float"),), FORMS[FLOAT], single),
    ]
    return [
        (f"{one_of(ending, suffixes)} AND {has_form(form, pattern)}", kind, value)
        for kind, suffixes, pattern, value in cases
    ]


def is_number(form: str, ending: str) -> str:
    """Whether a literal is a number, by its lexical form and its suffix."""
    return f"({' OR '.join(condition for condition, _, _ in _cases(form, ending))})"


def _number(value: str, kind: str | int) -> str:
    """The struct of a number whose value is surely one."""
    if isinstance(kind, int) and kind <= DECIMAL:
        return f"named_struct('k', {kind}, 'e', {value}, 'd', {NO_DOUBLE})"
    return f"named_struct('k', {kind}, 'e', {NO_EXACT}, 'd', {value})"


def exact(value: str, kind: str | int) -> str:
    """An integer or decimal; null if the value is, as one that overflows."""
    fitting = f"CAST({value} AS {EXACT})"
    return let(
        Cheap(fitting) if isinstance(value, Cheap) else fitting,
        lambda number: (
            f"CASE WHEN {number} IS NOT NULL THEN "
            f"named_struct('k', {kind}, 'e', {number}, 'd', {NO_DOUBLE}) END"
        ),
    )


def inexact(value: str, kind: str | int) -> str:
    """A float or double; null if the value is."""
    return let(
        value,
        lambda number: (
            f"CASE WHEN {number} IS NOT NULL THEN named_struct('k', {kind}, 'e', {NO_EXACT}, "
            f"'d', {_rounded(number, kind)}) END"
        ),
    )


def _rounded(value: str, kind: str | int) -> str:
    """A double with the precision of its type."""
    return f"IF({kind} = {FLOAT}, CAST(CAST({value} AS FLOAT) AS DOUBLE), {value})"


def kind_of(datatype: str) -> int | None:
    """The rank of a type in the order of promotion, None for those that are not in it."""
    local = datatype.removeprefix(XSD)
    return KINDS.index(local) if local in KINDS else None


def constant(form: str, datatype: str) -> Cheap | None:
    """A number as written in a query, by its lexical form and its type."""
    kind, text = kind_of(datatype), quote(form)
    if kind is None or not re.fullmatch(FORMS[kind], form):
        return None
    value = f"CAST({text} AS {EXACT if kind <= DECIMAL else KINDS[kind]})"
    return Cheap(_number(value if kind <= DECIMAL else f"CAST({value} AS DOUBLE)", kind))


ZERO = Cheap(_number(f"CAST(0 AS {EXACT})", INTEGER))


def double_of(number: Cheap) -> str:
    """The value of any number as a double."""
    return f"coalesce({number}.d, CAST({number}.e AS DOUBLE))"


def truth(number: str) -> str:
    """The effective boolean value of a number."""
    return let(number, lambda one: f"coalesce({one}.e != 0, {one}.d != 0 AND NOT isnan({one}.d))")


def compare(op: str, left: str, right: str) -> str:
    """A comparison of two numbers by value; null if either is none."""
    return let_both(left, right, lambda one, other: _compare(op, one, other))


def compare_literal(op: str, literal_: tuple[str, str], constant_: Cheap, kind: int) -> str:
    """The cases of a literal, by form and suffix, compared with a constant of a known kind."""
    cases = []
    for condition, own, value in _cases(*literal_):
        wider = max(own, kind)
        if wider <= DECIMAL:
            test = f"{value} {op} {constant_}.e"
        else:
            target = KINDS[wider].upper()
            one, other = (f"CAST({number} AS {target})" for number in (value, double_of(constant_)))
            test = _compare_inexact(op, one, other)
        cases.append(f"WHEN {condition} THEN {test}")
    return " ".join(cases)


def _compare_inexact(op: str, one: str, other: str) -> str:
    # Spark holds NaN for equal to itself and greater than all else; IEEE 754 does not.
    return f"IF(isnan({one}) OR isnan({other}), {str(op == '!=').upper()}, {one} {op} {other})"


def _compare(op: str, one: Cheap, other: Cheap) -> str:
    single = f"greatest({one}.k, {other}.k) = {FLOAT}"
    doubles = double_of(one), double_of(other)
    floats = (f"CAST({double} AS FLOAT)" for double in doubles)
    return (
        f"CASE WHEN {one}.e IS NOT NULL AND {other}.e IS NOT NULL THEN {one}.e {op} {other}.e "
        f"WHEN {one} IS NULL OR {other} IS NULL THEN NULL "
        f"WHEN {single} THEN {_compare_inexact(op, *floats)} "
        f"ELSE {_compare_inexact(op, *doubles)} END"
    )


def arithmetic(op: str, left: str, right: str) -> str:
    """The sum, difference, product or quotient of two numbers, of the wider of their types."""
    return let_both(left, right, lambda one, other: _arithmetic(op, one, other))


def _arithmetic(op: str, one: Cheap, other: Cheap) -> str:
    both_exact = f"{one}.e IS NOT NULL AND {other}.e IS NOT NULL"
    # Integers divide into decimals.
    kind = f"greatest({one}.k, {other}.k{f', {DECIMAL}' if op == '/' else ''})"
    exactly = _times(f"{one}.e", f"{other}.e") if op == "*" else f"{one}.e {op} {other}.e"
    doubles = [_rounded(double_of(number), kind) for number in (one, other)]
    inexactly = (
        let_both(doubles[0], doubles[1], _divide)
        if op == "/"
        else f"{doubles[0]} {op} {doubles[1]}"
    )
    return (
        f"CASE WHEN {both_exact} THEN {exact(exactly, kind)} "
        f"WHEN {one} IS NOT NULL AND {other} IS NOT NULL THEN {inexact(inexactly, kind)} END"
    )


def _times(left: str, right: str) -> str:
    """An exact product, in parts: Spark would cut the digits after the point of a whole one."""

    def parts(value: str) -> tuple[str, str]:
        whole = f"CAST({value} AS DECIMAL(19,0))"
        return whole, f"CAST({value} - {whole} AS DECIMAL(18,18))"

    products = [
        f"CAST({one} * {other} AS {EXACT})" for one in parts(left) for other in parts(right)
    ]
    return reduce(lambda total, product: f"CAST({total} + {product} AS {EXACT})", products)


def _divide(dividend: Cheap, divisor: Cheap) -> str:
    """IEEE 754 division: by zero it is infinite or NaN, where Spark would give null."""
    negative = f"(({dividend} < 0) != (CAST({divisor} AS STRING) = '-0.0'))"
    infinite = f"IF({negative}, CAST('-INF' AS DOUBLE), CAST('INF' AS DOUBLE))"
    by_zero = f"IF({dividend} = 0 OR isnan({dividend}), CAST('NaN' AS DOUBLE), {infinite})"
    return f"IF({divisor} = 0, {by_zero}, {dividend} / {divisor})"


def negate(number: str) -> str:
    """A number with its sign changed."""
    return same_kind(number, lambda value: f"-{value}", lambda value: f"-{value}")


def absolute(number: str) -> str:
    """A number without its sign."""
    return same_kind(number, lambda value: f"abs({value})", lambda value: f"abs({value})")


def ceiling(number: str) -> str:
    """The smallest whole number that is not below a number, of its type."""
    # A double of 2^53 or more is whole, and would not fit what Spark's CEIL gives.
    return same_kind(number, lambda value: f"ceil({value})", lambda value: _whole("ceil", value))


def floor(number: str) -> str:
    """The largest whole number that is not above a number, of its type."""
    return same_kind(number, lambda value: f"floor({value})", lambda value: _whole("floor", value))


def round_half_up(number: str) -> str:
    """The nearest whole number, the larger one if two are, of the number's type."""
    return same_kind(
        number,
        lambda value: f"floor({value} + CAST(0.5 AS {EXACT}))",
        lambda value: _whole("floor", f"({value} + 0.5D)", value),
    )


def _whole(function: str, value: str, unchanged: str | None = None) -> str:
    kept = unchanged or value
    return (
        f"IF(isnan({kept}) OR abs({kept}) >= 9007199254740992D, {kept}, "
        f"CAST({function}({value}) AS DOUBLE))"
    )


def same_kind(number: str, exactly: Step, inexactly: Step) -> str:
    """A number changed by one function or the other, its type kept."""
    return let(
        number,
        lambda one: (
            f"CASE WHEN {one}.e IS NOT NULL THEN {exact(exactly(f'{one}.e'), f'{one}.k')} "
            f"WHEN {one}.d IS NOT NULL THEN {inexact(inexactly(f'{one}.d'), f'{one}.k')} END"
        ),
    )


def to_term(number: str) -> str:
    """A number as an encoded literal, in canonical form."""
    endings = " ".join(
        f"WHEN {kind} THEN {quote(type_suffix(local))}" for kind, local in enumerate(KINDS)
    )
    return let(number, lambda one: literal(canonical(one), f"CASE {one}.k {endings} END"))


def canonical(number: Cheap) -> str:
    """The canonical lexical form of a number: `5`, `2.5`, `1.0E3`."""
    single = f"CAST(CAST({number}.d AS FLOAT) AS STRING)"
    written = f"IF({number}.k = {FLOAT}, {single}, CAST({number}.d AS STRING))"
    return f"IF({number}.k > {DECIMAL}, {_scientific(written)}, {plain(f'{number}.e')})"


def plain(value: str) -> str:
    """An exact value without exponent and without zeros that say nothing."""
    # Java writes 0.0000001 as 1E-7, but never what is 1 or more.
    small = f"concat(IF({value} < 0, '-0', '0'), substr(CAST(abs({value}) + 1 AS STRING), 2))"
    written = f"IF(abs({value}) < 1, {small}, CAST({value} AS STRING))"
    return f"regexp_replace({written}, '\\\\.?0+$', '')"


def _scientific(written: str) -> str:
    """The canonical form of a double from the way Java writes it: `1234.5` is `1.2345E3`."""
    return let(
        written,
        lambda text: (
            f"CASE WHEN {text} RLIKE 'Inf' THEN replace({text}, 'Infinity', 'INF') "
            f"WHEN {text} RLIKE '[EN]' THEN {text} "
            f"WHEN {text} RLIKE '^-?0.0$' THEN concat({text}, 'E0') ELSE "
            + let(
                f"ltrim('0', replace(ltrim('-', {text}), '.', ''))",
                lambda digits: _shift(text, digits),
            )
            + " END"
        ),
    )


def _shift(text: Cheap, digits: Cheap) -> str:
    """The point after the first digit, and how far it moved."""
    small = f"length(regexp_extract({text}, '^-?0\\\\.(0*)', 1))"
    exponent = f"IF({text} RLIKE '^-?0', -1 - {small}, instr(ltrim('-', {text}), '.') - 2)"
    rest = f"rtrim('0', substr({digits}, 2))"
    return (
        f"concat(IF(startswith({text}, '-'), '-', ''), substr({digits}, 1, 1), '.', "
        f"IF({rest} = '', '0', {rest}), 'E', {exponent})"
    )
