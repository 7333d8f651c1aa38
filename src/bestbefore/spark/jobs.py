"""The two jobs of a batch: the compiled statements, bound to its elements, slices and due windows.

Most batches bring few elements; then the statements are planned once and run again and again
(`PlannedJobs`). What cannot be planned before, and many elements, are bound as temporary views.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import lcm
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from bestbefore.query import QueryPlan
from bestbefore.spark.answers import DUE, due_rows, due_table
from bestbefore.spark.buffer import Buffer
from bestbefore.spark.columns import ELEMENTS, EVALUATION, EVENT, FRESH, RANGE, column_of
from bestbefore.spark.compiled_query import (
    DUE_VIEW,
    ELEMENTS_VIEW,
    CompiledQuery,
    mappings_view,
    slice_view,
)
from bestbefore.spark.content import bounds_of
from bestbefore.spark.inbox import Inbox, is_reusable, json_rows
from bestbefore.windows import Due, Instants

_MOST_PLANS = 16


class Jobs(Protocol):
    """Job A and job B of a batch."""

    def statistics(self) -> pa.Table:
        """Job A: the key statistics of the due windows."""
        ...

    def give(self, slices: Sequence[pa.Table], evaluations: Sequence[int]) -> None:
        """Tell job B the view slices, and which evaluations are answered."""
        ...

    def lines(self) -> pa.Table:
        """Job B: the answers as lines of JSON, with their figures."""
        ...

    def answers(self) -> DataFrame:
        """Job B, to be run by a sink: the answers with their figures."""
        ...


@dataclass
class ViewJobs:
    """The jobs over temporary views that are made for the batch.

    With `keep` the mappings that job A finds are kept for job B, until `close`.
    """

    spark: SparkSession
    compiled: CompiledQuery
    due: Due
    keep: bool
    parameters: dict[str, str] = field(default_factory=dict)
    _kept: ExitStack = field(default_factory=ExitStack)

    def statistics(self) -> pa.Table:
        """Job A: the key statistics of the due windows."""
        self.parameters |= bounds_of(self.due.instants, self.due.first, self.due.last)
        for number, statement in enumerate(self.compiled.mappings):
            mappings = statement.on(self.spark, self.parameters)
            if self.keep:
                self._kept.callback(mappings.persist().unpersist)
            mappings.createOrReplaceTempView(mappings_view(number))
        return self.compiled.statistics.on(self.spark, self.parameters).toArrow()

    def give(self, slices: Sequence[pa.Table], evaluations: Sequence[int]) -> None:
        """Tell job B the view slices, and which evaluations are answered."""
        for number, cut in enumerate(slices):
            self.spark.createDataFrame(cut).createOrReplaceTempView(slice_view(number))
        self.parameters["due"] = due_rows(evaluations, self.due.timeline)

    def lines(self) -> pa.Table:
        """Job B: the answers as lines of JSON, with their figures."""
        return self.compiled.lines.on(self.spark, self.parameters).toArrow()

    def answers(self) -> DataFrame:
        """Job B, to be run by a sink: the answers with their figures."""
        return self.compiled.answers.on(self.spark, self.parameters)

    def close(self) -> None:
        """Let go of what was kept."""
        self._kept.close()


@dataclass(frozen=True)
class Plans:
    """The planned jobs for one number of due windows, and what job B is for other sinks."""

    statistics: DataFrame
    lines: DataFrame
    answers: DataFrame


@dataclass
class Planner:
    """Plans of a query's jobs over an inbox, made when they are first needed.

    A plan is for windows by their distance to the first due one, so that it fits any batch in which
    as many windows are due. `usable` turns false when Spark's plans turn out to keep results.
    """

    inbox: Inbox
    plan: QueryPlan
    usable: bool = True
    _plans: dict[tuple[Instants, int, int], Plans] = field(default_factory=dict)

    def plans(
        self, spark: SparkSession, compiled: CompiledQuery, instants: Instants, numbers: range
    ) -> Plans | None:
        """The plans for windows of these numbers, None if there can be none."""
        first, last = numbers[0], numbers[-1]
        key = (instants, first, last)
        if key not in self._plans and self.usable:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            found = self._planned(spark, compiled, bounds_of(instants, first, last))
            self.usable = is_reusable(found.statistics) and is_reusable(found.lines)
            self._plans[key] = found
        return self._plans[key] if self.usable else None

    def _planned(
        self, spark: SparkSession, compiled: CompiledQuery, parameters: dict[str, str]
    ) -> Plans:
        elements = {one.name: one.dataType.simpleString() for one in ELEMENTS.fields}
        del elements[EVENT]
        self.inbox.register(spark, ELEMENTS_VIEW, elements)
        self.inbox.register(spark, DUE_VIEW, dict.fromkeys(DUE, "BIGINT"))
        for service in self.plan.services:
            variables = [column_of(variable.name) for variable in service.variables]
            columns = {EVALUATION: "BIGINT", FRESH: "DOUBLE", **dict.fromkeys(variables, "STRING")}
            self.inbox.register(spark, slice_view(service.number), columns)
        parameters = {**parameters, "due": DUE_VIEW}
        for number, statement in enumerate(compiled.mappings):
            frame = statement.on(spark, parameters)
            frame.createOrReplaceTempView(mappings_view(number))
        return Plans(
            compiled.statistics.on(spark, parameters),
            compiled.lines.on(spark, parameters),
            compiled.answers.on(spark, parameters),
        )


@dataclass(frozen=True)
class PlannedJobs:
    """The jobs by plans that were made before, over the files of an inbox.

    `shift` is what evaluations are told less in there.
    """

    inbox: Inbox
    plans: Plans
    due: Due
    shift: int

    @staticmethod
    def shift_of(due: Due) -> int:
        """How far evaluations can be shifted so that windows fall on the same instants."""
        windows = range(len(due.instants.windows))
        period = lcm(*(due.instants.stride(window) for window in windows))
        return due.first // period * period

    def put_elements(self, buffer: Buffer) -> None:
        """Tell job A the elements."""
        base = self.shift * self.due.instants.step_ms
        self.inbox.put(ELEMENTS_VIEW, buffer.json_parts(), base=base)

    def statistics(self) -> pa.Table:
        """Job A: the key statistics of the due windows."""
        found = self.plans.statistics.toArrow()
        return _shifted(found, RANGE, self.shift)

    def give(self, slices: Sequence[pa.Table], evaluations: Sequence[int]) -> None:
        """Tell job B the view slices, and which evaluations are answered."""
        for number, cut in enumerate(slices):
            rows = json_rows(_shifted(cut, (EVALUATION,), -self.shift))
            self.inbox.put(slice_view(number), [rows])
        due = due_table(evaluations, self.due.timeline)
        self.inbox.put(DUE_VIEW, [json_rows(_shifted(due, (EVALUATION, "next"), -self.shift))])

    def lines(self) -> pa.Table:
        """Job B: the answers as lines of JSON, with their figures."""
        return self.plans.lines.toArrow()

    def answers(self) -> DataFrame:
        """Job B, to be run by a sink: the answers with their figures."""
        return self.plans.answers


def _shifted(table: pa.Table, columns: Sequence[str], by: int) -> pa.Table:
    for column in columns:
        moved = pc.add(table[column], by)
        table = table.set_column(table.column_names.index(column), column, moved)
    return table
