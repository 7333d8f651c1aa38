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

from bestbefore.engine.job import Job
from bestbefore.engine.jobs import WindowJob, answer_job, due_frame, window_job
from bestbefore.engine.key_statistics import read_statistics
from bestbefore.engine.quality import Quality
from bestbefore.engine.sinks import ANSWER, Sink
from bestbefore.engine.state import Commits, State
from bestbefore.engine.walk import Maintained, Walk
from bestbefore.maintenance import Ledger
from bestbefore.service import Service
from bestbefore.spark.buffer import Buffer, Intake
from bestbefore.spark.columns import FRESH
from bestbefore.spark.content import WindowContent
from bestbefore.spark.session import is_small, tune
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s
from bestbefore.view import ChangeIntervals, Journal, LocalView, save_snapshot
from bestbefore.windows import SlidingWindow

# A leap in event time may make millions of empty windows due; past this many they are counted, not
# answered one by one.
_MOST_WINDOWS = 10_000
_SNAPSHOT_EVERY = 32

Report = Callable[[Quality], None]


@dataclass(frozen=True)
class Due:
    """The windows that became due, from first to last."""

    first: int
    last: int

    def answered(self, non_empty: list[int]) -> list[int]:
        """The windows to answer: all of them, or the non-empty ones where there are too many."""
        everything = self.last - self.first < _MOST_WINDOWS
        return list(range(self.first, self.last + 1)) if everything else non_empty

    def __len__(self) -> int:
        return max(0, self.last - self.first + 1)


@dataclass
class BatchProcessor:
    """What `foreachBatch` calls: it turns batches into committed states."""

    job: Job
    storage: Storage
    quality_storage: Storage | None
    service: Service
    view: LocalView
    intervals: ChangeIntervals
    sink: Sink
    report: Report
    clock: Clock
    state: State

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Process a batch, unless it was committed before a crash."""
        if number <= self.state.batch:
            return
        started = monotonic_s()
        # A batch is likely to be as large as the one before.
        expected = self.state.segments[-1].elements if self.state.segments else 0
        tune(batch.sparkSession, rows=expected)
        buffer, intake = self._take_in(batch, number)
        spark = tune(batch.sparkSession, rows=buffer.elements)
        state = self._with_intake(number, buffer, intake)
        due = self._due(state)
        records = self._answer(spark, buffer, due, state) if len(due) else []
        state = self._settle(state, due, records)
        seconds = monotonic_s() - started
        records = [replace(each, batch_s=round(seconds, 4)) for each in records]
        if records:
            records[0] = self._with_counts(records[0], state, skipped=len(due) - len(records))
            state = replace(state, reported=state.taken_in)
        self._write_quality(number, records)
        Commits(self.storage).commit(state)
        self._clean_up(self.state, state, records)
        self.state = state
        for record in records:
            self.report(record)

    def _with_counts(self, record: Quality, state: State, *, skipped: int) -> Quality:
        """The record with what the stream brought since the last one."""
        counts = zip(state.taken_in, state.reported, strict=True)
        elements, late, quarantined = (total - told for total, told in counts)
        return replace(
            record, elements=elements, late=late, quarantined=quarantined, skipped_empty=skipped
        )

    def _take_in(self, batch: DataFrame, number: int) -> tuple[Buffer, Intake]:
        buffer = Buffer(f"{self.storage.root}/buffer", self.state.segments)
        name = f"batch-{number:012d}"
        latest, lateness = self.state.latest_ms, self.job.stream.allowed_lateness_ms
        buffer, intake = buffer.add(
            batch,
            name,
            watermark_ms=None if latest is None else latest - lateness,
            horizon_ms=self.clock() + self.job.stream.clock_skew_ms,
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
        state = replace(state, latest_ms=max(intake.latest_ms, state.latest_ms or 0))
        return state if state.t0_ms is not None else self._started(state, intake.earliest_ms)

    def _started(self, state: State, earliest_ms: int) -> State:
        """The state after the first element: t0 is the last slide boundary before it."""
        asked = self.job.plan.window
        window = SlidingWindow.starting(asked.width_ms, asked.slide_ms, earliest_ms=earliest_ms)
        window = window if self.job.t0_ms is None else self._window(self.job.t0_ms)
        first = max(1, window.first_with(earliest_ms))
        if self.job.full_windows_only:
            first = max(first, window.first_with(window.t0_ms + window.width_ms))
        return replace(state, t0_ms=window.t0_ms, first_evaluation=first, next_evaluation=first)

    def _window(self, t0_ms: int) -> SlidingWindow:
        return SlidingWindow(self.job.plan.window.width_ms, self.job.plan.window.slide_ms, t0_ms)

    def _due(self, state: State) -> Due:
        if state.t0_ms is None or state.latest_ms is None:
            return Due(1, 0)
        watermark = state.latest_ms - self.job.stream.allowed_lateness_ms
        return Due(state.next_evaluation, self._window(state.t0_ms).last_closed(watermark))

    def _answer(self, spark: SparkSession, buffer: Buffer, due: Due, state: State) -> list[Quality]:
        window = self._window(state.t0_ms or 0)
        if due.first == state.first_evaluation:
            self.view.begin(window.closing(due.first))
        together = is_small(buffer.elements)
        content = WindowContent(buffer.read(spark), window, due.first, due.last, together=together)
        job_a = window_job(self.job.plan, content)
        job_a.mappings.persist()
        try:
            slices, outcomes, answered = self._maintain(job_a, due, content, state)
            counts = self._join(spark, job_a, content, slices, answered, state.batch)
        finally:
            job_a.mappings.unpersist()
        self.view.compact()
        return [
            self._quality(each, counts[number], window, state.batch, len(answered))
            for number, each in zip(answered, outcomes, strict=True)
        ]

    def _maintain(
        self, job_a: WindowJob, due: Due, content: WindowContent, state: State
    ) -> tuple[pa.Table, list[Maintained], list[int]]:
        statistics = read_statistics(
            job_a.statistics.toArrow(),
            self.job.join_key,
            self.view,
            learn=self.job.policy.fetches_missing,
        )
        answered = due.answered(statistics.windows().tolist())
        walk = Walk(
            job=self.job,
            view=self.view,
            window=content.window,
            service=self.service,
            intervals=self.intervals,
            ledger=Ledger(self.storage),
            journal=Journal(self.storage),
        )
        slices, outcomes = walk.through(state.batch, answered, statistics, saved=state.saved)
        return slices, outcomes, answered

    def _join(
        self,
        spark: SparkSession,
        job_a: WindowJob,
        content: WindowContent,
        slices: pa.Table,
        answered: list[int],
        number: int,
    ) -> dict[int, Row]:
        answers = answer_job(
            self.job.query,
            self.job.plan,
            content,
            mappings=job_a.mappings,
            slices=spark.createDataFrame(slices),
            due=due_frame(spark, answered),
        )
        observation = Observation()
        figures = F.collect_list(F.struct("evaluation", "count", FRESH)).alias("figures")
        self.sink(answers.observe(observation, figures).select(*ANSWER), number)
        return {each["evaluation"]: each for each in observation.get["figures"]}

    def _quality(
        self, each: Maintained, figures: Row, window: SlidingWindow, number: int, together: int
    ) -> Quality:
        done = each.refreshed
        fresh = figures[FRESH]
        reasons = list(dict.fromkeys(done.failed.values()))
        return Quality(
            evaluation=done.evaluation,
            at=done.t_ms,
            window=window.bounds(done.evaluation),
            policy=self.job.policy.name,
            answers=figures["count"],
            estimated_freshness=None if fresh is None else round(fresh, 6),
            completeness=each.sets.completeness,
            candidates=done.candidates,
            budget=self.job.budget,
            elected=done.elected,
            refreshed=len(done.rows),
            changed=each.changed,
            failed=len(done.failed),
            requests=done.requests,
            service=f"failed: {'; '.join(reasons)}" if reasons else "ok",
            service_s=round(done.seconds, 4),
            answered_ms=self.clock(),
            batch=number,
            batch_evaluations=together,
            batch_s=0.0,
            evicted=len(done.evicted),
            missing=each.sets.g,
            saved=each.saved,
            sets=each.sets.sizes(),
        )

    def _settle(self, state: State, due: Due, records: list[Quality]) -> State:
        """The state after the answers: what is no longer needed is let go."""
        if not len(due):
            return state
        window = self._window(state.t0_ms or 0)
        opening, _ = window.bounds(due.last + 1)
        buffer = Buffer(f"{self.storage.root}/buffer", state.segments).without_before(opening)
        state = replace(
            state,
            next_evaluation=due.last + 1,
            segments=buffer.segments,
            requests=state.requests + sum(each.requests for each in records),
            refreshes=state.refreshes + sum(each.refreshed for each in records),
            saved=records[-1].saved if records else state.saved,
        )
        if state.batch - state.snapshot_batch < _SNAPSHOT_EVERY:
            return state
        name = f"batch-{state.batch:012d}"
        save_snapshot(self.view, self.storage, name)
        return replace(state, snapshot=name, snapshot_batch=state.batch)

    def _write_quality(self, number: int, records: list[Quality]) -> None:
        if self.quality_storage is not None and records:
            lines = "".join(each.to_json() + "\n" for each in records)
            self.quality_storage.write(f"batch-{number:012d}.jsonl", lines.encode())

    def _clean_up(self, before: State, after: State, records: list[Quality]) -> None:
        """Remove what the committed state no longer refers to; a crash here leaves only litter."""
        kept = {each.name for each in after.segments}
        for segment in (*before.segments, *after.segments):
            if segment.name not in kept:
                self.storage.delete(f"buffer/{segment.name}")
        for record in records:
            Ledger(self.storage).close(record.evaluation)
        if after.snapshot != before.snapshot:
            self.storage.delete(f"view/{before.snapshot}")
            journal = Journal(self.storage)
            for number in journal.batches():
                if number <= after.snapshot_batch:
                    journal.forget(number)
