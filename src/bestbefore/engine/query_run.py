"""One query of a run: its elements, its due evaluations, its answers and its state."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.checkpoint.state import State, batch_name, merged_name
from bestbefore.engine.alerts import AlertListener
from bestbefore.engine.answering import Answering, Prepared
from bestbefore.engine.quality import Quality
from bestbefore.engine.recording import Recorder
from bestbefore.engine.schedule import (
    advanced,
    due_evaluations,
    end_of,
    is_worth,
    opening,
    watermark_of,
    with_intake,
)
from bestbefore.engine.served_view import ServedView, ViewBatch
from bestbefore.job import Job
from bestbefore.job.job import CHANGED
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.buffer import Buffer, Elements, Intake, Limits, worth_merging
from bestbefore.spark.columns import STREAM
from bestbefore.spark.session import FEW_ROWS, settings_of
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s
from bestbefore.windows import Due

QualityListener = Callable[[Quality], None]
_LOG = logging.getLogger("bestbefore.engine")


@dataclass(frozen=True)
class Staged:
    """A query in a batch: its state with what came, and what became due with it, if anything."""

    state: State
    buffer: Buffer
    due: Due | None = None
    prepared: Prepared | None = None


@dataclass
class QueryRun:
    """A query with what it answers from and where it keeps what it needs.

    `spark` is the session in which answers are made, `state` that of the last committed batch,
    `folder` the name of its own in the checkpoint. `heard` tells when a stream last brought an
    element, by its IRI. A `recorder` writes down what evaluations see and get.
    """

    job: Job
    spark: SparkSession
    storage: Storage
    quality_storage: Storage | None
    answering: Answering
    on_quality: QualityListener
    on_alert: AlertListener
    clock: Clock
    state: State
    folder: str = ""
    recorder: Recorder | None = None
    heard: dict[str, int] = field(default_factory=dict)
    at_hand: dict[str, Elements] = field(default_factory=dict)
    _settings: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.recorder is not None:
            self.recorder.begin(self.answering.served[0].view)

    def take_in(
        self, batch: DataFrame, number: int, source_batch: int, *, several: bool = False
    ) -> Staged:
        """Make the elements of a batch durable; what cannot be read is quarantined.

        Of a batch for `several` queries it is what the streams of this one brought.
        """
        # A batch is likely to be as large as the one before.
        expected = self.state.segments[-1].brought if self.state.segments else 0
        before = self._merged(batch.sparkSession, self._buffer(self.state), number)
        self._set_up(batch.sparkSession, "intake", expected)
        if several:
            batch = batch.filter(F.col(STREAM).isin(*(one.iri for one in self.job.sources)))
        batch = self._without_changes(batch, number)
        buffer, intake = before.add(batch, batch_name(number), self._limits(), expected=expected)
        self._hear(intake)
        state = replace(self.state, source_batch=source_batch)
        return Staged(with_intake(self.job, state, number, buffer.segments, intake), buffer)

    def _merged(self, spark: SparkSession, buffer: Buffer, number: int) -> Buffer:
        """The buffer with fewer segments, where they have become many."""
        names = worth_merging(buffer.segments, known=self.answering.panes.names)
        if not names:
            return buffer
        name, opening_ms = merged_name(number), opening(self.job, self.state)
        self._set_up(spark, "intake", buffer.only(names).elements)
        merged = buffer.merge(spark, names, name, opening_ms=opening_ms)
        self.answering.note_merged(names, name)
        return merged

    def _without_changes(self, batch: DataFrame, number: int) -> DataFrame:
        """The batch without what names changed units, of which the views are told."""
        clauses = zip(self.job.services, self.answering.served, strict=True)
        served = {clause.changes.iri: view for clause, view in clauses if clause.changes}
        if not served:
            return batch
        named = F.col(STREAM).isin(*served) & F.col("reason").isNull()
        key = F.when(F.col("p") == encode(IRI(CHANGED)), F.col("o")).otherwise(F.col("s"))
        found = batch.filter(named).select(STREAM, key.alias("key")).distinct().collect()
        for iri, view in served.items():
            keys = sorted((row["key"],) for row in found if row[STREAM] == iri)
            view.note_changes(number, keys, self.state.latest_ms or 0)
        return batch.filter(~named)

    def _limits(self) -> Limits:
        streams = self.job.streams
        return Limits(
            watermark_ms=watermark_of(self.job, self.state),
            horizon_ms=self.clock() + self.job.clock_skew_ms,
            streams=tuple(stream.iri for stream in streams),
            needed=self.state.needed,
            arrival=tuple(stream.iri for stream in streams if stream.time == "arrival"),
        )

    def _hear(self, intake: Intake) -> None:
        self.heard |= dict.fromkeys(intake.latest_of, self.clock())

    def advance(self, latest: Mapping[str, int], number: int) -> Staged:
        """Let streams have come to later times, by their IRIs."""
        state = replace(advanced(self.state, latest), batch=number)
        return Staged(state, self._buffer(state))

    def end(self) -> dict[str, int]:
        """How far the streams come when they end, if windows still hold elements."""
        end_ms = end_of(self.job, self.state)
        return {} if end_ms is None else {stream.iri: end_ms for stream in self.job.streams}

    def silent(self, pause_ms: int) -> dict[str, int]:
        """How far the streams have come that brought nothing for so long, if that makes any due."""
        now = self.clock()
        silent = {
            stream.iri: now - pause_ms
            for stream in self.job.streams
            if now - self.heard.setdefault(stream.iri, now) >= pause_ms
        }
        return silent if is_worth(self.job, self.state, advanced(self.state, silent)) else {}

    def prepare(self, staged: Staged, begin: Callable[[ServedView], ViewBatch]) -> Staged:
        """Find what is due and run job A for it; `begin` begins to maintain a view."""
        state, buffer = staged.state, staged.buffer
        few = buffer.elements < FEW_ROWS
        self._set_up(self.spark, "answers", buffer.elements)
        due, state = due_evaluations(self.job, state, lambda: buffer.read(self.spark, few=few))
        if due is None:
            return Staged(state, buffer)
        state = self._begun(state, due)
        prepared = self.answering.prepare(
            self.spark, buffer, due, state=state, few=few, begin=begin
        )
        return Staged(state, buffer, due, prepared)

    def answer(self, staged: Staged, *, started_s: float) -> tuple[State, list[Quality]]:
        """Answer what is due once the views are maintained; return the state after it."""
        state, due, prepared = staged.state, staged.due, staged.prepared
        if due is None or prepared is None:
            return state, []
        records = self.answering.answer(prepared, started_s=started_s)
        if self.recorder is not None:
            view, (outcomes, *_) = self.answering.served[0].view, prepared.needs.outcomes()
            self.recorder.record(self.spark, staged.buffer, due, view=view, outcomes=outcomes)
        state = self._settled(state, due, records)
        seconds = monotonic_s() - started_s
        records = _completed(records, state, due, seconds=seconds, job=self.job)
        return replace(state, reported=state.taken_in) if records else state, records

    def _set_up(self, spark: SparkSession, role: str, rows: int) -> None:
        """Set up the session that takes in, or the one that answers, for so many rows."""
        for key, value in settings_of(spark, rows=rows).items():
            if self._settings.get((role, key)) != value:
                spark.conf.set(key, value)
                self._settings[role, key] = value

    def _buffer(self, state: State) -> Buffer:
        return Buffer(self.storage, state.segments, self.at_hand)

    def _begun(self, state: State, due: Due) -> State:
        """The state once there is an evaluation: the age of what was loaded counts from then."""
        if state.begun_ms is not None:
            return state
        begun_ms = due.timeline.at(due.first)
        for served in self.answering.served:
            served.begin_at(begun_ms)
        return replace(state, begun_ms=begun_ms)

    def _settled(self, state: State, due: Due, records: list[Quality]) -> State:
        """The state after the answers: what is no longer needed is let go."""
        state = replace(state, next_evaluation=due.last + 1)
        opening_ms = opening(self.job, state)
        assert opening_ms is not None  # noqa: S101 - there was an evaluation
        buffer = self._buffer(state).without_before(opening_ms)
        keeps = self.answering.compares and records
        return replace(
            state,
            segments=buffer.segments,
            answered=batch_name(state.batch) if keeps else state.answered,
            requests=state.requests + sum(record.requests for record in records),
            refreshes=state.refreshes + sum(record.refreshed for record in records),
        )

    def write_quality(self, state: State, records: list[Quality]) -> None:
        """Write the quality records of a batch, before it is committed."""
        if self.quality_storage is not None and records:
            lines = "".join(record.to_json() + "\n" for record in records)
            self.quality_storage.write(f"{batch_name(state.batch)}.jsonl", lines.encode())

    def tell(self, records: list[Quality]) -> None:
        """Tell of the answers of a batch that is committed."""
        for record in records:
            self.on_quality(record)
            for alert in record.alerts:
                about = {"batch": record.batch, "evaluation": record.evaluation}
                _LOG.warning("%s", alert, extra=about)
                self.on_alert(record.evaluation, alert)


def _completed(
    records: list[Quality], state: State, due: Due, *, seconds: float, job: Job
) -> list[Quality]:
    """The records with what their batch has in common; the first tells what the stream brought."""
    counts = zip(state.taken_in, state.reported, strict=True)
    elements, late, quarantined = (total - told for total, told in counts)
    shared = [
        replace(
            record,
            batch=state.batch,
            batch_evaluations=len(records),
            batch_s=round(seconds, 4),
            latency_ms=record.answered_ms - record.at if job.is_live else None,
            query=job.query.name,
        )
        for record in records
    ]
    skipped = due.skipped(len(records))
    return [
        replace(first, elements=elements, late=late, quarantined=quarantined, skipped_empty=skipped)
        for first in shared[:1]
    ] + shared[1:]
