"""The answers of the evaluations that became due: job A, the maintenance of the views, job B."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.checkpoint.state import State, batch_name
from bestbefore.engine.key_statistics import split_statistics
from bestbefore.engine.quality import Answer, Quality, quality_of
from bestbefore.engine.schedule import opening
from bestbefore.engine.served_view import ServedView
from bestbefore.engine.sinks import LineSink, Sink
from bestbefore.job import Job
from bestbefore.maintenance import Outcome
from bestbefore.query import OutputOperator
from bestbefore.query.algebra import Construct, PathPattern, expressions_of, walk
from bestbefore.query.expressions import is_repeatable
from bestbefore.rdf.terms import BlankNode
from bestbefore.spark.buffer import Buffer
from bestbefore.spark.columns import EVALUATION, FRESH
from bestbefore.spark.compiled_query import (
    ANSWER,
    ELEMENTS_VIEW,
    PREVIOUS_VIEW,
    ROWS_VIEW,
    CompiledQuery,
    compile_query,
    no_previous_rows,
    previous_rows,
)
from bestbefore.spark.jobs import Jobs, PlannedJobs, Planner, ViewJobs
from bestbefore.spark.output_stream import answer_columns, operator_of
from bestbefore.spark.session import FEW_ROWS
from bestbefore.spark.sql import quoted
from bestbefore.spark.static_graphs import StaticTables
from bestbefore.time import Clock
from bestbefore.windows import Due, Instants, reported


@dataclass(frozen=True)
class Maintained:
    """The evaluations that are answered; per service their view slices, and what each did."""

    evaluations: Sequence[int]
    slices: Sequence[pa.Table]
    outcomes: Sequence[Sequence[Outcome]]


@dataclass(frozen=True)
class Answering:
    """What a job answers with: the views of its services, its static graphs and its sink.

    `folder` is where the last answer is kept for ISTREAM and DSTREAM.
    """

    job: Job
    served: tuple[ServedView, ...]
    sink: Sink
    clock: Clock
    folder: str
    planner: Planner
    static: StaticTables | None = None
    _statements: dict[tuple[Instants, bool], CompiledQuery] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    @property
    def compares(self) -> bool:
        """Whether an answer is compared with the one before it."""
        return operator_of(self.job.query) is not OutputOperator.RSTREAM

    def answer(
        self, spark: SparkSession, buffer: Buffer, due: Due, *, state: State, few: bool
    ) -> tuple[list[Quality], Maintained]:
        """Answer what is due and write it; tell the quality of each answer.

        With `few` elements one task goes through them. The session knows those that are numbered.
        """
        compiled = self._compiled(spark, due.instants, few=few)
        planned = self._planned(spark, compiled, buffer, due) if few else None
        if planned is not None:
            return self._answered(planned, due, state, few=few)
        if not self.job.counts_elements:
            elements = buffer.read(spark, opening_ms=opening(self.job, state), few=few)
            elements.createOrReplaceTempView(ELEMENTS_VIEW)
        with closing(ViewJobs(spark, compiled, due, keep=not few or not self._repeats)) as jobs:
            return self._answered(jobs, due, state, few=few)

    def _answered(
        self, jobs: Jobs, due: Due, state: State, *, few: bool
    ) -> tuple[list[Quality], Maintained]:
        maintained = self._maintain(jobs.statistics(), due, state)
        jobs.give(maintained.slices, maintained.evaluations)
        if isinstance(jobs, ViewJobs) and self.compares:
            with self._compared(jobs, maintained, state):
                figures = self._write(jobs, state.batch, few=few)
        else:
            figures = self._write(jobs, state.batch, few=few)
        return self._qualities(figures, due, maintained), maintained

    def _planned(
        self, spark: SparkSession, compiled: CompiledQuery, buffer: Buffer, due: Due
    ) -> PlannedJobs | None:
        """The jobs by plans that were made before, if that is possible."""
        if not self._repeats or self.compares or self.job.counts_elements:
            return None
        shift = PlannedJobs.shift_of(due)
        numbers = range(due.first - shift, due.last - shift + 1)
        plans = self.planner.plans(spark, compiled, due.instants, numbers)
        if plans is None:
            return None
        jobs = PlannedJobs(self.planner.inbox, plans, due, shift)
        jobs.put_elements(buffer)
        return jobs

    @cached_property
    def _repeats(self) -> bool:
        """Whether what is computed again is the same, whatever the number of the evaluation is."""
        patterns = [self.job.plan.around, *(window.pattern for window in self.job.plan.windows)]
        nodes = [node for pattern in patterns for node in walk(pattern)]
        template = (
            self.job.query.form.template if isinstance(self.job.query.form, Construct) else ()
        )
        return (
            all(is_repeatable(one) for node in nodes for one in expressions_of(node))
            and not any(isinstance(node, PathPattern) for node in nodes)
            and not any(isinstance(term, BlankNode) for triple in template for term in triple.terms)
        )

    def _compiled(self, spark: SparkSession, instants: Instants, *, few: bool) -> CompiledQuery:
        """The statements for windows that begin at a time, compiled when first asked for."""
        if not self._statements and self.static is not None:
            self.static.register(spark)
        if (instants, few) not in self._statements:
            self._statements[instants, few] = compile_query(
                self.job.query,
                self.job.plan,
                instants,
                self.job.report.strategy,
                streams=self.job.streams_of_windows(),
                together=few,
            )
        return self._statements[instants, few]

    @contextmanager
    def _compared(self, jobs: ViewJobs, maintained: Maintained, state: State) -> Iterator[None]:
        """The tables of ISTREAM and DSTREAM: the rows, and those of the last answer before.

        Those of the last evaluation are kept after the others were used, since then they are known.
        """
        columns = answer_columns(jobs.compiled.rows.columns)
        if state.answered and maintained.evaluations:
            jobs.parameters["previous"] = previous_rows(maintained.evaluations[0])
            previous = jobs.spark.read.parquet(f"{self.folder}/{state.answered}")
            previous.toDF(*columns).createOrReplaceTempView(PREVIOUS_VIEW)
        else:
            jobs.parameters["previous"] = no_previous_rows(columns)
        rows = jobs.compiled.rows.on(jobs.spark, jobs.parameters).persist()
        rows.createOrReplaceTempView(ROWS_VIEW)
        try:
            yield
            if maintained.evaluations:
                last = rows.filter(f"{EVALUATION} = {maintained.evaluations[-1]}")
                written = last.select(*quoted(columns)).write.mode("overwrite")
                written.parquet(f"{self.folder}/{batch_name(state.batch)}")
        finally:
            rows.unpersist()

    def _maintain(self, collected: pa.Table, due: Due, state: State) -> Maintained:
        """Choose the evaluations that are answered, and maintain the view of each service."""
        statistics = split_statistics(collected, self.job.plan)
        numbers = reported(
            self.job.report,
            due.answered(statistics.non_empty),
            due.timeline,
            found=statistics.reported,
        )
        done = [
            served.maintain(
                state.batch,
                numbers,
                table,
                timeline=due.timeline,
                saved=state.view(served.job.name).saved,
            )
            for served, table in zip(self.served, statistics.services, strict=True)
        ]
        return Maintained(numbers, [cut for cut, _ in done], [outcomes for _, outcomes in done])

    def _write(self, jobs: Jobs, batch: int, *, few: bool) -> dict[int, dict[str, Any]]:
        """Write the answers; the figures of each come out of the same Spark job.

        Answers are likely to have as many rows as those before; few are collected and written here.
        """
        figures = self._written(
            jobs, batch, few=few or self._rows.get("before", FEW_ROWS) < FEW_ROWS
        )
        self._rows["before"] = sum(row["count"] for row in figures.values())
        return figures

    def _written(self, jobs: Jobs, batch: int, *, few: bool) -> dict[int, dict[str, Any]]:
        if few and isinstance(self.sink, LineSink):
            table = jobs.lines().sort_by(EVALUATION)
            self.sink.write_lines(table["line"].to_pylist(), batch)
            return {row[EVALUATION]: row for row in table.drop_columns(["line"]).to_pylist()}
        observation = Observation()
        figures = F.collect_list(F.struct(EVALUATION, "count", FRESH)).alias("figures")
        self.sink(jobs.answers().observe(observation, figures).select(*ANSWER), batch)
        return {row[EVALUATION]: row.asDict() for row in observation.get["figures"]}

    def _qualities(
        self, figures: dict[int, dict[str, Any]], due: Due, maintained: Maintained
    ) -> list[Quality]:
        records = []
        for number, evaluation in enumerate(maintained.evaluations):
            answer = Answer(
                evaluation=evaluation,
                at=due.timeline.at(evaluation),
                window=due.timeline.window(evaluation),
                rows=figures[evaluation]["count"],
                fresh=figures[evaluation][FRESH],
                written_ms=self.clock(),
            )
            services = zip(self.served, maintained.outcomes, strict=True)
            done = [(served.job, outcomes[number]) for served, outcomes in services]
            records.append(quality_of(answer, done))
        return records
