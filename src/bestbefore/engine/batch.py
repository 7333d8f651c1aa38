"""One micro-batch: a transaction from the elements that came to the answers that became due.

Spark runs one job that makes the elements durable, job A over the windows, and job B that joins and
writes, however many windows are due. Nothing is final before the state is committed; a batch that
is repeated overwrites what it wrote before, and a committed batch is not repeated.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.checkpoint.advances import Advances
from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import State, batch_name
from bestbefore.engine.alerts import AlertListener
from bestbefore.engine.answering import Answering, Outcomes
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
from bestbefore.job import Job
from bestbefore.job.job import CHANGED
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.buffer import Buffer, Elements, Intake, Limits
from bestbefore.spark.columns import STREAM
from bestbefore.spark.session import FEW_ROWS, settings_of
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s
from bestbefore.windows import Due

QualityListener = Callable[[Quality], None]
_BATCHES_TOLD = 100
_LOG = logging.getLogger("bestbefore.engine")


@dataclass
class BatchProcessor:
    """What turns batches, and advances between them, into committed states.

    `spark` is the session in which answers are made, `found` the state to go on from. `heard`
    tells when a stream last brought an element, by its IRI; `told` has the quality records of the
    latest batches, by Spark's numbers. A `recorder` writes down what evaluations see and get.
    """

    job: Job
    spark: SparkSession
    storage: Storage
    quality_storage: Storage | None
    answering: Answering
    on_quality: QualityListener
    on_alert: AlertListener
    clock: Clock
    found: State
    recorder: Recorder | None = None
    heard: dict[str, int] = field(default_factory=dict)
    told: dict[int, list[Quality]] = field(default_factory=dict)
    _at_hand: dict[str, Elements] = field(default_factory=dict)
    _settings: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._history = History(self.storage, self.found)
        if self.recorder is not None:
            self.recorder.begin(self.answering.served[0].view)

    @property
    def state(self) -> State:
        """The state of the last committed batch."""
        return self._history.latest

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Take in, find what is due, answer it, commit; a committed batch is not repeated."""
        if number <= self.state.source_batch:
            return
        started = monotonic_s()
        own = self.state.batch + 1
        buffer, intake = self._take_in(batch, own)
        state = replace(self.state, source_batch=number)
        state = with_intake(self.job, state, own, buffer.segments, intake)
        self.told[number] = self._answer(state, buffer, started=started)
        self.told.pop(number - _BATCHES_TOLD, None)
        self.heard |= dict.fromkeys(intake.latest_of, self.clock())

    def advance(self, latest: Mapping[str, int]) -> None:
        """Let streams have come to later times, by their IRIs: a transaction without elements."""
        started = monotonic_s()
        number = self.state.batch + 1
        Advances(self.storage).begin(number, latest)
        state = replace(advanced(self.state, latest), batch=number)
        self._answer(state, self._buffer(state), started=started)

    def resume(self) -> None:
        """Finish the advance in which an earlier run ended, if it did."""
        if (latest := Advances(self.storage).unfinished(self.state.batch)) is not None:
            self.advance(latest)

    def end(self) -> None:
        """Answer the windows that still hold elements, as if all streams had ended."""
        if (end_ms := end_of(self.job, self.state)) is not None:
            self.advance({stream.iri: end_ms for stream in self.job.streams})

    def silent(self, pause_ms: int) -> dict[str, int]:
        """How far the streams have come that brought nothing for so long, if that makes any due."""
        now = self.clock()
        silent = {
            stream.iri: now - pause_ms
            for stream in self.job.streams
            if now - self.heard.setdefault(stream.iri, now) >= pause_ms
        }
        return silent if is_worth(self.job, self.state, advanced(self.state, silent)) else {}

    def _answer(self, state: State, buffer: Buffer, *, started: float) -> list[Quality]:
        """Answer what is due in a state, and commit it; return the quality of the answers."""
        few = buffer.elements < FEW_ROWS
        self._set_up(self.spark, "answers", buffer.elements)
        due, state = due_evaluations(self.job, state, lambda: buffer.read(self.spark, few=few))
        records = list[Quality]()
        if due is not None:
            state = self._begun(state, due)
            records, outcomes = self.answering.answer(
                self.spark, buffer, due, state=state, few=few, started_s=started
            )
            if self.recorder is not None:
                view = self.answering.served[0].view
                self.recorder.record(self.spark, buffer, due, view=view, outcomes=outcomes[0])
            state = self._settled(state, due, records, outcomes)
            seconds = monotonic_s() - started
            records = _completed(records, state, due, seconds=seconds, live=self.job.is_live)
            state = replace(state, reported=state.taken_in) if records else state
        self._commit(state, records)
        return records

    def _set_up(self, spark: SparkSession, role: str, rows: int) -> None:
        """Set up the session that takes in, or the one that answers, for so many rows."""
        for key, value in settings_of(spark, rows=rows).items():
            if self._settings.get((role, key)) != value:
                spark.conf.set(key, value)
                self._settings[role, key] = value

    def _take_in(self, batch: DataFrame, number: int) -> tuple[Buffer, Intake]:
        """Make the batch's elements durable; what cannot be read is quarantined."""
        # A batch is likely to be as large as the one before.
        expected = self.state.segments[-1].brought if self.state.segments else 0
        self._set_up(batch.sparkSession, "intake", expected)
        streams = self.job.streams
        limits = Limits(
            watermark_ms=watermark_of(self.job, self.state),
            horizon_ms=self.clock() + self.job.clock_skew_ms,
            streams=tuple(stream.iri for stream in streams),
            needed=self.state.needed,
            opening_ms=opening(self.job, self.state),
            arrival=tuple(stream.iri for stream in streams if stream.time == "arrival"),
        )
        batch = self._without_changes(batch, number)
        return self._buffer(self.state).add(batch, batch_name(number), limits, expected=expected)

    def _without_changes(self, batch: DataFrame, number: int) -> DataFrame:
        """The batch without what names changed units, of which the views are told."""
        served = {view.job.changes.iri: view for view in self.answering.served if view.job.changes}
        if not served:
            return batch
        named = F.col(STREAM).isin(*served) & F.col("reason").isNull()
        key = F.when(F.col("p") == encode(IRI(CHANGED)), F.col("o")).otherwise(F.col("s"))
        found = batch.filter(named).select(STREAM, key.alias("key")).distinct().collect()
        for iri, view in served.items():
            keys = sorted((row["key"],) for row in found if row[STREAM] == iri)
            view.note_changes(number, keys, self.state.latest_ms or 0)
        return batch.filter(~named)

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
        for name in self._history.commit(state):
            self._at_hand.pop(name.removeprefix("buffer/"), None)
        for served in self.answering.served:
            served.committed(state.next_evaluation)
        for record in records:
            self.on_quality(record)
            for alert in record.alerts:
                about = {"batch": record.batch, "evaluation": record.evaluation}
                _LOG.warning("%s", alert, extra=about)
                self.on_alert(record.evaluation, alert)


def _completed(
    records: list[Quality], state: State, due: Due, *, seconds: float, live: bool
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
            latency_ms=record.answered_ms - record.at if live else None,
        )
        for record in records
    ]
    skipped = due.skipped(len(records))
    return [
        replace(first, elements=elements, late=late, quarantined=quarantined, skipped_empty=skipped)
        for first in shared[:1]
    ] + shared[1:]
