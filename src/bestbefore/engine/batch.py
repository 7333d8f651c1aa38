"""One micro-batch: a transaction from the elements that came to the answers that became due.

Spark runs one job that makes the elements durable, job A over the windows, and job B that joins and
writes, however many windows are due. Nothing is final before the state is committed; a batch that
is repeated overwrites what it wrote before, and a committed batch is not repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from bestbefore.checkpoint.state import Commits, State, batch_name
from bestbefore.engine.answering import Answering, Outcomes
from bestbefore.engine.quality import Quality
from bestbefore.engine.schedule import due_evaluations, opening, watermark_of, with_intake
from bestbefore.job import Job
from bestbefore.spark.buffer import Buffer, Elements, Intake, Limits
from bestbefore.spark.session import FEW_ROWS, settings_of
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s
from bestbefore.windows import Due

QualityListener = Callable[[Quality], None]


@dataclass
class BatchProcessor:
    """What `foreachBatch` calls: it turns batches into committed states."""

    job: Job
    storage: Storage
    quality_storage: Storage | None
    answering: Answering
    on_quality: QualityListener
    clock: Clock
    state: State
    _at_hand: dict[str, Elements] = field(default_factory=dict)
    _settings: dict[str, str] = field(default_factory=dict)

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Take in, find what is due, answer it, commit; a committed batch is not repeated."""
        if number <= self.state.batch:
            return
        started = monotonic_s()
        buffer, intake = self._take_in(batch, number)
        few = buffer.elements < FEW_ROWS
        spark = self._session(batch, buffer.elements)
        state = with_intake(self.job, self.state, number, buffer.segments, intake)
        due, state = due_evaluations(self.job, state, lambda: buffer.read(spark, few=few))
        records = list[Quality]()
        if due is not None:
            state = self._begun(state, due)
            records, outcomes = self.answering.answer(spark, buffer, due, state=state, few=few)
            state = self._settled(state, due, records, outcomes)
            records = _completed(records, state, due, seconds=monotonic_s() - started)
            state = replace(state, reported=state.taken_in) if records else state
        self._commit(state, records)

    def _session(self, batch: DataFrame, rows: int) -> SparkSession:
        """The session of the batch, set up for so many rows."""
        spark = batch.sparkSession
        for key, value in settings_of(spark, rows=rows).items():
            if self._settings.get(key) != value:
                spark.conf.set(key, value)
                self._settings[key] = value
        return spark

    def _take_in(self, batch: DataFrame, number: int) -> tuple[Buffer, Intake]:
        """Make the batch's elements durable; what cannot be read is quarantined."""
        # A batch is likely to be as large as the one before.
        expected = self.state.segments[-1].brought if self.state.segments else 0
        self._session(batch, expected)
        limits = Limits(
            watermark_ms=watermark_of(self.job, self.state),
            horizon_ms=self.clock() + self.job.clock_skew_ms,
            streams=tuple(stream.iri for stream in self.job.streams),
            needed=self.state.needed,
            opening_ms=opening(self.job, self.state),
        )
        return self._buffer(self.state).add(batch, batch_name(number), limits, expected=expected)

    def _buffer(self, state: State) -> Buffer:
        return Buffer(self.storage, state.segments, self._at_hand)

    def _begun(self, state: State, due: Due) -> State:
        """The state once there is an evaluation: the age of what was loaded counts from then."""
        if state.begun_ms is not None:
            return state
        begun_ms = due.timeline.at(due.first)
        for served in self.answering.served:
            served.view.begin(begun_ms)
        return replace(state, begun_ms=begun_ms)

    def _settled(self, state: State, due: Due, records: list[Quality], outcomes: Outcomes) -> State:
        """The state after the answers: what is no longer needed is let go."""
        state = replace(state, next_evaluation=due.last + 1)
        opening_ms = opening(self.job, state)
        assert opening_ms is not None  # noqa: S101 - there was an evaluation
        buffer = self._buffer(state).without_before(opening_ms)
        views = {
            served.job.name: served.settle(state.batch, state.view(served.job.name), done)
            for served, done in zip(self.answering.served, outcomes, strict=True)
        }
        keeps = self.answering.compares and records
        return replace(
            state,
            segments=buffer.segments,
            views=views,
            answered=batch_name(state.batch) if keeps else state.answered,
            requests=state.requests + sum(record.requests for record in records),
            refreshes=state.refreshes + sum(record.refreshed for record in records),
        )

    def _commit(self, state: State, records: list[Quality]) -> None:
        """Write the quality records and the state, let go of what it left behind, and tell."""
        if self.quality_storage is not None and records:
            lines = "".join(record.to_json() + "\n" for record in records)
            self.quality_storage.write(f"{batch_name(state.batch)}.jsonl", lines.encode())
        Commits(self.storage).commit(state)
        self._clean_up(self.state, state, [record.evaluation for record in records])
        self.state = state
        for record in records:
            self.on_quality(record)

    def _clean_up(self, before: State, after: State, evaluations: list[int]) -> None:
        """Remove what the committed state no longer refers to; a crash here leaves only litter."""
        kept = {segment.name for segment in after.segments}
        for segment in (*before.segments, *after.segments):
            if segment.name not in kept:
                self._buffer(after).forget(segment.name)
        if before.answered and before.answered != after.answered:
            self.storage.delete(f"answered/{before.answered}")
        for served in self.answering.served:
            name = served.job.name
            served.clean_up(before.view(name), after.view(name), evaluations)


def _completed(records: list[Quality], state: State, due: Due, *, seconds: float) -> list[Quality]:
    """The records with what their batch has in common; the first tells what the stream brought."""
    counts = zip(state.taken_in, state.reported, strict=True)
    elements, late, quarantined = (total - told for total, told in counts)
    shared = [
        replace(
            record,
            batch=state.batch,
            batch_evaluations=len(records),
            batch_s=round(seconds, 4),
        )
        for record in records
    ]
    skipped = due.skipped(len(records))
    return [
        replace(first, elements=elements, late=late, quarantined=quarantined, skipped_empty=skipped)
        for first in shared[:1]
    ] + shared[1:]
