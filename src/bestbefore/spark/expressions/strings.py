"""Functions on strings (SPARQL 1.1 section 17.4.3) as Spark SQL."""

from collections.abc import Callable, Sequence

from bestbefore.query.expressions import Constant, Expression
from bestbefore.rdf.terms import XSD_STRING, Literal
from bestbefore.spark.expressions import numbers, regular_expressions
from bestbefore.spark.expressions.values import (
    ERROR,
    Booleans,
    Numbers,
    Strings,
    Terms,
    Value,
    characters_of,
    number_of,
    string_of,
    tagged_string_of,
)
from bestbefore.spark.sql import Cheap, let, let_both
from bestbefore.spark.terms import form, literal, suffix

Change = Callable[[str], str]


def length(arguments: Sequence[Value]) -> Value:
    """STRLEN: the number of characters."""
    return Numbers(numbers.exact(f"char_length({characters_of(arguments[0])})", numbers.INTEGER))


def changed(change: Change) -> Callable[[Sequence[Value]], Value]:
    """A function that changes the characters of a string and keeps its language."""

    def apply(arguments: Sequence[Value]) -> Value:
        if isinstance(arguments[0], Strings):
            return Strings(change(arguments[0].sql))
        return Terms(
            let(tagged_string_of(arguments[0]), lambda term: with_characters(term, change))
        )

    return apply


def with_characters(term: Cheap, change: Change) -> str:
    """A literal with its characters changed."""
    return literal(change(form(term, suffix(term))), suffix(term))


def tested(test: Callable[[str, str], str]) -> Callable[[Sequence[Value]], Value]:
    """A test of two compatible strings."""

    def apply(arguments: Sequence[Value]) -> Value:
        one, other = arguments
        if isinstance(other, Strings):
            return Booleans(test(characters_of(one), other.sql))
        return Booleans(
            let_both(
                tagged_string_of(one),
                tagged_string_of(other),
                lambda text, part: (
                    f"CASE WHEN {_compatible(text, part)} THEN "
                    f"{test(form(text, suffix(text)), form(part, suffix(part)))} END"
                ),
            )
        )

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

    def piece(term: Cheap, part: Cheap) -> str:
        text, wanted = form(term, suffix(term)), form(part, suffix(part))
        found = let(
            f"instr({text}, {wanted})",
            lambda start: (
                f"IF({start} = 0, '\"\"', {literal(cut(text, wanted, start), suffix(term))})"
            ),
        )
        return f"CASE WHEN {_compatible(term, part)} THEN {found} END"

    one, other = map(tagged_string_of, arguments)
    return Terms(let_both(one, other, piece))


def concatenated(arguments: Sequence[Value]) -> Value:
    """CONCAT: strings put together, in their language if it is the same."""
    if all(isinstance(argument, Strings) for argument in arguments):
        return Strings(f"concat('', {', '.join(argument.sql for argument in arguments)})"
                       if arguments else Cheap("''"))  # fmt: skip
    return Terms(let(f"array({', '.join(map(tagged_string_of, arguments))})", _put_together))


def _put_together(terms: Cheap) -> str:
    texts = f"transform({terms}, term -> {form(Cheap('term'), suffix(Cheap('term')))})"
    endings = f"array_distinct(transform({terms}, term -> {suffix(Cheap('term'))}))"
    ending = f"IF(size({endings}) = 1, {endings}[0], '')"
    missing = f"exists({terms}, term -> term IS NULL)"
    whole = literal(f"array_join({texts}, '')", ending)
    return f"IF({missing}, NULL, {whole})"


def part(arguments: Sequence[Value]) -> Value:
    """SUBSTR: the characters from a number on, counted from 1, up to a number of them."""
    whole = [numbers.round_half_up(number_of(argument)) for argument in arguments[1:]]
    bounds = [let(number, numbers.double_of) for number in whole]
    start, size = bounds[0], bounds[1] if len(bounds) > 1 else "CAST('INF' AS DOUBLE)"

    def cut(text: str) -> str:
        return let_both(start, size, lambda first, count: _between(text, first, count))

    return changed(cut)(arguments)


def _between(text: str, first: Cheap, count: Cheap) -> str:
    """The characters p with first ≤ p < first + count, whatever these numbers are."""
    # No text is longer than an INT can say.
    begin = f"least(greatest({first}, 1D), 2147483647D)"
    end = f"least({first} + {count}, 2147483647D)"
    empty = f"isnan({first}) OR isnan({first} + {count}) OR {end} <= {begin}"
    wanted = f"substr({text}, CAST({begin} AS INT), CAST({end} - {begin} AS INT))"
    return (
        f"CASE WHEN {text} IS NULL OR {first} IS NULL OR {count} IS NULL THEN NULL "
        f"WHEN {empty} THEN '' ELSE {wanted} END"
    )


def matched(arguments: Sequence[Value], written: Sequence[Expression]) -> Value:
    """REGEX: whether a part of a string matches a pattern."""
    text = characters_of(arguments[0])
    known = _written(written[1:])
    if known is not None:
        pattern, *flags = known
        return Booleans(regular_expressions.matches_constant(text, pattern, "".join(flags)))
    pattern, *flags = [string_of(argument) for argument in arguments[1:]]
    return Booleans(
        let_both(pattern, flags[0] if flags else Cheap("''"),
                 lambda one, other: regular_expressions.matches(text, one, other))
    )  # fmt: skip


def replaced(arguments: Sequence[Value], written: Sequence[Expression]) -> Value:
    """REPLACE: a string with every match of a pattern replaced."""
    replacement = string_of(arguments[2])
    known = _written((written[1], *written[3:]))
    if known is not None:
        pattern, *flags = known

        def change(text: str) -> str:
            return regular_expressions.replaced_constant(text, pattern, replacement, "".join(flags))

        return changed(change)(arguments)
    wanted, *given = [string_of(argument) for argument in (arguments[1], *arguments[3:])]
    return changed(
        lambda text: let_both(
            wanted,
            given[0] if given else Cheap("''"),
            lambda one, other: regular_expressions.replaced(text, one, replacement, other),
        )
    )(arguments)


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

    def match(tag: Cheap, wanted: Cheap) -> str:
        within = f"{tag} = {wanted} OR startswith({tag}, concat({wanted}, '-'))"
        return f"IF({wanted} = '*', {tag} != '', {within})"

    one, other = (f"lower({string_of(argument)})" for argument in arguments)
    return Booleans(let_both(one, other, match))


def tagged(arguments: Sequence[Value]) -> Value:
    """STRLANG: a plain string with a language."""
    text, tag = map(string_of, arguments)
    known = f"nullif(lower({tag}), '')"
    return Terms(literal(text, f"concat('@', {known})"))


def typed(arguments: Sequence[Value]) -> Value:
    """STRDT: a plain string with a datatype."""
    if not isinstance(arguments[1], Terms):
        return ERROR
    ending = let(
        arguments[1].sql,
        lambda iri: (
            f"CASE WHEN {iri} = '<{XSD_STRING}>' THEN '' "
            f"WHEN startswith({iri}, '<') THEN concat('^^', {iri}) END"
        ),
    )
    return Terms(literal(string_of(arguments[0]), ending))


def hashed(algorithm: Callable[[str], str]) -> Callable[[Sequence[Value]], Value]:
    """MD5 and its successors: the digest of a plain string in hexadecimal."""
    return lambda arguments: Strings(algorithm(string_of(arguments[0])))
