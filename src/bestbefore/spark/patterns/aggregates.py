"""Aggregates of a group as Spark SQL (SPARQL 1.1 section 18.5.1).

COUNT and SAMPLE pass over errors; one error makes any other aggregate an error.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bestbefore.query.expressions import Aggregate, AggregateFunction
from bestbefore.spark.expressions import Scope, numbers
from bestbefore.spark.expressions.comparison import sort_key
from bestbefore.spark.expressions.compiler import value_of
from bestbefore.spark.expressions.values import number_of, term_of, text_of
from bestbefore.spark.sql import Cheap, let, name, quote
from bestbefore.spark.terms import literal, text


@dataclass(frozen=True)
class Rows:
    """What an aggregate knows of the rows of a group, as SQL.

    `present` is whether a row is a mapping, `weight` how many it stands for, `place` where it is in
    an order, `names` are the columns of its variables.
    """

    present: str
    weight: str
    place: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """What Spark aggregates, and the term that is made of it."""

    parts: tuple[str, ...]
    term: Callable[..., str]


def prepared(aggregate: Aggregate, scope: Scope) -> str:
    """What is computed of each row before it is aggregated."""
    if aggregate.argument is None:
        return "TRUE"
    value = value_of(aggregate.argument, scope)
    match aggregate.function:
        case "SUM" | "AVG" if not aggregate.distinct:
            return number_of(value)
        case "MIN" | "MAX":
            return let(term_of(value), sort_key)
        case "GROUP_CONCAT" if not aggregate.distinct:
            return text_of(value)
    return term_of(value)


def summary(aggregate: Aggregate, column: str, rows: Rows) -> Summary:
    """How an aggregate is computed from the column that was prepared for it."""
    return _SUMMARIES[aggregate.function](aggregate, name(column), rows)


def freshness(column: str) -> str:
    """The probability that a group is fresh: that all units behind it are.

    Rows of one unit share one probability, so each value counts once.
    """
    return f"aggregate(collect_set({name(column)}), 1D, (product, each) -> product * each)"


def _wrong(argument: Cheap, rows: Rows) -> str:
    """Whether the argument is an error in one of the mappings."""
    return f"bool_or({rows.present} AND {argument} IS NULL)"


def _counted(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:
    counted = f"{rows.present} AND {argument} IS NOT NULL"
    if not aggregate.distinct:
        return Summary((f"sum(IF({counted}, {rows.weight}, 0L))",), _count_term)
    whole = f"struct({', '.join(['1', *map(name, rows.names)])})"
    thing = whole if aggregate.argument is None else argument
    return Summary((f"count(DISTINCT IF({counted}, {thing}, NULL))",), _count_term)


def _count_term(count: Cheap) -> str:
    return literal(f"CAST({count} AS STRING)", quote(numbers.INTEGER_SUFFIXES[0]))


def _summed(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:
    wrong = _wrong(argument, rows)
    if aggregate.distinct:
        return Summary((wrong, f"collect_set({argument})"), _of_set(aggregate))
    return Summary((wrong, *_totals(argument, rows)), _sum_term)


def _averaged(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:
    if aggregate.distinct:
        return _summed(aggregate, argument, rows)
    count = f"sum(IF({rows.present}, {rows.weight}, 0L))"
    return Summary((_wrong(argument, rows), *_totals(argument, rows), count), _average_term)


def _totals(argument: Cheap, rows: Rows) -> tuple[str, str, str]:
    """The widest type of the numbers, their sum if they are exact, and their sum as doubles."""
    return (
        f"max({argument}.k)",
        f"sum({argument}.e * {rows.weight})",
        f"sum({numbers.double_of(argument)} * {rows.weight})",
    )


def _sum_term(wrong: Cheap, kind: Cheap, exact: Cheap, double: Cheap) -> str:
    return f"IF({wrong}, NULL, {numbers.to_term(_total(kind, exact, double))})"


def _total(kind: Cheap, exact: Cheap, double: Cheap) -> str:
    """A sum, exact unless one of the numbers is not, 0 of nothing."""
    zero = numbers.ZERO
    return (
        f"CASE WHEN {kind} IS NULL THEN {zero} "
        f"WHEN {kind} > {numbers.DECIMAL} THEN {numbers.inexact(double, kind)} "
        f"ELSE {numbers.exact(exact, kind)} END"
    )


def _average_term(wrong: Cheap, kind: Cheap, exact: Cheap, double: Cheap, count: Cheap) -> str:
    average = _quotient(_total(kind, exact, double), count)
    return f"IF({wrong}, NULL, {numbers.to_term(average)})"


def _quotient(total: str, count: Cheap) -> str:
    zero = numbers.ZERO
    divided = numbers.arithmetic("/", total, numbers.exact(count, numbers.INTEGER))
    return f"IF({count} = 0, {zero}, {divided})"


def _of_set(aggregate: Aggregate) -> Callable[..., str]:
    """The sum or average of distinct terms; equal numbers of different terms count each."""

    def term(wrong: Cheap, found: Cheap) -> str:
        read = f"transform({found}, each -> {numbers.of_term(Cheap('each'))})"
        result = let(read, lambda several: _of_numbers(aggregate, several))
        return f"IF({wrong}, NULL, {numbers.to_term(result)})"

    return term


def _of_numbers(aggregate: Aggregate, several: Cheap) -> str:
    kind = f"array_max(transform({several}, each -> each.k))"
    zero, step = f"CAST(0 AS {numbers.EXACT})", f"CAST(total + each.e AS {numbers.EXACT})"
    exact = f"aggregate({several}, {zero}, (total, each) -> {step})"
    each_double = numbers.double_of(Cheap("each"))
    double = f"aggregate({several}, 0D, (total, each) -> total + {each_double})"
    total = let(kind, lambda one: _total(one, Cheap(exact), Cheap(double)))
    if aggregate.function == "AVG":
        total = _quotient(total, Cheap(f"size({several})"))
    return f"IF(exists({several}, each -> each IS NULL), NULL, {total})"


def _extreme(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:
    """MIN or MAX, in the order of ORDER BY."""
    parts = (_wrong(argument, rows), f"{aggregate.function}({argument})")
    return Summary(parts, _extreme_term)


def _sampled(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:  # noqa: ARG001
    """SAMPLE: always the same one, so that a repeated batch gives the same answer."""
    return Summary((f"min({argument})",), str)


def _extreme_term(wrong: Cheap, extreme: Cheap) -> str:
    return f"IF({wrong}, NULL, {extreme}.term)"


def _concatenated(aggregate: Aggregate, argument: Cheap, rows: Rows) -> Summary:
    parts = (_wrong(argument, rows), _texts(aggregate, argument, rows))
    return Summary(parts, _concatenation(aggregate))


def _texts(aggregate: Aggregate, argument: Cheap, rows: Rows) -> str:
    """The strings of a group with their places: sorted they are always in the same order."""
    shown = text(argument) if aggregate.distinct else argument
    each = {"place": rows.place, "text": shown}
    # Distinct are terms, not what is shown of them.
    each |= {"term": argument} if aggregate.distinct else {"weight": rows.weight}
    fields = ", ".join(f"'{field}', {sql}" for field, sql in each.items())
    collect = "collect_set" if aggregate.distinct else "collect_list"
    return f"array_sort({collect}(IF({argument} IS NOT NULL, named_struct({fields}), NULL)))"


def _concatenation(aggregate: Aggregate) -> Callable[..., str]:
    def term(wrong: Cheap, found: Cheap) -> str:
        copies = "1" if aggregate.distinct else "CAST(each.weight AS INT)"
        texts = f"flatten(transform({found}, each -> array_repeat(each.text, {copies})))"
        joined = literal(f"array_join({texts}, {quote(aggregate.separator)})")
        nameless = f"exists({found}, each -> each.text IS NULL)"
        return f"IF({wrong} OR {nameless}, NULL, {joined})"

    return term


_SUMMARIES: dict[AggregateFunction, Callable[[Aggregate, Cheap, Rows], Summary]] = {
    "COUNT": _counted,
    "SUM": _summed,
    "AVG": _averaged,
    "MIN": _extreme,
    "MAX": _extreme,
    "SAMPLE": _sampled,
    "GROUP_CONCAT": _concatenated,
}
