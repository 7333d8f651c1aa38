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
from bestbefore.spark.sql import aliased, quoted
from bestbefore.windows import ReportStrategy

SERVICE = "service"
# Rows of no service: the evaluations with a mapping, and those that a report strategy asks for.
NON_EMPTY, REPORTED = -1, -2


@dataclass(frozen=True)
class WindowMappings:
    """Job A: the mappings of each WINDOW clause, kept for job B, and their key statistics."""

    mappings: tuple[DataFrame, ...]
    statistics: DataFrame

    def persist(self) -> None:
        """Keep the mappings once they are computed."""
        for frame in self.mappings:
            frame.persist()

    def unpersist(self) -> None:
        """Let the mappings go."""
        for frame in self.mappings:
            frame.unpersist()


def window_mappings(
    plan: QueryPlan,
    contents: WindowContents,
    report: ReportStrategy = ReportStrategy.WINDOW_CLOSE,
) -> WindowMappings:
    """The WINDOW mappings of all due evaluations; per service and join key, how many of which L."""
    mappings = tuple(_mappings(window, contents, _keys_of(window, plan)) for window in plan.windows)
    parts = [_statistics(service, mappings) for service in plan.services]
    parts += [
        frame.select(F.lit(NON_EMPTY).alias(SERVICE), EVALUATION).distinct() for frame in mappings
    ]
    parts += _reported(plan, contents, report)
    together = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return WindowMappings(mappings, together)


def _reported(plan: QueryPlan, contents: WindowContents, report: ReportStrategy) -> list[DataFrame]:
    """The evaluations that see a window with content, or with another content than before."""
    frames = []
    for window in plan.windows:
        content = contents.of(window.number)
        if report is ReportStrategy.NON_EMPTY:
            frames.append(contents.seeing(content.filled(), window.number))
        elif report is ReportStrategy.CONTENT_CHANGE:
            changed = replace(content, first=content.first - 1).changes()
            frames.append(contents.seeing(changed, window.number, first_only=True))
    return [frame.select(F.lit(REPORTED).alias(SERVICE), EVALUATION) for frame in frames]


def _keys_of(window: WindowPlan, plan: QueryPlan) -> list[str]:
    """What a window is partitioned by: the columns that it binds of the first join key."""
    key = plan.services[0].join_key if plan.services else ()
    return [column_of(variable.name) for variable in window.outputs if variable in key]


def _mappings(plan: WindowPlan, contents: WindowContents, key: list[str]) -> DataFrame:
    content = contents.of(plan.number)
    dataset = Dataset(graph=content, origin=content.span)
    kept = [column_of(variable.name) for variable in plan.outputs]
    found = compile_solutions(plan.pattern, dataset)
    apart = _finds_each_once(plan.pattern) and set(found.names) <= set(kept)
    found = found.restricted(kept)
    # Equal mappings are counted before they are copied to their evaluations, and again after.
    ranges = found.frame.selectExpr(*_ranges(found, content), *quoted(kept))
    counted = ranges if apart else _counted(ranges)
    gone = f"{contents.own_number(plan.number, EVALUATION)} - {FROM_EVALUATION}"
    spread = counted.selectExpr(
        f"explode({contents.evaluations(plan.number)}) AS {EVALUATION}", "*"
    )
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
    rest = [column for column in mappings.columns if column != MAPPINGS]
    return mappings.groupBy(*rest).agg(F.sum(MAPPINGS).alias(MAPPINGS))


def _ranges(found: Solutions, content: WindowContent) -> list[str]:
    """The range of windows of each mapping, its L in the first of them, and how many they are."""
    first, last = found.span
    lasting = f"{content.window.overlap}L"
    if TIME in found.extras:
        lasting = f"coalesce({content.remaining(first)}, {lasting})"
    elif not found.ranged:
        lasting = "1L"
    span = {FROM_EVALUATION: first, TO_EVALUATION: last}
    return aliased({**span, REMAINING: lasting, MAPPINGS: found.carried(MAPPINGS)})


def _statistics(plan: ServicePlan, mappings: Sequence[DataFrame]) -> DataFrame:
    """Per evaluation and join key of a service, how many mappings of its windows have which L."""
    # Mappings that are joined last as the shorter does: L is to them as a time is.
    windows = [frame.withColumnRenamed(REMAINING, TIME) for frame in mappings]
    found = compile_solutions(plan.bound_by, Dataset(windows=windows))
    key = [column_of(variable.name) for variable in plan.join_key]
    count = F.sum(F.expr(found.carried(MAPPINGS))).alias(MAPPINGS)
    grouped = found.frame.groupBy(EVALUATION, *key, TIME).agg(count)
    columns = [f"{column} AS {key_column(n)}" for n, column in enumerate(quoted(key))]
    return grouped.selectExpr(
        f"{plan.number} AS {SERVICE}", EVALUATION, f"{TIME} AS {REMAINING}", MAPPINGS, *columns
    )


def key_column(position: int) -> str:
    """The column of the statistics that has the value at a position of a join key."""
    return f"key{position}"
