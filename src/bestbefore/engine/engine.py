"""The engine: it starts a job on Spark and hands out a handle to the running query."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.engine.batch import BatchProcessor, Report
from bestbefore.engine.job import AVAILABLE_NOW, Job
from bestbefore.engine.sinks import Sink, sink_of
from bestbefore.engine.state import Commits, State
from bestbefore.engine.view_start import change_intervals, open_view, service_pattern
from bestbefore.errors import BestbeforeError, InputError, WorkError
from bestbefore.query import print_query
from bestbefore.service import Service, SparqlClient
from bestbefore.spark.hadoop import storage_at
from bestbefore.spark.sources import elements_of
from bestbefore.time import Clock, parse_duration_ms, wall_clock_ms


@dataclass
class RunningQuery:
    """A query that runs until its stream ends, it is stopped, or it fails."""

    query: StreamingQuery
    processor: BatchProcessor
    service: Service
    failures: list[BaseException]

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False if it still runs after `timeout_s`. A failure is raised."""
        try:
            ended = self.query.awaitTermination(timeout_s)  # type: ignore[arg-type]
        except PySparkException as error:
            self.service.close()
            raise self._failure(error) from None
        if timeout_s is None or ended:
            self.service.close()
        return timeout_s is None or bool(ended)

    def stop(self) -> None:
        """Stop at the end of the batch that runs, if any."""
        self.query.stop()
        self.service.close()

    @property
    def state(self) -> State:
        """The state of the last committed batch."""
        return self.processor.state

    def _failure(self, error: PySparkException) -> BestbeforeError:
        cause = self.failures[-1] if self.failures else error
        if isinstance(cause, BestbeforeError):
            return cause
        lines = [line for line in str(cause).splitlines() if line.strip()]
        return WorkError(f"the query stopped: {lines[0] if lines else type(cause).__name__}")


@dataclass(frozen=True)
class Engine:
    """Runs jobs on a Spark session.

    `service` replaces the SPARQL client, `sink` the job's sink, `streams` names streaming
    DataFrames for streams that are no folders, `report` hears of every evaluation.
    """

    spark: SparkSession
    clock: Clock = wall_clock_ms

    def start(
        self,
        job: Job,
        *,
        streams: Mapping[str, DataFrame] | None = None,
        service: Service | None = None,
        sink: Sink | None = None,
        report: Report | None = None,
    ) -> RunningQuery:
        """Start a job, or go on with it where its checkpoint stands."""
        rows = self._intake(job, streams or {})
        storage = storage_at(self.spark, job.checkpoint)
        intervals = change_intervals(job)
        client = service or SparqlClient(job.service, service_pattern(job))
        state = Commits(storage).latest(print_query(job.query))
        view, state = open_view(job, storage, client, intervals, state)
        processor = BatchProcessor(
            job=job,
            storage=storage,
            quality_storage=storage_at(self.spark, job.sink.quality) if job.sink.quality else None,
            service=client,
            view=view,
            intervals=intervals,
            sink=sink or sink_of(job.sink),
            report=report or (lambda _: None),
            clock=self.clock,
            state=state,
        )
        return self._run(job, rows, processor)

    def _run(self, job: Job, rows: DataFrame, processor: BatchProcessor) -> RunningQuery:
        failures: list[BaseException] = []

        def process(batch: DataFrame, number: int) -> None:
            try:
                processor(batch, number)
            except BaseException as error:
                failures.append(error)
                # Spark only hears of an Exception; anything else would leave it waiting.
                raise WorkError(f"batch {number} failed") from error

        writer = rows.writeStream.foreachBatch(process)
        writer = writer.option("checkpointLocation", f"{job.checkpoint}/spark")
        if job.trigger == AVAILABLE_NOW:
            writer = writer.trigger(availableNow=True)
        else:
            milliseconds = parse_duration_ms(job.trigger)
            writer = writer.trigger(processingTime=f"{milliseconds} milliseconds")
        return RunningQuery(writer.start(), processor, processor.service, failures)

    def _intake(self, job: Job, streams: Mapping[str, DataFrame]) -> DataFrame:
        given = streams.get(job.stream.name)
        if given is not None:
            if not given.isStreaming:
                raise InputError(
                    f"the DataFrame for the stream {job.stream.name!r} is not streaming"
                )
            return elements_of(given)
        if job.stream.source is None:
            raise InputError(
                f"the stream {job.stream.name!r} has source = 'dataframe': hand one over, "
                f"engine.start(job, streams={{{job.stream.name!r}: frame}})"
            )
        return job.stream.source.stream(self.spark)
