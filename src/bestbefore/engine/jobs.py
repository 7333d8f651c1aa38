"""The two Spark jobs of a batch, as DataFrames: A for the windows, B for the answers."""

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
    TO_WINDOW,
    WINDOW,
    column_of,
)
from bestbefore.spark.content import WindowContent
from bestbefore.spark.patterns import Dataset, compile_pattern


@dataclass(frozen=True)
class WindowJob:
    """Job A: the mappings of the WINDOW pattern, kept for job B, and their key statistics."""

    mappings: DataFrame
    statistics: DataFrame


def window_job(plan: QueryPlan, content: WindowContent) -> WindowJob:
    """The WINDOW mappings of all due windows, and per window and join key how many have which L."""
    key = _key_columns(plan)
    kept = [column_of(each.name) for each in plan.window_outputs]
    found = compile_pattern(plan.window_pattern, Dataset(graph=content))
    # Equal mappings are counted before they are copied to their windows, and again after.
    ranges = found.selectExpr(
        FROM_WINDOW, TO_WINDOW, f"{content.remaining(FROM_WINDOW)} AS {REMAINING}", *_quoted(kept)
    )
    counted = ranges.groupBy(*ranges.columns).agg(F.count("*").alias(MAPPINGS))
    spread = counted.selectExpr(
        f"explode(sequence({FROM_WINDOW}, {TO_WINDOW})) AS {WINDOW}", "*"
    ).selectExpr(
        WINDOW, f"{REMAINING} + {FROM_WINDOW} - {WINDOW} AS {REMAINING}", MAPPINGS, *_quoted(kept)
    )
    # Partitioned as the sums, the statistics and the join of job B need it: one shuffle serves all.
    mappings = (
        content.spread_by(spread, WINDOW, *key)
        .groupBy(WINDOW, REMAINING, *kept)
        .agg(F.sum(MAPPINGS).alias(MAPPINGS))
    )
    statistics = mappings.groupBy(WINDOW, *key, REMAINING).agg(F.sum(MAPPINGS).alias(MAPPINGS))
    return WindowJob(mappings, statistics)


def _key_columns(plan: QueryPlan) -> list[str]:
    return [column_of(each.name) for each in plan.join_key]


def _quoted(columns: list[str]) -> list[str]:
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
        services={plan.service.iri: content.spread_by(slices, WINDOW, *_key_columns(plan))},
    )
    rows = answer_rows(compile_pattern(plan.around, dataset), query.form)
    return evaluations(rows, due, content)


def due_frame(spark: SparkSession, due: list[int]) -> DataFrame:
    """The numbers of the due evaluations as a DataFrame."""
    return spark.createDataFrame(pa.table({WINDOW: pa.array(due, pa.int64())}))
