"""One micro-batch: a transaction from the elements that came to the answers that became due.

Spark runs one job that makes the elements durable, job A over the windows, and job B that joins and
writes, however many windows are due. Nothing is final before the state is committed; a batch that
is repeated overwrites what it wrote before, and a committed batch is not repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.engine.key_statistics import split_statistics
from bestbefore.engine.quality import Answer, Quality, quality_of
from bestbefore.engine.schedule import due_evaluations, watermark_of, with_start
from bestbefore.engine.served_view import ServedView
from bestbefore.engine.sinks import ANSWER, Sink
from bestbefore.engine.state import Commits, State
from bestbefore.job import Job
from bestbefore.maintenance import Outcome
from bestbefore.spark.answers import answer_job, due_frame, evaluations
from bestbefore.spark.buffer import Buffer, Intake
from bestbefore.spark.columns import FRESH
from bestbefore.spark.content import WindowContents
from bestbefore.spark.output_stream import LastAnswer, operator_of
from bestbefore.spark.session import is_small, tune
from bestbefore.spark.static_graphs import StaticTables
from bestbefore.spark.window_mappings import WindowJob, window_job
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s
from bestbefore.windows import Due, Timeline, reported

QualityListener = Callable[[Quality], None]


@dataclass
class BatchProcessor:
    """What `foreachBatch` calls: it turns batches into committed states."""

    job: Job
    storage: Storage
    quality_storage: Storage | None
    served: tuple[ServedView, ...]
    sink: Sink
    on_quality: QualityListener
    clock: Clock
    state: State
    static: StaticTables | None = None

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Process a batch, unless it was committed before a crash."""
        if number <= self.state.batch:
            return
        started = monotonic_s()
        # A batch is likely to be as large as the one before.
        expected = self.state.segments[-1].brought if self.state.segments else 0
        tune(batch.sparkSession, rows=expected)
        buffer, intake = self._take_in(batch, number)
        spark = tune(batch.sparkSession, rows=buffer.elements)
        state = self._with_intake(number, buffer, intake)
        elements, due, state = due_evaluations(self.job, state, buffer.read(spark))
        records = list[Quality]()
        if due is not None:
            small = is_small(buffer.elements)
            streams = self.job.streams_of_windows()
            contents = WindowContents(
                elements, due.instants, streams, due.first, due.last, together=small
            )
            records, state = self._answer(spark, contents, due, state)
        seconds = monotonic_s() - started
        records = [
            replace(record, batch=number, batch_evaluations=len(records), batch_s=round(seconds, 4))
            for record in records
        ]
        if records:
            skipped = 0 if due is None else due.skipped(len(records))
            records[0] = self._with_counts(records[0], state, skipped=skipped)
            state = replace(state, reported=state.taken_in)
        self._write_quality(number, records)
        Commits(self.storage).commit(state)
        self._clean_up(self.state, state, records)
        self.state = state
        for record in records:
            self.on_quality(record)

    def _with_counts(self, record: Quality, state: State, *, skipped: int) -> Quality:
        """The record with what the stream brought since the last one."""
        counts = zip(state.taken_in, state.reported, strict=True)
        elements, late, quarantined = (total - told for total, told in counts)
        return replace(
            record, elements=elements, late=late, quarantined=quarantined, skipped_empty=skipped
        )

    def _take_in(self, batch: DataFrame, number: int) -> tuple[Buffer, Intake]:
        buffer = Buffer(f"{self.storage.root}/buffer", self.state.segments)
        name = _batch_name(number)
        buffer, intake = buffer.add(
            batch,
            name,
            watermark_ms=watermark_of(self.job, self.state),
            horizon_ms=self.clock() + self.job.clock_skew_ms,
            streams=tuple(stream.iri for stream in self.job.streams),
            needed=self.state.needed,
        )
        if intake.quarantined:
            bad = buffer.quarantined(batch.sparkSession, name)
            bad.write.mode("overwrite").json(f"{self.storage.root}/quarantine/{name}")
        return buffer, intake

    def _with_intake(self, number: int, buffer: Buffer, intake: Intake) -> State:
        state = replace(
            self.state,
            batch=number,
            segments=buffer.segments,
            elements=self.state.elements + intake.elements,
            late=self.state.late + intake.late,
            quarantined=self.state.quarantined + intake.quarantined,
        )
        if intake.latest_ms is None or intake.earliest_ms is None:
            return state
        latest = {
            name: max(time, state.latest.get(name, time))
            for name, time in {**state.latest, **intake.latest_of}.items()
        }
        return with_start(self.job, replace(state, latest=latest), intake.earliest_ms)

    def _answer(
        self, spark: SparkSession, content: WindowContents, due: Due, state: State
    ) -> tuple[list[Quality], State]:
        if state.begun_ms is None:
            state = replace(state, begun_ms=due.timeline.at(due.first))
            for each in self.served:
                each.view.begin(state.begun_ms or 0)
        job_a = window_job(self.job.plan, content, self.job.report.strategy)
        job_a.persist()
        try:
            slices, outcomes, answered = self._maintain(job_a, due, state)
            counts = self._join(
                spark,
                job_a,
                content,
                slices,
                answered,
                timeline=due.timeline,
                number=state.batch,
            )
        finally:
            job_a.unpersist()
        maintained = list(zip(self.served, outcomes, strict=True))
        records = [
            quality_of(
                self._answer_of(counts[evaluation], due.timeline),
                [(served.job, done[number]) for served, done in maintained],
            )
            for number, evaluation in enumerate(answered)
        ]
        return records, self._settle(state, due, records, outcomes)

    def _maintain(
        self, job_a: WindowJob, due: Due, state: State
    ) -> tuple[list[pa.Table], list[list[Outcome]], list[int]]:
        statistics = split_statistics(job_a.statistics.toArrow(), self.job.plan)
        answered = reported(
            self.job.report,
            due.answered(statistics.non_empty),
            due.timeline,
            found=statistics.reported,
        )
        slices, outcomes = [], []
        for served, table in zip(self.served, statistics.services, strict=True):
            cut, done = served.maintain(
                state.batch,
                answered,
                table,
                timeline=due.timeline,
                saved=state.view(served.job.name).saved,
            )
            slices.append(cut)
            outcomes.append(done)
        return slices, outcomes, answered

    def _join(  # noqa: PLR0913 - what a batch has come to
        self,
        spark: SparkSession,
        job_a: WindowJob,
        content: WindowContents,
        slices: list[pa.Table],
        answered: list[int],
        *,
        timeline: Timeline,
        number: int,
    ) -> dict[int, Row]:
        due = due_frame(spark, answered, timeline)
        rows = answer_job(
            self.job.query,
            self.job.plan,
            content,
            mappings=job_a.mappings,
            slices=[spark.createDataFrame(cut) for cut in slices],
            due=due,
            static=self.static.on(spark) if self.static else None,
        )
        last = self._last_answer(self.state)
        rows = rows.persist() if last.needed else rows
        answers = evaluations(last.streamed(spark, rows, answered), due, content)
        observation = Observation()
        figures = F.collect_list(F.struct("evaluation", "count", FRESH)).alias("figures")
        self.sink(answers.observe(observation, figures).select(*ANSWER), number)
        last.keep(rows, answered, _batch_name(number))
        if last.needed:
            rows.unpersist()
        return {each["evaluation"]: each for each in observation.get["figures"]}

    def _last_answer(self, state: State) -> LastAnswer:
        operator = operator_of(self.job.query)
        return LastAnswer(operator, f"{self.storage.root}/answered", state.answered)

    def _answer_of(self, figures: Row, timeline: Timeline) -> Answer:
        evaluation = figures["evaluation"]
        return Answer(
            evaluation=evaluation,
            at=timeline.at(evaluation),
            window=timeline.window(evaluation),
            rows=figures["count"],
            fresh=figures[FRESH],
            written_ms=self.clock(),
        )

    def _settle(
        self,
        state: State,
        due: Due,
        records: list[Quality],
        outcomes: list[list[Outcome]],
    ) -> State:
        """The state after the answers: what is no longer needed is let go."""
        opening = self._opening(state, due)
        buffer = Buffer(f"{self.storage.root}/buffer", state.segments).without_before(opening)
        views = {
            served.job.name: served.settle(state.batch, state.view(served.job.name), done)
            for served, done in zip(self.served, outcomes, strict=True)
        }
        return replace(
            state,
            next_evaluation=due.last + 1,
            segments=buffer.segments,
            views=views,
            answered=self._kept(records, state),
            requests=state.requests + sum(each.requests for each in records),
            refreshes=state.refreshes + sum(each.refreshed for each in records),
        )

    def _kept(self, records: list[Quality], state: State) -> str:
        """The name of the last answer after this batch."""
        needed = self._last_answer(state).needed and records
        return _batch_name(state.batch) if needed else state.answered

    def _opening(self, state: State, due: Due) -> int:
        """The time up to which no window to come needs an element."""
        if self.job.counts_elements:
            return state.anchor.time_ms - 1
        return due.instants.opening_ms(due.last + 1)

    def _write_quality(self, number: int, records: list[Quality]) -> None:
        if self.quality_storage is not None and records:
            lines = "".join(each.to_json() + "\n" for each in records)
            self.quality_storage.write(f"{_batch_name(number)}.jsonl", lines.encode())

    def _clean_up(self, before: State, after: State, records: list[Quality]) -> None:
        """Remove what the committed state no longer refers to; a crash here leaves only litter."""
        kept = {each.name for each in after.segments}
        for segment in (*before.segments, *after.segments):
            if segment.name not in kept:
                self.storage.delete(f"buffer/{segment.name}")
        if before.answered and before.answered != after.answered:
            self.storage.delete(f"answered/{before.answered}")
        numbers = [each.evaluation for each in records]
        for each in self.served:
            each.clean_up(before.view(each.job.name), after.view(each.job.name), numbers)


def _batch_name(number: int) -> str:
    return f"batch-{number:012d}"
