"""Job A of a batch, as DataFrames: the mappings of the WINDOW clauses and their key statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query import QueryPlan, ServicePlan, WindowPlan
from bestbefore.query.algebra import BGP, Filter, Pattern
from bestbefore.spark.columns import (
    EVALUATION,
    FROM_EVALUATION,
    MAPPINGS,
    REMAINING,
    TIME,
    TO_EVALUATION,
    column_of,
)
from bestbefore.spark.content import WindowContent, WindowContents
from bestbefore.spark.patterns import Dataset, Solutions, compile_solutions
from bestbefore.spark.sql import all_of, quoted
from bestbefore.windows import ReportStrategy

SERVICE = "service"
# Rows of no service: the evaluations with a mapping, and those that a report strategy asks for.
NON_EMPTY, REPORTED = -1, -2


@dataclass(frozen=True)
class WindowJob:
    """Job A: the mappings of each WINDOW clause, kept for job B, and their key statistics."""

    mappings: tuple[DataFrame, ...]
    statistics: DataFrame

    def persist(self) -> None:
        """Keep the mappings once they are computed."""
        for each in self.mappings:
            each.persist()

    def unpersist(self) -> None:
        """Let the mappings go."""
        for each in self.mappings:
            each.unpersist()


def window_job(
    plan: QueryPlan,
    contents: WindowContents,
    report: ReportStrategy = ReportStrategy.WINDOW_CLOSE,
) -> WindowJob:
    """The WINDOW mappings of all due evaluations; per service and join key, how many of which L."""
    mappings = tuple(
        _mappings(each, contents, place, _keys_of(each, plan))
        for place, each in enumerate(plan.windows)
    )
    parts = [_statistics(each, number, plan, mappings) for number, each in enumerate(plan.services)]
    parts += [
        each.select(F.lit(NON_EMPTY).alias(SERVICE), EVALUATION).distinct() for each in mappings
    ]
    parts += _reported(plan, contents, report)
    together = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return WindowJob(mappings, together)


def _reported(plan: QueryPlan, contents: WindowContents, report: ReportStrategy) -> list[DataFrame]:
    """The evaluations that see a window with content, or with another content than before."""
    frames = []
    for place in range(len(plan.windows)):
        content = contents.of(place)
        if report is ReportStrategy.NON_EMPTY:
            frames.append(contents.seeing(content.filled(), place))
        elif report is ReportStrategy.CONTENT_CHANGE:
            changed = replace(content, first=content.first - 1).changes()
            frames.append(contents.seeing(changed, place, first_only=True))
    return [frame.select(F.lit(REPORTED).alias(SERVICE), EVALUATION) for frame in frames]


def _keys_of(window: WindowPlan, plan: QueryPlan) -> list[str]:
    """What a window is partitioned by: the columns that it binds of the first join key."""
    names = [each.name for service in plan.services[:1] for each in service.join_key]
    return [column_of(each.name) for each in window.outputs if each.name in names]


def _mappings(plan: WindowPlan, contents: WindowContents, place: int, key: list[str]) -> DataFrame:
    content = contents.of(place)
    dataset = Dataset(graph=content, origin=content.span)
    kept = [column_of(each.name) for each in plan.outputs]
    found = compile_solutions(plan.pattern, dataset)
    apart = _finds_each_once(plan.pattern) and set(found.names) <= set(kept)
    found = found.restricted(kept)
    # Equal mappings are counted before they are copied to their evaluations, and again after.
    ranges = found.frame.selectExpr(*_ranges(found, content), *quoted(kept))
    counted = ranges if apart else _counted(ranges)
    gone = f"{contents.own_number(place, EVALUATION)} - {FROM_EVALUATION}"
    spread = counted.selectExpr(f"explode({contents.evaluations(place)}) AS {EVALUATION}", "*")
    spread = spread.filter(contents.taking_place()).selectExpr(
        EVALUATION, f"{REMAINING} - ({gone}) AS {REMAINING}", MAPPINGS, *quoted(kept)
    )
    # Partitioned as the sums, the statistics and the join of job B need it: one shuffle serves all.
    ready = contents.spread_by(spread, EVALUATION, *key) if key else spread
    return ready if apart else _counted(ready)


def _finds_each_once(pattern: Pattern) -> bool:
    """Whether a pattern finds no mapping twice, whatever its graph: a graph has a triple once."""
    if isinstance(pattern, Filter):
        return _finds_each_once(pattern.pattern)
    return isinstance(pattern, BGP)


def _counted(mappings: DataFrame) -> DataFrame:
    """Equal mappings as one row, with their number."""
    rest = [each for each in mappings.columns if each != MAPPINGS]
    return mappings.groupBy(*rest).agg(F.sum(MAPPINGS).alias(MAPPINGS))


def _ranges(found: Solutions, content: WindowContent) -> list[str]:
    """The range of windows of each mapping, its L in the first of them, and how many they are."""
    if found.ranged:
        first, last = FROM_EVALUATION, TO_EVALUATION
    else:
        first = last = EVALUATION
    lasting = f"{content.window.overlap}L"
    if TIME in found.extras:
        lasting = f"coalesce({content.remaining(first)}, {lasting})"
    elif not found.ranged:
        lasting = "1L"
    count = MAPPINGS if MAPPINGS in found.extras else "1L"
    return [
        f"{first} AS {FROM_EVALUATION}",
        f"{last} AS {TO_EVALUATION}",
        f"{lasting} AS {REMAINING}",
        f"{count} AS {MAPPINGS}",
    ]


def _statistics(
    plan: ServicePlan, number: int, query: QueryPlan, mappings: Sequence[DataFrame]
) -> DataFrame:
    """Per evaluation and join key of a service, how many mappings of its windows have which L."""
    frames = [
        each
        for each, window in zip(mappings, query.windows, strict=True)
        if window.clause in plan.windows
    ]
    key = [column_of(each.name) for each in plan.join_key]
    frame = reduce(_either if plan.alternative else _together, frames)
    grouped = frame.groupBy(EVALUATION, *key, REMAINING).agg(F.sum(MAPPINGS).alias(MAPPINGS))
    known = all_of(f"{column} IS NOT NULL" for column in quoted(key))
    columns = [f"{column} AS {key_column(place)}" for place, column in enumerate(quoted(key))]
    return grouped.filter(known).selectExpr(
        f"{number} AS {SERVICE}", EVALUATION, REMAINING, MAPPINGS, *columns
    )


def key_column(place: int) -> str:
    """The column of the statistics that has the value at a place of a join key."""
    return f"key{place}"


def _together(left: DataFrame, right: DataFrame) -> DataFrame:
    """The mappings of two windows that bind a join key together; they last as the shorter does."""
    shared = [name for name in left.columns if name in right.columns]
    shared = [name for name in shared if name not in (REMAINING, MAPPINGS)]
    other = right.withColumnsRenamed({name: f"other_{name}" for name in (REMAINING, MAPPINGS)})
    joined = left.join(other.hint("shuffle_hash"), shared)
    rest = [n for n in joined.columns if n.removeprefix("other_") not in (REMAINING, MAPPINGS)]
    return joined.selectExpr(
        f"least({REMAINING}, other_{REMAINING}) AS {REMAINING}",
        f"{MAPPINGS} * other_{MAPPINGS} AS {MAPPINGS}",
        *quoted(rest),
    )


def _either(left: DataFrame, right: DataFrame) -> DataFrame:
    """The mappings of two windows of which either binds the join key."""
    return left.unionByName(right, allowMissingColumns=True)
