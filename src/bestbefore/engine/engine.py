"""The engine: it starts a job on Spark and hands out a handle to the running query."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from threading import Lock

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.engine.batch import BatchProcessor, Report
from bestbefore.engine.needed_elements import keeping_needed
from bestbefore.engine.served_view import ServedView, open_served
from bestbefore.engine.sinks import Sink, sink_of
from bestbefore.engine.state import Commits, State
from bestbefore.engine.view_start import service_pattern
from bestbefore.errors import BestbeforeError, InputError, WorkError, nearest
from bestbefore.job.job import AVAILABLE_NOW, Job, StreamJob
from bestbefore.query import print_query
from bestbefore.service import Service, SparqlClient
from bestbefore.spark.columns import STREAM
from bestbefore.spark.event_lines import elements_of
from bestbefore.spark.hadoop import storage_at
from bestbefore.spark.sources import file_failure
from bestbefore.spark.static_graphs import StaticTables, read_graphs
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s, parse_duration_ms, wall_clock_ms

_STEP_S = 0.25


@dataclass
class RunningQuery:
    """A query that runs until its stream ends, it is stopped, or it fails."""

    query: StreamingQuery
    batches: "_Batches"

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False if it still runs after `timeout_s`. A failure is raised."""
        deadline = None if timeout_s is None else monotonic_s() + timeout_s
        try:
            # In short steps, because a wait inside the JVM hears of no signal.
            while not self.query.awaitTermination(_STEP_S):  # type: ignore[arg-type]
                if deadline is not None and monotonic_s() >= deadline:
                    return False
        except PySparkException as error:
            self.processor.close()
            raise self._failure(error) from None
        self.processor.close()
        return True

    def stop(self) -> None:
        """Stop at the end of the batch that runs, if any."""
        self.batches.finish()
        self.query.stop()
        self.processor.close()

    @property
    def processor(self) -> BatchProcessor:
        """What turns the batches into answers."""
        return self.batches.processor

    @property
    def state(self) -> State:
        """The state of the last committed batch."""
        return self.processor.state

    def _failure(self, error: PySparkException) -> BestbeforeError:
        cause = self.batches.failure or error
        if isinstance(cause, BestbeforeError):
            return cause
        if unreadable := file_failure(str(cause)):
            return unreadable
        lines = [line for line in str(cause).splitlines() if line.strip()]
        return WorkError(f"the query stopped: {lines[0] if lines else type(cause).__name__}")


@dataclass
class _Batches:
    """The batches of one run, one at a time, until one fails or no more are wanted."""

    processor: BatchProcessor
    failure: BaseException | None = None
    _running: Lock = field(default_factory=Lock)
    _finished: bool = False

    def __call__(self, batch: DataFrame, number: int) -> None:
        with self._running:
            if self._finished:
                # Not processed, hence not to be committed: the next run gets it again.
                raise WorkError("the query was stopped")
            try:
                self.processor(batch, number)
            except BaseException as error:
                self.failure = error
                # Spark only hears of an Exception; anything else would leave it waiting.
                raise WorkError(f"batch {number} failed") from error

    def finish(self) -> None:
        """Let the batch that runs come to its end, and no other begin."""
        self._finished = True
        with self._running:
            pass


@dataclass(frozen=True)
class Engine:
    """Runs jobs on a Spark session.

    `services` replace SPARQL clients by the services' names, `sink` the job's sink, `streams` names
    streaming DataFrames for streams that are no folders, `report` hears of every evaluation.
    """

    spark: SparkSession
    clock: Clock = wall_clock_ms

    def start(
        self,
        job: Job,
        *,
        streams: Mapping[str, DataFrame] | None = None,
        services: Mapping[str, Service] | None = None,
        sink: Sink | None = None,
        report: Report | None = None,
    ) -> RunningQuery:
        """Start a job, or go on with it where its checkpoint stands."""
        rows = self._intake(job, streams or {})
        storage = storage_at(self.spark, job.checkpoint)
        state = keeping_needed(Commits(storage).latest(print_query(job.query)), job)
        served, state = self._served(job, storage, state, services or {})
        processor = BatchProcessor(
            job=job,
            storage=storage,
            quality_storage=storage_at(self.spark, job.sink.quality) if job.sink.quality else None,
            served=served,
            sink=sink or sink_of(job.sink),
            report=report or (lambda _: None),
            clock=self.clock,
            state=state,
            static=_static(job),
        )
        return self._run(job, rows, processor)

    def _served(
        self, job: Job, storage: Storage, state: State, given: Mapping[str, Service]
    ) -> tuple[tuple[ServedView, ...], State]:
        """The services with their views, as the last committed batch left them."""
        if unknown := [name for name in given if name not in {each.name for each in job.services}]:
            known = nearest(unknown[0], [each.name for each in job.services])
            raise InputError(f"the job has no service {unknown[0]!r}; {known}")
        served: list[ServedView] = []
        try:
            for each in job.services:
                client = given.get(each.name) or SparqlClient(each.client, service_pattern(each))
                served.append(open_served(each, client, storage, state))
        except BestbeforeError:
            client.close()
            for one in served:
                one.service.close()
            raise
        views = {each.job.name: each.opened for each in served}
        return tuple(served), replace(state, views=views)

    def _run(self, job: Job, rows: DataFrame, processor: BatchProcessor) -> RunningQuery:
        batches = _Batches(processor)
        writer = rows.writeStream.foreachBatch(batches)
        writer = writer.option("checkpointLocation", f"{job.checkpoint}/spark")
        if job.trigger == AVAILABLE_NOW:
            writer = writer.trigger(availableNow=True)
        else:
            milliseconds = parse_duration_ms(job.trigger)
            writer = writer.trigger(processingTime=f"{milliseconds} milliseconds")
        return RunningQuery(writer.start(), batches)

    def _intake(self, job: Job, streams: Mapping[str, DataFrame]) -> DataFrame:
        """The intake rows of all streams, each with the name of its stream."""
        frames = [
            self._rows_of(each, streams).withColumn(STREAM, F.lit(each.name))
            for each in job.streams
        ]
        return reduce(DataFrame.unionByName, frames)

    def _rows_of(self, stream: StreamJob, streams: Mapping[str, DataFrame]) -> DataFrame:
        given = streams.get(stream.name)
        if given is not None:
            if not given.isStreaming:
                raise InputError(f"the DataFrame for the stream {stream.name!r} is not streaming")
            return elements_of(given)
        if stream.source is None:
            raise InputError(
                f"the stream {stream.name!r} has source = 'dataframe': hand one over, "
                f"engine.start(job, streams={{{stream.name!r}: frame}})"
            )
        return stream.source.stream(self.spark)


def _static(job: Job) -> StaticTables | None:
    if not job.graphs:
        return None
    return read_graphs(job.query.default_graphs, job.query.named_graphs, job.graphs)
