"""The two Spark jobs of a batch, as DataFrames: A for the windows, B for the answers."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query import ContinuousQuery, QueryPlan
from bestbefore.spark.answers import answer_rows, evaluations
from bestbefore.spark.columns import (
    FROM_WINDOW,
    MAPPINGS,
    REMAINING,
    TIME,
    TO_WINDOW,
    WINDOW,
    column_of,
)
from bestbefore.spark.content import WindowContent
from bestbefore.spark.patterns import Dataset, Solutions, compile_pattern, compile_solutions


@dataclass(frozen=True)
class WindowJob:
    """Job A: the mappings of the WINDOW pattern, kept for job B, and their key statistics."""

    mappings: DataFrame
    statistics: DataFrame


def window_job(plan: QueryPlan, content: WindowContent) -> WindowJob:
    """The WINDOW mappings of all due windows, and per window and join key how many have which L."""
    key = _key_columns(plan)
    kept = [column_of(each.name) for each in plan.window_outputs]
    dataset = Dataset(graph=content, origin=content.span)
    found = compile_solutions(plan.window_pattern, dataset).restricted(kept)
    rows = _spread_ranges(found, content) if found.ranged else _with_remaining(found, content)
    # Partitioned as the sums, the statistics and the join of job B need it: one shuffle serves all.
    mappings = (
        content.spread_by(rows, WINDOW, *key)
        .groupBy(WINDOW, REMAINING, *kept)
        .agg(F.sum(MAPPINGS).alias(MAPPINGS))
    )
    statistics = mappings.groupBy(WINDOW, *key, REMAINING).agg(F.sum(MAPPINGS).alias(MAPPINGS))
    return WindowJob(mappings, statistics)


def _spread_ranges(found: Solutions, content: WindowContent) -> DataFrame:
    """The mappings per window: equal ones are counted before they are copied to their windows."""
    kept, remaining = _quoted(found.names), _remaining(found, content, FROM_WINDOW)
    ranges = found.frame.selectExpr(FROM_WINDOW, TO_WINDOW, f"{remaining} AS {REMAINING}", *kept)
    counted = ranges.groupBy(*ranges.columns).agg(F.count("*").alias(MAPPINGS))
    return counted.selectExpr(
        f"explode(sequence({FROM_WINDOW}, {TO_WINDOW})) AS {WINDOW}", "*"
    ).selectExpr(WINDOW, f"{REMAINING} + {FROM_WINDOW} - {WINDOW} AS {REMAINING}", MAPPINGS, *kept)


def _with_remaining(found: Solutions, content: WindowContent) -> DataFrame:
    remaining = _remaining(found, content, WINDOW)
    weight = found.carried(MAPPINGS)
    return found.frame.selectExpr(
        WINDOW, f"{remaining} AS {REMAINING}", f"{weight} AS {MAPPINGS}", *_quoted(found.names)
    )


def _remaining(found: Solutions, content: WindowContent, window: str) -> str:
    """L of a mapping; one that no triple is behind stays for as long as any can."""
    longest = content.window.overlap
    known = content.remaining(window) if TIME in found.extras else "NULL"
    return f"coalesce({known}, {longest}L)"


def _key_columns(plan: QueryPlan) -> list[str]:
    return [column_of(each.name) for each in plan.join_key]


def _quoted(columns: Iterable[str]) -> list[str]:
    return [f"`{name}`" for name in columns]


def answer_job(
    query: ContinuousQuery,
    plan: QueryPlan,
    content: WindowContent,
    *,
    mappings: DataFrame,
    slices: DataFrame,
    due: DataFrame,
) -> DataFrame:
    """Job B: the WINDOW mappings joined with the view slices, up to one row per evaluation."""
    dataset = Dataset(
        windows={plan.window.name: mappings.drop(REMAINING)},
        services={str(plan.service.iri): content.spread_by(slices, WINDOW, *_key_columns(plan))},
        origin=lambda: due,
    )
    rows = answer_rows(compile_pattern(plan.around, dataset), query.form, content)
    return evaluations(rows, due, content)


def due_frame(spark: SparkSession, due: list[int]) -> DataFrame:
    """The numbers of the due evaluations as a DataFrame."""
    return spark.createDataFrame(pa.table({WINDOW: pa.array(due, pa.int64())}))
