"""Numbers as Spark SQL: their values, their arithmetic and their canonical forms.

A number is a struct of `k`, its rank in the order of promotion (integer, decimal, float, double),
and its value: `e`, exact, for the first two, `d`, a double, for the others. A float is a double
that was rounded to one. Exact values have 19 digits before the point and 18 after it; a value that
does not fit is an error.
"""

import re
from functools import reduce
from typing import Final

from bestbefore.rdf.lexical_forms import INTEGER_TYPES, NUMBER_FORMS
from bestbefore.rdf.terms import XSD
from bestbefore.spark import terms
from bestbefore.spark.sql import (
    Cheap,
    both_once,
    chain,
    has_form,
    if_known,
    let,
    once,
    one_of,
    quote,
)
from bestbefore.spark.terms import type_suffix

INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
KINDS: Final = ("integer", "decimal", "float", "double")
EXACT = "DECIMAL(37,18)"
NO_EXACT, NO_DOUBLE = f"CAST(NULL AS {EXACT})", "double(NULL)"
NO_NUMBER = f"CAST(NULL AS STRUCT<k: INT, e: {EXACT}, d: DOUBLE>)"

INTEGER_SUFFIXES = tuple(f"^^<{datatype}>" for datatype in INTEGER_TYPES)
SUFFIXES = (*INTEGER_SUFFIXES, *(type_suffix(kind) for kind in KINDS[1:]))
FORMS = tuple(NUMBER_FORMS[f"{XSD}{kind}"] for kind in KINDS)
# Those that fit into an exact value.
_SHORT_INTEGER = r"[+-]?0*[0-9]{1,19}"
_SHORT_DECIMAL = r"[+-]?(?:0*[0-9]{1,19}(?:\.[0-9]*)?|\.[0-9]+)"


@once
def of_term(term: Cheap) -> str:
    """The number that a term is, null if it is none."""
    ending = terms.suffix(term)
    read = of_literal(terms.form(term, ending), ending)
    return f"CASE WHEN {terms.is_literal(term)} THEN {read} END"


def of_literal(form: Cheap, ending: Cheap) -> str:
    """The number that a literal is, null if it is none, by its lexical form and its suffix."""
    cases = (
        f"WHEN {condition} THEN {_number(value, kind)}"
        for condition, kind, value in _cases(form, ending)
    )
    return f"CASE {' '.join(cases)} END"


def _cases(form: str, ending: str) -> list[tuple[str, int, str]]:
    """The kinds of numbers: when a literal is one, which it is, and its value."""
    exact_value = f"CAST({form} AS {EXACT})"
    double, single = f"double({form})", f"double(float({form}))"
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
    return chain("OR", [condition for condition, _, _ in _cases(form, ending)])


def _number(value: str, kind: int) -> str:
    """The struct of a number whose value is surely one."""
    return _struct(kind, e=value) if kind <= DECIMAL else _struct(kind, d=value)


def _struct(kind: str | int, *, e: str = NO_EXACT, d: str = NO_DOUBLE) -> str:
    return f"named_struct('k', {kind}, 'e', {e}, 'd', {d})"


def exact(value: str, kind: str | int) -> str:
    """An integer or decimal; null if the value is, as one that overflows."""
    fitting = f"CAST({value} AS {EXACT})"
    return let(
        Cheap(fitting) if isinstance(value, Cheap) else fitting,
        lambda number: if_known(number, _struct(kind, e=number)),
    )


@once
def inexact(value: Cheap, kind: str | int) -> str:
    """A float or double; null if the value is."""
    return if_known(value, _struct(kind, d=_rounded(value, kind)))


def _rounded(value: str, kind: str | int) -> str:
    """A double with the precision of its type."""
    return f"IF({kind} = {FLOAT}, double(float({value})), {value})"


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
    return Cheap(_number(value if kind <= DECIMAL else f"double({value})", kind))


ZERO = Cheap(_number(f"CAST(0 AS {EXACT})", INTEGER))


@once
def double_of(number: Cheap) -> str:
    """The value of any number as a double."""
    return f"coalesce({number}.d, double({number}.e))"


@once
def truth(number: Cheap) -> str:
    """The effective boolean value of a number."""
    return f"coalesce({number}.e != 0, {number}.d != 0 AND NOT isnan({number}.d))"


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


@both_once
def compare(one: Cheap, other: Cheap, op: str) -> str:
    """A comparison of two numbers by value; null if either is none."""
    single = f"greatest({one}.k, {other}.k) = {FLOAT}"
    doubles = double_of(one), double_of(other)
    floats = (f"float({double})" for double in doubles)
    return (
        f"CASE WHEN {one}.e IS NOT NULL AND {other}.e IS NOT NULL THEN {one}.e {op} {other}.e "
        f"WHEN {one} IS NULL OR {other} IS NULL THEN NULL "
        f"WHEN {single} THEN {_compare_inexact(op, *floats)} "
        f"ELSE {_compare_inexact(op, *doubles)} END"
    )


@both_once
def arithmetic(one: Cheap, other: Cheap, op: str) -> str:
    """The sum, difference, product or quotient of two numbers, of the wider of their types."""
    both_exact = f"{one}.e IS NOT NULL AND {other}.e IS NOT NULL"
    # Integers divide into decimals.
    kind = f"greatest({one}.k, {other}.k{f', {DECIMAL}' if op == '/' else ''})"
    exactly = _times(f"{one}.e", f"{other}.e") if op == "*" else f"{one}.e {op} {other}.e"
    left, right = (_rounded(double_of(number), kind) for number in (one, other))
    inexactly = _divide(left, right) if op == "/" else f"{left} {op} {right}"
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


@both_once
def _divide(dividend: Cheap, divisor: Cheap) -> str:
    """IEEE 754 division: by zero it is infinite or NaN, where Spark would give null."""
    negative = f"(({dividend} < 0) != (string({divisor}) = '-0.0'))"
    infinite = f"IF({negative}, double('-INF'), double('INF'))"
    by_zero = f"IF({dividend} = 0 OR isnan({dividend}), double('NaN'), {infinite})"
    return f"IF({divisor} = 0, {by_zero}, {dividend} / {divisor})"


_WHOLE = "IF(isnan({{0}}) OR abs({{0}}) >= 9007199254740992D, {{0}}, double({}))"
# What changes an exact value, and what a double: one of 2^53 or more is whole, and would not fit
# what Spark's CEIL gives.
_CHANGES = {
    "-": ("-{0}", "-{0}"),
    "ABS": ("abs({0})", "abs({0})"),
    "CEIL": ("ceil({0})", _WHOLE.format("ceil({0})")),
    "FLOOR": ("floor({0})", _WHOLE.format("floor({0})")),
    # The larger one if two whole numbers are as near.
    "ROUND": (f"floor({{0}} + CAST(0.5 AS {EXACT}))", _WHOLE.format("floor(({0} + 0.5D))")),
}


@once
def changed(number: Cheap, function: str) -> str:
    """A number changed by `-`, ABS, CEIL, FLOOR or ROUND, its type kept."""
    exactly, inexactly = _CHANGES[function]
    return (
        f"CASE WHEN {number}.e IS NOT NULL "
        f"THEN {exact(exactly.format(f'{number}.e'), f'{number}.k')} WHEN {number}.d IS NOT NULL "
        f"THEN {inexact(inexactly.format(f'{number}.d'), f'{number}.k')} END"
    )


@once
def to_term(number: Cheap) -> str:
    """A number as an encoded literal, in canonical form."""
    endings = " ".join(
        f"WHEN {kind} THEN {quote(type_suffix(local))}" for kind, local in enumerate(KINDS)
    )
    return terms.literal(canonical(number), f"CASE {number}.k {endings} END")


@once
def canonical(number: Cheap) -> str:
    """The canonical lexical form of a number: `5`, `2.5`, `1.0E3`."""
    form = _scientific(java_form(number))
    return f"IF({number}.k > {DECIMAL}, {form}, {plain(f'{number}.e')})"


def java_form(number: Cheap) -> str:
    """A float or double as Java writes it."""
    single = f"string(float({number}.d))"
    return f"IF({number}.k = {FLOAT}, {single}, string({number}.d))"


def plain(value: str) -> str:
    """An exact value without exponent and without zeros that say nothing."""
    # Java writes 0.0000001 as 1E-7, but never what is 1 or more.
    small = f"concat(IF({value} < 0, '-0', '0'), substr(string(abs({value}) + 1), 2))"
    written = f"IF(abs({value}) < 1, {small}, string({value}))"
    return f"regexp_replace({written}, '\\\\.?0+$', '')"


@once
def _scientific(text: Cheap) -> str:
    """The canonical form of a double from the way Java writes it: `1234.5` is `1.2345E3`."""
    digits = f"ltrim('0', replace(ltrim('-', {text}), '.', ''))"
    return (
        f"CASE WHEN {text} RLIKE 'Inf' THEN replace({text}, 'Infinity', 'INF') "
        f"WHEN {text} RLIKE '[EN]' THEN {text} "
        f"WHEN {text} RLIKE '^-?0.0$' THEN concat({text}, 'E0') ELSE {_shift(digits, text)} END"
    )


@once
def _shift(digits: Cheap, text: Cheap) -> str:
    """The point after the first digit, and how far it moved."""
    small = f"length(regexp_extract({text}, '^-?0\\\\.(0*)', 1))"
    exponent = f"IF({text} RLIKE '^-?0', -1 - {small}, instr(ltrim('-', {text}), '.') - 2)"
    rest = f"rtrim('0', substr({digits}, 2))"
    return (
        f"concat(IF(startswith({text}, '-'), '-', ''), substr({digits}, 1, 1), '.', "
        f"IF({rest} = '', '0', {rest}), 'E', {exponent})"
    )
