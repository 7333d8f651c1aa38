"""The answers of the evaluations that became due: job A, the maintenance of the views, job B."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.checkpoint.state import State, batch_name
from bestbefore.engine.asking import Asking
from bestbefore.engine.key_statistics import (
    Statistics,
    split_statistics,
    without_fingerprints,
)
from bestbefore.engine.maintaining import QueryNeeds
from bestbefore.engine.panes import Panes, has_panes
from bestbefore.engine.quality import Answer, Quality, quality_of
from bestbefore.engine.repeats import Repeats
from bestbefore.engine.schedule import opening
from bestbefore.engine.served_view import ServedView, ViewBatch
from bestbefore.engine.sinks import LineSink, Sink
from bestbefore.job import Job
from bestbefore.maintenance import EventClock, Outcome, event_clock
from bestbefore.query import OutputOperator
from bestbefore.query.algebra import Construct, PathPattern, expressions_of, walk
from bestbefore.query.expressions import is_repeatable
from bestbefore.rdf.terms import BlankNode
from bestbefore.spark.answers import COUNT, ESTIMATE, FIGURES
from bestbefore.spark.buffer import Buffer
from bestbefore.spark.columns import EVALUATION
from bestbefore.spark.compiled_query import (
    PREVIOUS_VIEW,
    ROWS_VIEW,
    CompiledQuery,
    compile_query,
    no_previous_rows,
    previous_rows,
    window_contents,
)
from bestbefore.spark.jobs import (
    Answers,
    Given,
    PlannedAnswers,
    Planner,
    ViewJobs,
    planned_statistics,
)
from bestbefore.spark.output_stream import answer_columns, operator_of
from bestbefore.spark.relation import name_table
from bestbefore.spark.session import FEW_ROWS
from bestbefore.spark.sql import quoted
from bestbefore.spark.static_graphs import StaticTables
from bestbefore.time import Clock, monotonic_s
from bestbefore.windows import Due, Instants, ReportStrategy, reported

Outcomes = Sequence[Sequence[Outcome]]
"""What maintenance did, per service and evaluation."""


@dataclass(frozen=True)
class Prepared:
    """Due evaluations between job A and job B.

    `bind` lets job B find the elements, if job A did not look at them there.
    """

    due: Due
    state: State
    few: bool
    views: ViewJobs
    needs: QueryNeeds
    told: Sequence[pa.Table | None]
    bind: Callable[[], None] | None


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
    repeats: Repeats = field(default_factory=Repeats)
    panes: Panes = field(default_factory=Panes)
    _statements: dict[tuple[Instants, bool, bool], CompiledQuery] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)
    _took: dict[str, Any] = field(default_factory=dict)

    @property
    def compares(self) -> bool:
        """Whether an answer is compared with the one before it."""
        return operator_of(self.job.query) is not OutputOperator.RSTREAM

    def note_merged(self, names: Sequence[str], name: str) -> None:
        """Know of a segment what is known of those that it took the place of."""
        self.panes.note_merged(names, name)
        self.repeats.note_merged(names, name)

    def prepare(
        self,
        spark: SparkSession,
        buffer: Buffer,
        due: Due,
        *,
        state: State,
        few: bool,
        begin: Callable[[ServedView], ViewBatch],
    ) -> "Prepared":
        """Run job A for what is due: what the services are asked for by which evaluations.

        With `few` elements one task goes through them. The session knows those that are numbered.
        `begin` begins to maintain a view, or finds it begun.
        """
        clock = self._event_clock(due)
        paned = self._has_panes and (self._plannable or not few)
        statistics = self._from_panes(spark, buffer, due) if paned else None
        compiled = self._compiled(spark, due.instants, few=few)
        if statistics is None and few and self._plannable:
            found = planned_statistics(self.planner, spark, compiled, buffer, due)
            statistics = None if found is None else split_statistics(found, self.job.plan)
        planned = statistics is not None
        views = ViewJobs(spark, compiled, due, keep=not few or not self._repeats)
        bind = partial(self._bind, views, buffer, opening(self.job, state), few=few)
        try:
            if statistics is None:
                collected = self._statistics(views, buffer, bind, few=few)
                statistics = split_statistics(collected, self.job.plan)
            needs, told = self._needs(statistics, due, compiled, begin, clock=clock)
        except BaseException:
            views.close()
            raise
        return Prepared(due, state, few, views, needs, told, bind if planned else None)

    def answer(self, prepared: "Prepared", *, started_s: float) -> list[Quality]:
        """Run job B once the views are maintained, and write; tell the quality of each answer."""
        views, state, few, needs = prepared.views, prepared.state, prepared.few, prepared.needs
        given = Given(needs.slices(), prepared.told, needs.evaluations)
        maintained_ms = self.clock()
        with closing(views):
            figures = self._by_plan(views, given, state.batch, few=few)
            if figures is None:
                if prepared.bind is not None:
                    prepared.bind()
                views.give(given)
                with self._compared(views, given, state):
                    figures = self._write(views, state.batch, few=few)
        outcomes = needs.outcomes()
        self._note_times(outcomes, maintained_ms, started_s)
        return self._qualities(figures, prepared.due, given, outcomes, clock=needs.clock)

    def _event_clock(self, due: Due) -> EventClock:
        """The clock of the stream during a batch, which is likely to take as long as the last."""
        return replace(event_clock(self.clock, due.timeline.at(due.last)), **self._took)

    def _note_times(self, outcomes: Outcomes, maintained_ms: int, started_s: float) -> None:
        """Note how long a batch took, per evaluation: to write it, to ask, and all the rest."""
        evaluations = max(1, *(len(of_service) for of_service in outcomes), 1)
        asked_s = sum(outcome.reply.seconds for each in outcomes for outcome in each)
        whole_s = monotonic_s() - started_s
        self._took.update(
            writing_ms=max(0, self.clock() - maintained_ms),
            busy_ms=round(1000 * max(0.0, whole_s - asked_s) / evaluations),
            asking_ms=round(1000 * asked_s / evaluations),
        )

    def _bind(self, views: ViewJobs, buffer: Buffer, opening_ms: int | None, *, few: bool) -> None:
        """Let the session know the elements as temporary views, in place of the inbox's tables."""
        self.planner.known = False
        if self.job.counts_elements:
            views.bind(None)
        else:
            views.bind(buffer.read(views.spark, opening_ms=opening_ms, few=few))

    def _statistics(
        self, views: ViewJobs, buffer: Buffer, bind: Callable[[], None], *, few: bool
    ) -> pa.Table:
        """Job A over temporary views.

        Unless it is known to be otherwise, each of many triples is taken to have come once; if job
        A then finds one that did not, it runs again.
        """
        unknown = None if few else self.repeats.unknown(buffer.segments)
        if unknown and not self.job.counts_elements:
            with_repeats, instants = views.compiled, views.due.instants
            views.compiled = self._compiled(views.spark, instants, few=few, repeating=False)
            bind()
            found = views.statistics(new=buffer.only(unknown).read(views.spark))
            statistics, fingerprints = without_fingerprints(found)
            if self.repeats.learn(unknown, fingerprints):
                return statistics
            views.close()
            views.compiled = with_repeats
        bind()
        return views.statistics()

    def _from_panes(self, spark: SparkSession, buffer: Buffer, due: Due) -> Statistics | None:
        """Job A over the elements that are in no pane; None if a triple may have come again.

        None, too, where there are no elements.
        """
        if not buffer.segments or self.repeats.unknown(buffer.segments) is None:
            return None
        if missing := self.panes.missing(buffer.segments, due):
            last = max(due.last, due.instants.last_with(buffer.latest_ms))
            later, new = replace(due, last=last), buffer.only(missing)
            collected, fingerprints = self._reduced(spark, new, later)
            if not self.repeats.learn(missing, fingerprints):
                return None
            self.panes.add(missing, split_statistics(collected, self.job.plan))
        return self.panes.statistics(due)

    def _reduced(
        self, spark: SparkSession, new: Buffer, due: Due
    ) -> tuple[pa.Table, pa.ChunkedArray]:
        """The key statistics of new elements that each came once, and their fingerprints."""
        if new.elements < FEW_ROWS and self._plannable:
            compiled = self._compiled(spark, due.instants, few=True)
            statistics = planned_statistics(self.planner, spark, compiled, new, due)
            if statistics is not None:
                return statistics, new.fingerprints()
        self.planner.known = False
        compiled = self._compiled(spark, due.instants, few=False, repeating=False)
        views, elements = ViewJobs(spark, compiled, due, keep=False), new.read(spark)
        views.bind(elements)
        return without_fingerprints(views.statistics(elements))

    def _by_plan(
        self, views: ViewJobs, given: Given, batch: int, *, few: bool
    ) -> dict[int, dict[str, Any]] | None:
        """Run job B by a plan made before, if it has few rows and all of them are here."""
        told = all(service is not None for service in views.compiled.told)
        if not self._plannable or not (few or told) or given.rows >= FEW_ROWS:
            return None
        compiled = self._compiled(views.spark, views.due.instants, few=True)
        planned = PlannedAnswers(self.planner, views.spark, compiled, views.due)
        return self._write(planned, batch, few=True) if planned.give(given) else None

    @property
    def _plannable(self) -> bool:
        """Whether plans that were made before can answer."""
        return self._repeats and not self.compares and not self.job.counts_elements

    @cached_property
    def _has_panes(self) -> bool:
        """Whether what an element counts for later is known when it comes."""
        closes = self.job.report.strategy is ReportStrategy.WINDOW_CLOSE
        by_time = closes and not self.job.counts_elements
        return by_time and self._repeats and has_panes(self.job.plan)

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

    def _compiled(
        self, spark: SparkSession, instants: Instants, *, few: bool, repeating: bool = True
    ) -> CompiledQuery:
        """The statements for windows that begin at a time, compiled when first asked for."""
        if not self._statements and self.static is not None:
            self.static.register(spark)
        key = (instants, few, repeating)
        if key not in self._statements:
            streams = self.job.streams_of_windows()
            contents = window_contents(instants, streams, together=few, repeating=repeating)
            self._statements[key] = compile_query(
                self.job.query,
                self.job.plan,
                contents,
                self.job.report.strategy,
                refresh_keys=[service.refresh_key for service in self.job.services],
                row_freshness=self.job.sink.row_freshness,
            )
        return self._statements[key]

    @contextmanager
    def _compared(self, jobs: ViewJobs, given: Given, state: State) -> Iterator[None]:
        """The tables of ISTREAM and DSTREAM: the rows, and those of the last answer before.

        Those of the last evaluation are kept after the others were used, since then they are known.
        """
        if not self.compares:
            yield
            return
        columns = answer_columns(jobs.compiled.rows.columns)
        if state.answered and given.evaluations:
            jobs.parameters["previous"] = previous_rows(given.evaluations[0])
            previous = jobs.spark.read.parquet(f"{self.folder}/{state.answered}")
            name_table(previous.toDF(*columns), PREVIOUS_VIEW)
        else:
            jobs.parameters["previous"] = no_previous_rows(columns)
        rows = jobs.compiled.rows.on(jobs.spark, jobs.parameters).persist()
        name_table(rows, ROWS_VIEW)
        try:
            yield
            if given.evaluations:
                last = rows.filter(f"{EVALUATION} = {given.evaluations[-1]}")
                written = last.select(*quoted(columns)).write.mode("overwrite")
                written.parquet(f"{self.folder}/{batch_name(state.batch)}")
        finally:
            rows.unpersist()

    def _needs(
        self,
        statistics: Statistics,
        due: Due,
        compiled: CompiledQuery,
        begin: Callable[[ServedView], ViewBatch],
        *,
        clock: EventClock,
    ) -> tuple[QueryNeeds, list[pa.Table | None]]:
        """The evaluations that are answered with what their services are asked for.

        And the mappings of the windows that the statistics tell.
        """
        numbers = reported(
            self.job.report,
            due.answered(statistics.non_empty),
            due.timeline,
            found=statistics.reported,
        )
        views = [begin(served) for served in self.served]
        askings = [
            Asking(clause, served.view, due.timeline, counts)
            for clause, served, counts in zip(
                self.job.services, self.served, statistics.services, strict=True
            )
        ]
        told = [
            None if service is None else statistics.told(self.job.plan.services[service], numbers)
            for service in compiled.told
        ]
        needs = QueryNeeds(self.job.plan, numbers, views, askings, clock, self.job.shared_budget)
        return needs, told

    def _write(self, jobs: Answers, batch: int, *, few: bool) -> dict[int, dict[str, Any]]:
        """Write the answers; the figures of each come out of the same Spark job.

        Answers are likely to have as many rows as those before; few are collected and written here.
        """
        figures = self._written(
            jobs, batch, few=few or self._rows.get("before", FEW_ROWS) < FEW_ROWS
        )
        self._rows["before"] = sum(row[COUNT] for row in figures.values())
        return figures

    def _written(self, jobs: Answers, batch: int, *, few: bool) -> dict[int, dict[str, Any]]:
        if few and isinstance(self.sink, LineSink):
            table = jobs.lines().sort_by(EVALUATION)
            self.sink.write_lines(table["line"].to_pylist(), batch)
            return {row[EVALUATION]: row for row in table.drop_columns(["line"]).to_pylist()}
        observation = Observation()
        figures = F.collect_list(F.struct(EVALUATION, *FIGURES)).alias("figures")
        self.sink(jobs.frame().observe(observation, figures).drop(*FIGURES), batch)
        return {row[EVALUATION]: row.asDict() for row in observation.get["figures"]}

    def _qualities(
        self,
        figures: dict[int, dict[str, Any]],
        due: Due,
        given: Given,
        outcomes: Outcomes,
        *,
        clock: EventClock,
    ) -> list[Quality]:
        records = []
        for number, evaluation in enumerate(given.evaluations):
            answer = Answer(
                evaluation=evaluation,
                at=due.timeline.at(evaluation),
                window=due.timeline.window(evaluation),
                rows=figures[evaluation][COUNT],
                fresh=figures[evaluation][ESTIMATE],
                written_ms=self.clock(),
                took_ms=clock.spent_ms(due.timeline.at(evaluation)),
            )
            services = zip(self.served, outcomes, strict=True)
            done = [(served.job, of_service[number]) for served, of_service in services]
            records.append(quality_of(answer, done))
        return records
