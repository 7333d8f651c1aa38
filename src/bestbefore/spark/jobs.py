"""The two jobs of a batch: the compiled statements, bound to its elements, slices and due windows.

Most jobs have few rows to go through; then their statements are planned once and run again and
again. What cannot be planned before, and many rows, are bound as temporary views (`ViewJobs`).
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
from bestbefore.spark.columns import (
    ELEMENTS,
    EVALUATION,
    FRESH,
    FROM_EVALUATION,
    MAPPINGS,
    RANGE,
    TO_EVALUATION,
    UNSEEN,
    column_of,
)
from bestbefore.spark.compiled_query import (
    DUE_VIEW,
    ELEMENTS_VIEW,
    NEW_VIEW,
    CompiledQuery,
    mappings_view,
    slice_view,
    told_view,
)
from bestbefore.spark.content import bounds_of
from bestbefore.spark.inbox import Inbox, is_reusable, json_columns
from bestbefore.spark.output_stream import NEXT
from bestbefore.spark.relation import Statement, name_table
from bestbefore.spark.session import CODEGEN
from bestbefore.windows import Due

_MOST_PLANS = 32


@dataclass(frozen=True)
class Given:
    """What job B is given: view slices, mappings that statistics told, evaluations to answer."""

    slices: Sequence[pa.Table]
    told: Sequence[pa.Table | None]
    evaluations: Sequence[int]

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The tables by their views."""
        slices = {slice_view(number): table for number, table in enumerate(self.slices)}
        told = {told_view(number): one for number, one in enumerate(self.told) if one is not None}
        return slices | told

    @property
    def rows(self) -> int:
        """How many rows they have."""
        return sum(table.num_rows for table in self.tables.values())


class Answers(Protocol):
    """Job B of a batch."""

    def lines(self) -> pa.Table:
        """The answers as lines of JSON, with their figures."""
        ...

    def frame(self) -> DataFrame:
        """The answers with their figures, to be run by a sink."""
        ...


@dataclass
class ViewJobs:
    """The jobs over temporary views that are made for the batch.

    With `keep` the mappings that job A finds, and job B needs, are kept until `close`.
    """

    spark: SparkSession
    compiled: CompiledQuery
    due: Due
    keep: bool
    parameters: dict[str, str] = field(default_factory=dict)
    _kept: ExitStack = field(default_factory=ExitStack)

    def bind(self, elements: DataFrame | None) -> None:
        """Let the session know the elements, unless it does, and the mappings in them."""
        if elements is not None:
            name_table(elements, ELEMENTS_VIEW)
        self.parameters |= bounds_of(self.due.instants, self.due.first, self.due.last)
        told = zip(self.compiled.mappings, self.compiled.told, strict=True)
        for number, (statement, service) in enumerate(told):
            mappings = statement.on(self.spark, self.parameters)
            if self.keep and service is None:
                self._kept.callback(mappings.persist().unpersist)
            name_table(mappings, mappings_view(number))

    def statistics(self, new: DataFrame | None = None) -> pa.Table:
        """Job A: the key statistics of the due windows, and the fingerprints of new elements."""
        if new is not None:
            name_table(new, NEW_VIEW)
        return self.compiled.statistics.on(self.spark, self.parameters).toArrow()

    def give(self, given: Given) -> None:
        """Tell job B its tables."""
        for view, table in given.tables.items():
            name_table(self.spark.createDataFrame(table), view)
        self.parameters["due"] = due_rows(given.evaluations, self.due.timeline)

    def lines(self) -> pa.Table:
        """Job B: the answers as lines of JSON, with their figures."""
        return self.compiled.lines.on(self.spark, self.parameters).toArrow()

    def frame(self) -> DataFrame:
        """Job B, to be run by a sink: the answers with their figures."""
        return self.compiled.answers.on(self.spark, self.parameters)

    def close(self) -> None:
        """Let go of what was kept."""
        self._kept.close()


@dataclass
class Planner:
    """Plans of a query's statements over an inbox, made when they are first needed.

    A plan is for windows by their distance to the first due one, and for a few more than are due,
    so that few plans fit all batches. `usable` turns false when a plan turns out to keep results,
    `known` is true while the session knows the inbox's tables and no others by their names.
    """

    inbox: Inbox
    plan: QueryPlan
    usable: bool = True
    known: bool = False
    _plans: dict[tuple[Statement, str, str], DataFrame] = field(default_factory=dict)

    def frame(
        self, spark: SparkSession, compiled: CompiledQuery, statement: Statement, due: "Shifted"
    ) -> DataFrame | None:
        """A statement planned for the due windows, None if that is not possible."""
        bounds = "" if _fits_all(compiled, statement) else due.parameters["bounds"]
        key = (statement, bounds, str(spark.conf.get(CODEGEN)))
        if key not in self._plans and self.usable:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._register(spark)
            for number, mappings in enumerate(compiled.mappings if bounds else ()):
                name_table(mappings.on(spark, due.parameters), mappings_view(number))
            self._plans[key] = statement.on(spark, {**due.parameters, "due": DUE_VIEW})
            self.usable = is_reusable(self._plans[key])
        return self._plans[key] if self.usable else None

    def _register(self, spark: SparkSession) -> None:
        """Let a session know the tables of the inbox."""
        if self.known:
            return
        fields = [one for one in ELEMENTS.fields if one.name not in UNSEEN]
        elements = {one.name: one.dataType.simpleString() for one in fields}
        tables = {ELEMENTS_VIEW: elements, DUE_VIEW: dict.fromkeys(DUE, "BIGINT")}
        for service in self.plan.services:
            own = {EVALUATION: "BIGINT", FRESH: "DOUBLE"}
            texts = {column_of(variable.name): "STRING" for variable in service.variables}
            tables[slice_view(service.number)] = own | texts
        for window in self.plan.windows:
            own = {EVALUATION: "BIGINT", MAPPINGS: "BIGINT"}
            texts = {column_of(variable.name): "STRING" for variable in window.outputs}
            tables[told_view(window.number)] = own | texts
        for view, columns in tables.items():
            self.inbox.register(spark, view, columns)
        self.known = True


def _fits_all(compiled: CompiledQuery, statement: Statement) -> bool:
    """Whether a statement is the same whatever windows are due: it looks at no element."""
    told = all(service is not None for service in compiled.told)
    return told and statement != compiled.statistics and not statement.has_parameter("bounds")


@dataclass(frozen=True)
class Shifted:
    """The due windows by numbers that are the same in most batches."""

    due: Due

    @property
    def by(self) -> int:
        """How far evaluations are shifted: as far as windows fall on the same instants."""
        instants = self.due.instants
        period = lcm(*(instants.stride(window) for window in range(len(instants.windows))))
        return self.due.first // period * period

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of statements about these windows, and some after them: 4, 16, 64 …"""
        windows = 4
        while windows < len(self.due):
            windows *= 4
        first = self.due.first - self.by
        return bounds_of(self.due.instants, first, first + windows - 1)


def planned_statistics(
    planner: Planner, spark: SparkSession, compiled: CompiledQuery, buffer: Buffer, due: Due
) -> pa.Table | None:
    """Job A over a buffer's elements by a plan that was made before, None if there can be none."""
    shifted = Shifted(due)
    frame = planner.frame(spark, compiled, compiled.statistics, shifted)
    if frame is None:
        return None
    base = shifted.by * due.instants.step_ms
    planner.inbox.put(ELEMENTS_VIEW, buffer.json_parts(), base=base)
    found = _moved(frame.toArrow(), RANGE, shifted.by)
    # The plan was for a few windows more.
    found = found.filter(pc.field(FROM_EVALUATION) <= due.last)
    last = pc.min_element_wise(found[TO_EVALUATION], due.last)
    return found.set_column(found.column_names.index(TO_EVALUATION), TO_EVALUATION, last)


@dataclass(frozen=True)
class PlannedAnswers:
    """Job B by plans that were made before."""

    planner: Planner
    spark: SparkSession
    compiled: CompiledQuery
    due: Due

    def give(self, given: Given) -> bool:
        """Tell job B its tables; False if there can be no plan."""
        shifted = Shifted(self.due)
        if self.planner.frame(self.spark, self.compiled, self.compiled.lines, shifted) is None:
            return False
        due = {DUE_VIEW: due_table(given.evaluations, self.due.timeline)}
        for view, table in {**given.tables, **due}.items():
            numbers = [name for name in (EVALUATION, NEXT) if name in table.column_names]
            self.planner.inbox.put(view, [json_columns(_moved(table, numbers, -shifted.by))])
        return True

    def lines(self) -> pa.Table:
        """The answers as lines of JSON, with their figures."""
        return self._planned(self.compiled.lines).toArrow()

    def frame(self) -> DataFrame:
        """The answers with their figures, to be run by a sink."""
        return self._planned(self.compiled.answers)

    def _planned(self, statement: Statement) -> DataFrame:
        frame = self.planner.frame(self.spark, self.compiled, statement, Shifted(self.due))
        assert frame is not None  # noqa: S101 - `give` has found that there is a plan
        return frame


def _moved(table: pa.Table, columns: Sequence[str], by: int) -> pa.Table:
    for column in columns:
        moved = pc.add(table[column], by)
        table = table.set_column(table.column_names.index(column), column, moved)
    return table
