"""Functions on strings (SPARQL 1.1 section 17.4.3) as Spark SQL."""

from collections.abc import Callable, Sequence

from bestbefore.query.expressions import Constant, Expression
from bestbefore.rdf.terms import XSD_STRING, Literal
from bestbefore.spark.expressions import numbers, regular_expressions, values
from bestbefore.spark.expressions.values import ERROR, Booleans, Numbers, Strings, Terms, Value
from bestbefore.spark.sql import Cheap, both_once, let, once, quote
from bestbefore.spark.terms import form, literal, percent_encoded, suffix

Function = Callable[[Sequence[Value]], Value]
Change = Callable[[str], str]


def length(arguments: Sequence[Value]) -> Value:
    """STRLEN: the number of characters."""
    count = f"char_length({values.characters_of(arguments[0])})"
    return Numbers(numbers.exact(count, numbers.INTEGER))


def encoded(arguments: Sequence[Value]) -> Value:
    """ENCODE_FOR_URI: the characters as they may stand in an IRI."""
    return Strings(percent_encoded(values.characters_of(arguments[0])))


def changed(change: Change) -> Function:
    """A function that changes the characters of a string and keeps its language."""

    def apply(arguments: Sequence[Value]) -> Value:
        if isinstance(arguments[0], Strings):
            return Strings(change(arguments[0].sql))
        return Terms(with_characters(values.tagged_string_of(arguments[0]), change))

    return apply


@once
def with_characters(term: Cheap, change: Change) -> str:
    """A literal with its characters changed."""
    return literal(change(form(term, suffix(term))), suffix(term))


def tested(test: Callable[[str, str], str]) -> Function:
    """A test of two compatible strings."""

    @both_once
    def compatible(text: Cheap, part: Cheap) -> str:
        found = test(form(text, suffix(text)), form(part, suffix(part)))
        return f"CASE WHEN {_compatible(text, part)} THEN {found} END"

    def apply(arguments: Sequence[Value]) -> Value:
        one, other = arguments
        if isinstance(other, Strings):
            return Booleans(test(values.characters_of(one), other.sql))
        return Booleans(compatible(values.tagged_string_of(one), values.tagged_string_of(other)))

    return apply


def _compatible(text: Cheap, part: Cheap) -> str:
    """Whether a part may be looked for in a text: it has no language or that of the text."""
    return f"{suffix(part)} IN ('', {suffix(text)})"


def before(arguments: Sequence[Value]) -> Value:
    """STRBEFORE: what precedes the first occurrence of a part."""
    return _beside(arguments, lambda text, _, start: f"substr({text}, 1, {start} - 1)")


def after(arguments: Sequence[Value]) -> Value:
    """STRAFTER: what follows the first occurrence of a part."""
    return _beside(arguments, lambda text, part, start: f"substr({text}, {start} + length({part}))")


def _beside(arguments: Sequence[Value], cut: Callable[[str, str, str], str]) -> Value:
    """A piece of a text, in its language, or an empty plain string where the part is not found."""

    @both_once
    def piece(term: Cheap, part: Cheap) -> str:
        text, wanted = form(term, suffix(term)), form(part, suffix(part))
        found = let(
            f"instr({text}, {wanted})",
            lambda start: (
                f"IF({start} = 0, '\"\"', {literal(cut(text, wanted, start), suffix(term))})"
            ),
        )
        return f"CASE WHEN {_compatible(term, part)} THEN {found} END"

    one, other = map(values.tagged_string_of, arguments)
    return Terms(piece(one, other))


def concatenated(arguments: Sequence[Value]) -> Value:
    """CONCAT: strings put together, in their language if it is the same."""
    if all(isinstance(argument, Strings) for argument in arguments):
        return Strings(f"concat({', '.join((quote(''), *(one.sql for one in arguments)))})")
    return Terms(_put_together(f"array({', '.join(map(values.tagged_string_of, arguments))})"))


@once
def _put_together(terms: Cheap) -> str:
    texts = f"transform({terms}, term -> {form(Cheap('term'), suffix(Cheap('term')))})"
    endings = f"array_distinct(transform({terms}, term -> {suffix(Cheap('term'))}))"
    ending = f"IF(size({endings}) = 1, {endings}[0], '')"
    missing = f"exists({terms}, term -> term IS NULL)"
    whole = literal(f"array_join({texts}, '')", ending)
    return f"IF({missing}, NULL, {whole})"


def part(arguments: Sequence[Value]) -> Value:
    """SUBSTR: the characters from a number on, counted from 1, up to a number of them."""
    whole = [numbers.changed(values.number_of(argument), "ROUND") for argument in arguments[1:]]
    start, size = [*map(numbers.double_of, whole), "double('INF')"][:2]
    return changed(lambda text: _between(start, size, text))(arguments)


@both_once
def _between(first: Cheap, count: Cheap, text: str) -> str:
    """The characters p with first ≤ p < first + count, whatever these numbers are."""
    # No text is longer than an INT can say.
    begin = f"least(greatest({first}, 1D), 2147483647D)"
    end = f"least({first} + {count}, 2147483647D)"
    empty = f"isnan({first}) OR isnan({first} + {count}) OR {end} <= {begin}"
    wanted = f"substr({text}, int({begin}), int({end} - {begin}))"
    return (
        f"CASE WHEN {text} IS NULL OR {first} IS NULL OR {count} IS NULL THEN NULL "
        f"WHEN {empty} THEN '' ELSE {wanted} END"
    )


def matched(arguments: Sequence[Value], written: Sequence[Expression]) -> Value:
    """REGEX: whether a part of a string matches a pattern."""
    java = _pattern(arguments[1:], written[1:])
    return Booleans(regular_expressions.matches(values.characters_of(arguments[0]), java))


def replaced(arguments: Sequence[Value], written: Sequence[Expression]) -> Value:
    """REPLACE: a string with every match of a pattern replaced."""
    java = _pattern((arguments[1], *arguments[3:]), (written[1], *written[3:]))
    replacement = values.string_of(arguments[2])
    return changed(lambda text: regular_expressions.replaced(java, text, replacement))(arguments)


def _pattern(arguments: Sequence[Value], written: Sequence[Expression]) -> str:
    """A pattern, and flags if there are any, for Java."""
    if (known := _written(written)) is not None:
        pattern, flags = [*known, ""][:2]
        return regular_expressions.of_query(pattern, flags)
    given = [*map(values.string_of, arguments), Cheap("''")]
    return regular_expressions.of_data(given[0], given[1])


def _written(expressions: Sequence[Expression]) -> list[str] | None:
    """The plain strings that a query writes out, None if it computes one of them."""
    found = []
    for expression in expressions:
        match expression:
            case Constant(Literal(lexical) as one) if one == Literal(lexical):
                found.append(lexical)
            case _:
                return None
    return found


def language_matched(arguments: Sequence[Value]) -> Value:
    """LANGMATCHES: whether a language tag is in a basic language range."""

    @both_once
    def match(tag: Cheap, wanted: Cheap) -> str:
        within = f"{tag} = {wanted} OR startswith({tag}, concat({wanted}, '-'))"
        return f"IF({wanted} = '*', {tag} != '', {within})"

    one, other = (f"lower({values.string_of(argument)})" for argument in arguments)
    return Booleans(match(one, other))


def tagged(arguments: Sequence[Value]) -> Value:
    """STRLANG: a plain string with a language."""
    text, tag = map(values.string_of, arguments)
    known = f"nullif(lower({tag}), '')"
    return Terms(literal(text, f"concat('@', {known})"))


def typed(arguments: Sequence[Value]) -> Value:
    """STRDT: a plain string with a datatype."""
    if not isinstance(arguments[1], Terms):
        return ERROR
    return Terms(literal(values.string_of(arguments[0]), _type_suffix(arguments[1].sql)))


@once
def _type_suffix(iri: Cheap) -> str:
    return (
        f"CASE WHEN {iri} = '<{XSD_STRING}>' THEN '' "
        f"WHEN startswith({iri}, '<') THEN concat('^^', {iri}) END"
    )


def hashed(algorithm: str) -> Function:
    """MD5 and its successors: the digest of a plain string in hexadecimal."""
    return lambda arguments: Strings(algorithm.format(values.string_of(arguments[0])))
