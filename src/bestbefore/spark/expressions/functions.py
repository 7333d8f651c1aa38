"""The built-in functions of SPARQL, by name."""

from collections.abc import Callable, Sequence
from functools import partial

from bestbefore.query.expressions import Expression
from bestbefore.spark import terms
from bestbefore.spark.expressions import dates, iris, numbers, strings, values
from bestbefore.spark.expressions.strings import Function
from bestbefore.spark.expressions.values import Booleans, Numbers, Strings, Terms, Value
from bestbefore.spark.sql import NO_TERM, Cheap, call, let, once, quote


def _of_term(kind: Callable[[str], Value], part: Callable[[Cheap], str]) -> Function:
    return lambda arguments: kind(let(values.term_of(arguments[0]), part))


def _of_number(function: str) -> Function:
    return lambda arguments: Numbers(numbers.changed(values.number_of(arguments[0]), function))


def _is_numeric(term: Cheap) -> str:
    return f"IF({term} IS NULL, NULL, {numbers.of_term(term)} IS NOT NULL)"


def _same_term(arguments: Sequence[Value]) -> Value:
    one, other = map(values.term_of, arguments)
    return Booleans(call("=", one, other))


def _coalesced(arguments: Sequence[Value]) -> Value:
    return Terms(f"coalesce({', '.join(map(values.term_of, arguments))})" if arguments else NO_TERM)


def _chosen(arguments: Sequence[Value]) -> Value:
    condition, then, otherwise = arguments
    one, other = values.term_of(then), values.term_of(otherwise)
    return Terms(
        let(
            values.truth_of(condition),
            lambda truth: f"CASE WHEN {truth} THEN {one} WHEN NOT {truth} THEN {other} END",
        )
    )


def _zone_duration(term: Cheap) -> str:
    return terms.literal(dates.zone_duration(term), quote(terms.type_suffix("dayTimeDuration")))


# The time at which Spark began the job: one instant for all of its rows and windows.
_NOW = terms.literal(
    "date_format(current_timestamp(), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\")", quote(dates.DATE_TIME)
)


def iri_of(argument: Value, base: str | None) -> Value:
    """IRI: an IRI as it is, or one made from a string and the query's base, if it has one."""
    if isinstance(argument, Strings):
        return Terms(iris.iri(argument.sql, base))
    return Terms(_iri_of_term(values.term_of(argument), base))


@once
def _iri_of_term(term: Cheap, base: str | None) -> str:
    made = iris.iri(values.string_of(Terms(term)), base)
    return f"CASE WHEN {terms.is_iri(term)} THEN {term} ELSE {made} END"


def blank_node(arguments: Sequence[Value], solution: str | None) -> Value:
    """BNODE: a new blank node; with a label, the same one for the same solution and label."""
    if not arguments:
        return Terms("concat('_:b', replace(uuid(), '-', ''))")
    label = values.string_of(arguments[0])
    identity = f"concat({solution or 'uuid()'}, ' ', {label})"
    return Terms(f"concat('_:b', md5({identity}))")


FUNCTIONS: dict[str, Function] = {
    "STR": lambda arguments: Strings(values.text_of(arguments[0])),
    "LANG": _of_term(Strings, terms.language),
    "DATATYPE": _of_term(Terms, terms.datatype),
    "ISIRI": _of_term(Booleans, terms.is_iri),
    "ISBLANK": _of_term(Booleans, terms.is_blank),
    "ISLITERAL": _of_term(Booleans, terms.is_literal),
    "ISNUMERIC": _of_term(Booleans, _is_numeric),
    "SAMETERM": _same_term,
    "COALESCE": _coalesced,
    "IF": _chosen,
    "STRLEN": strings.length,
    "UCASE": strings.changed(lambda text: f"upper({text})"),
    "LCASE": strings.changed(lambda text: f"lower({text})"),
    "SUBSTR": strings.part,
    "CONCAT": strings.concatenated,
    "CONTAINS": strings.tested(lambda text, part: f"contains({text}, {part})"),
    "STRSTARTS": strings.tested(lambda text, part: f"startswith({text}, {part})"),
    "STRENDS": strings.tested(lambda text, part: f"endswith({text}, {part})"),
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
    "ENCODE_FOR_URI": strings.encoded,
    "LANGMATCHES": strings.language_matched,
    "STRLANG": strings.tagged,
    "STRDT": strings.typed,
    **{function: _of_number(function) for function in ("ABS", "CEIL", "FLOOR", "ROUND")},
    **{part: _of_term(Numbers, partial(dates.number_part, part)) for part in dates.NUMBER_PARTS},
    "TZ": _of_term(Strings, dates.zone),
    "TIMEZONE": _of_term(Terms, _zone_duration),
    "NOW": lambda _: Terms(_NOW),
    "RAND": lambda _: Numbers(numbers.inexact("rand()", numbers.DOUBLE)),
    "UUID": lambda _: Terms("concat('<urn:uuid:', uuid(), '>')"),
    "STRUUID": lambda _: Strings("uuid()"),
    "MD5": strings.hashed("md5({})"),
    "SHA1": strings.hashed("sha1({})"),
    **{f"SHA{bits}": strings.hashed(f"sha2({{}}, {bits})") for bits in (256, 384, 512)},
}
# What a query writes out can be prepared once: these look at the arguments as written, too.
WITH_CONSTANTS: dict[str, Callable[[Sequence[Value], Sequence[Expression]], Value]] = {
    "REGEX": strings.matched,
    "REPLACE": strings.replaced,
}
