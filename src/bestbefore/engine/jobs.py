"""The two Spark jobs of a batch, as DataFrames: A for the windows, B for the answers."""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.engine.key_statistics import MAPPINGS, REMAINING
from bestbefore.query import ContinuousQuery, QueryPlan
from bestbefore.spark.answers import answer_rows, evaluations
from bestbefore.spark.columns import TIME, WINDOW, column_of
from bestbefore.spark.content import WindowContent, ceiling_division
from bestbefore.spark.patterns import Dataset, compile_pattern


@dataclass(frozen=True)
class WindowJob:
    """Job A: the mappings of the WINDOW pattern, kept for job B, and their key statistics."""

    mappings: DataFrame
    statistics: DataFrame


def window_job(plan: QueryPlan, content: WindowContent) -> WindowJob:
    """The WINDOW mappings of all due windows, and per window and join key how many have which L."""
    key = [column_of(each.name) for each in plan.join_key]
    found = compile_pattern(plan.window_pattern, Dataset(graph=content))
    window = content.window
    # L = ⌈(time + ω − c)/β⌉ with c = t0 + i·β, equation 3 of acqua.
    left = f"({TIME} + {window.width_ms - window.t0_ms} - {WINDOW} * {window.slide_ms})"
    remaining = F.expr(ceiling_division(left, window.slide_ms))
    # Partitioned as both the statistics and the join of job B need it: one shuffle serves the two.
    mappings = found.withColumn(REMAINING, remaining).repartition(WINDOW, *key)
    statistics = mappings.groupBy(WINDOW, *key, REMAINING).agg(F.count("*").alias(MAPPINGS))
    return WindowJob(mappings, statistics)


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
        windows={plan.window.name: mappings.drop(TIME, REMAINING)},
        services={plan.service.iri: slices},
    )
    solutions = compile_pattern(plan.around, dataset)
    return evaluations(answer_rows(solutions, query.form), due, content.window)


def due_frame(spark: SparkSession, due: list[int]) -> DataFrame:
    """The numbers of the due evaluations as a DataFrame."""
    return spark.createDataFrame(pa.table({WINDOW: pa.array(due, pa.int64())}))
