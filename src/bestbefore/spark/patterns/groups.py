"""GROUP BY: a mapping per group and evaluation, with its aggregates (SPARQL 1.1 section 18.5.1).

COUNT and SAMPLE pass over errors; one error makes any other aggregate an error.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query.algebra import Group
from bestbefore.query.expressions import Aggregate, AggregateFunction
from bestbefore.spark.columns import FRESH, MAPPINGS, POSITION, TIME, column_of
from bestbefore.spark.expressions import Scope, numbers
from bestbefore.spark.expressions.comparison import sort_key
from bestbefore.spark.expressions.compiler import value_of
from bestbefore.spark.expressions.values import number_of, term_of, text_of
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.sql import Cheap, aliased, let, name, quote, quoted
from bestbefore.spark.terms import literal, text

_PRESENT = "present"


def grouped(group: Group, solutions: Solutions, scope: Scope, context: Context) -> Solutions:
    """The groups of the mappings, with their aggregates."""
    solutions = spread(solutions)
    rows = _rows(group, solutions, scope)
    if not group.keys:
        # There is one group per evaluation, also where there is no mapping.
        nothing = spread(context.unit()).frame.selectExpr(
            *quoted(solutions.keys), f"FALSE AS {_PRESENT}"
        )
        rows = rows.unionByName(nothing, allowMissingColumns=True)
    by = tuple(column_of(key.name) for key in group.keys)
    extras = tuple(column for column in (TIME, FRESH) if column in solutions.extras)
    parts, results = _summaries(group, solutions)
    carried = {TIME: f"max({name(TIME)})", FRESH: _freshness(FRESH)}
    parts |= {column: carried[column] for column in extras}
    own = (*solutions.keys, *by)
    found = rows.groupBy(*quoted(own)).agg(*map(F.expr, aliased(parts) or ["1 AS `one`"]))
    frame = found.selectExpr(*quoted((*own, *extras)), *aliased(results))
    names = (*by, *results)
    return Solutions(frame, names, solutions.bound & {*by}, solutions.keys, extras)


def _rows(group: Group, solutions: Solutions, scope: Scope) -> DataFrame:
    """The mappings with what their aggregates look at."""
    known = (*solutions.keys, *solutions.extras, *solutions.names)
    columns = {column: str(name(column)) for column in known}
    columns |= {column_of(key.name): solutions.column(column_of(key.name)) for key in group.keys}
    columns |= {
        _argument(number): _prepared(aggregate, scope)
        for number, (_, aggregate) in enumerate(group.aggregates)
    }
    return solutions.frame.selectExpr(*aliased(columns), f"TRUE AS {_PRESENT}")


def _summaries(group: Group, solutions: Solutions) -> tuple[dict[str, str], dict[str, str]]:
    """What Spark aggregates, by name, and the terms made of it, by the column of their variable."""
    rows = _Rows(
        present=_PRESENT,
        weight=solutions.carried(MAPPINGS),
        position=solutions.carried(POSITION),
        names=solutions.variables,
    )
    parts, results = dict[str, str](), dict[str, str]()
    for number, (variable, aggregate) in enumerate(group.aggregates):
        summed = _summary(aggregate, _argument(number), rows)
        names = [f"part{number}_{part}" for part in range(len(summed.parts))]
        parts |= dict(zip(names, summed.parts, strict=True))
        results[column_of(variable.name)] = summed.term(*(Cheap(name(part)) for part in names))
    return parts, results


def _argument(number: int) -> str:
    return f"argument{number}"


@dataclass(frozen=True)
class _Rows:
    """What an aggregate knows of the rows of a group, as SQL.

    `present` is whether a row is a mapping, `weight` how many it stands for, `position` where it is
    in an order, `names` are the columns of its variables.
    """

    present: str
    weight: str
    position: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Summary:
    """What Spark aggregates, and the term that is made of it."""

    parts: tuple[str, ...]
    term: Callable[..., str]


def _prepared(aggregate: Aggregate, scope: Scope) -> str:
    """What is computed of each row before it is aggregated."""
    if aggregate.argument is None:
        return "TRUE"
    value = value_of(aggregate.argument, scope)
    match aggregate.function:
        case "SUM" | "AVG" if not aggregate.distinct:
            return number_of(value)
        case "MIN" | "MAX":
            return sort_key(term_of(value))
        case "GROUP_CONCAT" if not aggregate.distinct:
            return text_of(value)
    return term_of(value)


def _summary(aggregate: Aggregate, column: str, rows: _Rows) -> _Summary:
    """How an aggregate is computed from the column that was prepared for it."""
    return _SUMMARIES[aggregate.function](aggregate, name(column), rows)


def _freshness(column: str) -> str:
    """The probability that a group is fresh: that all units behind it are.

    Rows of one unit share one probability, so each value counts once.
    """
    return f"aggregate(collect_set({name(column)}), 1D, (product, share) -> product * share)"


def _wrong(argument: Cheap, rows: _Rows) -> str:
    """Whether the argument is an error in one of the mappings."""
    return f"bool_or({rows.present} AND {argument} IS NULL)"


def _counted(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    counted = f"{rows.present} AND {argument} IS NOT NULL"
    if not aggregate.distinct:
        return _Summary((f"sum(IF({counted}, {rows.weight}, 0L))",), _count_term)
    whole = f"struct({', '.join(['1', *map(name, rows.names)])})"
    thing = whole if aggregate.argument is None else argument
    return _Summary((f"count(DISTINCT IF({counted}, {thing}, NULL))",), _count_term)


def _count_term(count: Cheap) -> str:
    return literal(f"CAST({count} AS STRING)", quote(numbers.INTEGER_SUFFIXES[0]))


def _summed(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    wrong = _wrong(argument, rows)
    if aggregate.distinct:
        return _Summary((wrong, f"collect_set({argument})"), _of_set(aggregate))
    return _Summary((wrong, *_totals(argument, rows)), _sum_term)


def _averaged(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    if aggregate.distinct:
        return _summed(aggregate, argument, rows)
    count = f"sum(IF({rows.present}, {rows.weight}, 0L))"
    return _Summary((_wrong(argument, rows), *_totals(argument, rows), count), _average_term)


def _totals(argument: Cheap, rows: _Rows) -> tuple[str, str, str]:
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
    divided = numbers.arithmetic(total, numbers.exact(count, numbers.INTEGER), "/")
    return f"IF({count} = 0, {zero}, {divided})"


def _of_set(aggregate: Aggregate) -> Callable[..., str]:
    """The sum or average of distinct terms; equal numbers of different terms count each."""

    def term(wrong: Cheap, found: Cheap) -> str:
        read = f"transform({found}, term -> {numbers.of_term(Cheap('term'))})"
        result = let(read, lambda several: _of_numbers(aggregate, several))
        return f"IF({wrong}, NULL, {numbers.to_term(result)})"

    return term


def _of_numbers(aggregate: Aggregate, several: Cheap) -> str:
    kind = f"array_max(transform({several}, number -> number.k))"
    zero, step = f"CAST(0 AS {numbers.EXACT})", f"CAST(total + number.e AS {numbers.EXACT})"
    exact = f"aggregate({several}, {zero}, (total, number) -> {step})"
    addend = numbers.double_of(Cheap("number"))
    double = f"aggregate({several}, 0D, (total, number) -> total + {addend})"
    total = let(kind, lambda one: _total(one, Cheap(exact), Cheap(double)))
    if aggregate.function == "AVG":
        total = _quotient(total, Cheap(f"size({several})"))
    return f"IF(exists({several}, number -> number IS NULL), NULL, {total})"


def _extreme(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    """MIN or MAX, in the order of ORDER BY."""
    parts = (_wrong(argument, rows), f"{aggregate.function}({argument})")
    return _Summary(parts, _extreme_term)


def _sampled(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:  # noqa: ARG001
    """SAMPLE: always the same one, so that a repeated batch gives the same answer."""
    return _Summary((f"min({argument})",), str)


def _extreme_term(wrong: Cheap, extreme: Cheap) -> str:
    return f"IF({wrong}, NULL, {extreme}.term)"


def _concatenated(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    parts = (_wrong(argument, rows), _texts(aggregate, argument, rows))
    return _Summary(parts, _concatenation(aggregate))


def _texts(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> str:
    """The strings of a group with their positions: sorted they are always in the same order."""
    shown = text(argument) if aggregate.distinct else argument
    item = {"position": rows.position, "text": shown}
    # Distinct are terms, not what is shown of them.
    item |= {"term": argument} if aggregate.distinct else {"weight": rows.weight}
    fields = ", ".join(f"'{field}', {sql}" for field, sql in item.items())
    collect = "collect_set" if aggregate.distinct else "collect_list"
    return f"array_sort({collect}(IF({argument} IS NOT NULL, named_struct({fields}), NULL)))"


def _concatenation(aggregate: Aggregate) -> Callable[..., str]:
    def term(wrong: Cheap, found: Cheap) -> str:
        copies = "1" if aggregate.distinct else "CAST(item.weight AS INT)"
        texts = f"flatten(transform({found}, item -> array_repeat(item.text, {copies})))"
        joined = literal(f"array_join({texts}, {quote(aggregate.separator)})")
        nameless = f"exists({found}, item -> item.text IS NULL)"
        return f"IF({wrong} OR {nameless}, NULL, {joined})"

    return term


_SUMMARIES: dict[AggregateFunction, Callable[[Aggregate, Cheap, _Rows], _Summary]] = {
    "COUNT": _counted,
    "SUM": _summed,
    "AVG": _averaged,
    "MIN": _extreme,
    "MAX": _extreme,
    "SAMPLE": _sampled,
    "GROUP_CONCAT": _concatenated,
}
