"""GROUP BY: a mapping per group and evaluation, with its aggregates (SPARQL 1.1 section 18.5.1).

COUNT and SAMPLE pass over errors; one error makes any other aggregate an error.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bestbefore.query.algebra import Group, services_of
from bestbefore.query.expressions import Aggregate, AggregateFunction
from bestbefore.spark.columns import FRESH, MAPPINGS, POSITION, TIME, column_of
from bestbefore.spark.expressions import Scope, numbers
from bestbefore.spark.expressions.comparison import sort_key
from bestbefore.spark.expressions.compiler import value_of
from bestbefore.spark.expressions.values import number_of, term_of, text_of
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import Cheap, let, name, once, quote
from bestbefore.spark.terms import literal, text

# Whether a row is a mapping, and not only there for an evaluation without any.
_PRESENT = "present"
_TOLERANT = ("COUNT", "SAMPLE")


def grouped(group: Group, solutions: Solutions, scope: Scope, context: Context) -> Solutions:
    """The groups of the mappings, with their aggregates."""
    solutions = spread(solutions)
    rows = _rows(group, solutions, scope)
    if not group.keys:
        # There is one group per evaluation, also where there is no mapping.
        keys = {column: str(name(column)) for column in solutions.keys}
        rows = rows.union(spread(context.unit()).relation.select(keys | {_PRESENT: "FALSE"}))
    by = tuple(column_of(key.name) for key in group.keys)
    extras = tuple(column for column in (TIME, FRESH) if column in solutions.extras)
    parts, results = _summaries(group, solutions)
    carried = {TIME: f"max({TIME})", FRESH: _all_fresh(group, solutions, context)}
    parts |= {column: carried[column] for column in extras}
    own = (*solutions.keys, *by)
    known: dict[str, str] = {column: name(column) for column in (*own, *extras)}
    relation = rows.group(own, parts).select(known | results)
    names = (*by, *results)
    return Solutions(relation, names, solutions.bound & {*by}, solutions.keys, extras)


def _all_fresh(group: Group, solutions: Solutions, context: Context) -> str:
    """That all units behind a group are fresh: rows of one unit share one value, counted once."""
    behind = {clause.number for clause in services_of(group.pattern)}
    units = [unit for number, unit in enumerate(context.dataset.units) if number in behind]
    named = dict.fromkeys(column for unit in units for column in unit)
    known = [name(column) for column in named if column in solutions.names]
    share = f"IF({_PRESENT}, struct({', '.join([*known, FRESH])}), NULL)"
    return f"aggregate(collect_set({share}), 1D, (product, unit) -> product * unit.{FRESH})"


def _rows(group: Group, solutions: Solutions, scope: Scope) -> Relation:
    """The mappings with what their aggregates look at."""
    known = (*solutions.keys, *solutions.extras, *solutions.names)
    columns = {column: str(name(column)) for column in known}
    columns |= {column_of(key.name): solutions.column(column_of(key.name)) for key in group.keys}
    columns |= {
        _argument(number): _prepared(aggregate, scope)
        for number, (_, aggregate) in enumerate(group.aggregates)
    }
    return solutions.relation.select(columns | {_PRESENT: "TRUE"})


def _summaries(group: Group, solutions: Solutions) -> tuple[dict[str, str], dict[str, str]]:
    """What Spark aggregates, by name, and the terms made of it, by the column of their variable."""
    rows = _Rows(solutions.carried(MAPPINGS), solutions.carried(POSITION), solutions.variables)
    parts, results = dict[str, str](), dict[str, str]()
    for number, (variable, aggregate) in enumerate(group.aggregates):
        argument = name(_argument(number))
        summary = _SUMMARIES[aggregate.function](aggregate, argument, rows)
        names = [f"part{number}_{part}" for part in range(len(summary.parts))]
        parts |= dict(zip(names, summary.parts, strict=True))
        term = summary.term(*map(name, names))
        if aggregate.function not in _TOLERANT:
            wrong = f"wrong{number}"
            parts[wrong] = f"bool_or({_PRESENT} AND {argument} IS NULL)"
            term = f"IF({wrong}, NULL, {term})"
        results[column_of(variable.name)] = term
    return parts, results


def _argument(number: int) -> str:
    return f"argument{number}"


@dataclass(frozen=True)
class _Rows:
    """What an aggregate knows of the rows of a group, as SQL.

    `weight` is how many mappings a row stands for, `position` where it is in an order, `names` are
    the columns of its variables.
    """

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


def _counted(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    counted = f"{_PRESENT} AND {argument} IS NOT NULL"
    if not aggregate.distinct:
        return _Summary((f"sum(IF({counted}, {rows.weight}, 0L))",), _count_term)
    whole = f"struct({', '.join(['1', *map(name, rows.names)])})"
    thing = whole if aggregate.argument is None else argument
    return _Summary((f"count(DISTINCT IF({counted}, {thing}, NULL))",), _count_term)


def _count_term(count: Cheap) -> str:
    return literal(f"string({count})", quote(numbers.INTEGER_SUFFIXES[0]))


def _summed(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    """SUM or AVG."""
    if aggregate.distinct:
        return _Summary((f"collect_set({argument})",), lambda found: _of_set(found, aggregate))
    parts = (
        f"max({argument}.k)",
        f"sum({argument}.e * {rows.weight})",
        f"sum({numbers.double_of(argument)} * {rows.weight})",
        f"sum(IF({_PRESENT}, {rows.weight}, 0L))",
    )

    def term(kind: Cheap, exact: Cheap, double: Cheap, count: Cheap) -> str:
        return numbers.to_term(_result(aggregate, _total(kind, exact, double), count))

    return _Summary(parts, term)


def _total(kind: Cheap, exact: Cheap, double: Cheap) -> str:
    """A sum, exact unless one of the numbers is not, 0 of nothing."""
    return (
        f"CASE WHEN {kind} IS NULL THEN {numbers.ZERO} "
        f"WHEN {kind} > {numbers.DECIMAL} THEN {numbers.inexact(double, kind)} "
        f"ELSE {numbers.exact(exact, kind)} END"
    )


def _result(aggregate: Aggregate, total: str, count: Cheap) -> str:
    """The total, or what AVG makes of it."""
    if aggregate.function == "SUM":
        return total
    divided = numbers.arithmetic(total, numbers.exact(count, numbers.INTEGER), "/")
    return f"IF({count} = 0, {numbers.ZERO}, {divided})"


def _of_set(found: Cheap, aggregate: Aggregate) -> str:
    """The sum or average of distinct terms; equal numbers of different terms count each."""
    read = f"transform({found}, term -> {numbers.of_term(Cheap('term'))})"
    return numbers.to_term(_of_numbers(read, aggregate))


@once
def _of_numbers(several: Cheap, aggregate: Aggregate) -> str:
    kind = f"array_max(transform({several}, number -> number.k))"
    zero, step = f"CAST(0 AS {numbers.EXACT})", f"CAST(total + number.e AS {numbers.EXACT})"
    exact = f"aggregate({several}, {zero}, (total, number) -> {step})"
    addend = numbers.double_of(Cheap("number"))
    double = f"aggregate({several}, 0D, (total, number) -> total + {addend})"
    total = let(kind, lambda one: _total(one, Cheap(exact), Cheap(double)))
    result = _result(aggregate, total, Cheap(f"size({several})"))
    return f"IF(exists({several}, number -> number IS NULL), NULL, {result})"


def _extreme(aggregate: Aggregate, argument: Cheap, _: _Rows) -> _Summary:
    """MIN or MAX, in the order of ORDER BY."""
    return _Summary((f"{aggregate.function}({argument})",), lambda extreme: f"{extreme}.term")


def _sampled(_: Aggregate, argument: Cheap, __: _Rows) -> _Summary:
    """SAMPLE: always the same one, so that a repeated batch gives the same answer."""
    return _Summary((f"min({argument})",), str)


def _concatenated(aggregate: Aggregate, argument: Cheap, rows: _Rows) -> _Summary:
    """GROUP_CONCAT: strings with their positions; sorted they are always in the same order."""
    shown = text(argument) if aggregate.distinct else argument
    item = {"position": rows.position, "text": shown}
    # Distinct are terms, not what is shown of them.
    item |= {"term": argument} if aggregate.distinct else {"weight": rows.weight}
    fields = ", ".join(f"'{field}', {sql}" for field, sql in item.items())
    collect = "collect_set" if aggregate.distinct else "collect_list"
    collected = f"{collect}(IF({argument} IS NOT NULL, named_struct({fields}), NULL))"

    def term(found: Cheap) -> str:
        copies = "1" if aggregate.distinct else "int(item.weight)"
        texts = f"flatten(transform({found}, item -> array_repeat(item.text, {copies})))"
        joined = literal(f"array_join({texts}, {quote(aggregate.separator)})")
        return f"IF(exists({found}, item -> item.text IS NULL), NULL, {joined})"

    return _Summary((f"array_sort({collected})",), term)


_SUMMARIES: dict[AggregateFunction, Callable[[Aggregate, Cheap, _Rows], _Summary]] = {
    "COUNT": _counted,
    "SUM": _summed,
    "AVG": _summed,
    "MIN": _extreme,
    "MAX": _extreme,
    "SAMPLE": _sampled,
    "GROUP_CONCAT": _concatenated,
}
