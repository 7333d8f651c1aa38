"""The engine: it starts a job on Spark and hands out a handle to the running query."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Self

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.checkpoint.ownership import claim, lock_checkpoint, owner_of
from bestbefore.checkpoint.relied_on import sweep
from bestbefore.checkpoint.state import Commits, State
from bestbefore.engine.alerts import AlertListener
from bestbefore.engine.answering import Answering
from bestbefore.engine.batch import BatchProcessor, QualityListener
from bestbefore.engine.failures import told
from bestbefore.engine.found_state import Found, find_state, ledger_folder
from bestbefore.engine.heartbeat import start_heartbeat
from bestbefore.engine.progress import OnProgress, listen
from bestbefore.engine.recording import Recorder
from bestbefore.engine.served_view import ServedView, open_served
from bestbefore.engine.sinks import Sink, check_output, output_folders, sink_of
from bestbefore.engine.view_start import service_pattern
from bestbefore.errors import BestbeforeError, InputError, JobError, WorkError, nearest
from bestbefore.job.job import UNTIL_END, Job, ServiceSettings, StreamSettings
from bestbefore.limits import Ledgers, RequestLedger
from bestbefore.service import Service
from bestbefore.service.kinds import open_service
from bestbefore.spark.columns import STREAM
from bestbefore.spark.event_lines import elements_of
from bestbefore.spark.hadoop import storage_at
from bestbefore.spark.inbox import Inbox
from bestbefore.spark.jobs import Planner
from bestbefore.spark.session import is_local, session_like
from bestbefore.spark.static_graphs import StaticTables, read_graphs
from bestbefore.storage import LocalStorage, Storage
from bestbefore.time import Clock, monotonic_s, parse_duration_ms, wall_clock_ms

_STEP_S = 0.25
_LEDGERS = Ledgers()


@dataclass
class RunningQuery:
    """A query that runs until its stream ends, it is stopped, or it fails.

    As a context manager it is stopped at the end of the block. What the engine opened for it is
    closed when it ends; services that the caller handed over stay open.
    """

    query: StreamingQuery
    batches: "_Batches"
    spark: SparkSession
    _failure_told: bool = False

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False if it still runs after `timeout_s`. A failure is raised.

        The last windows of a run until the end are answered here.
        """
        deadline = None if timeout_s is None else monotonic_s() + timeout_s
        try:
            # In short steps, because a wait inside the JVM hears of no signal.
            while not self.query.awaitTermination(_STEP_S):  # type: ignore[arg-type]
                self._check_streams()
                if deadline is not None and monotonic_s() >= deadline:
                    return False
            self.batches.end()
        except (PySparkException, BestbeforeError, Py4JError, ConnectionError) as error:
            self.batches.opened.close()
            raise self._failure(error) from None
        self.batches.opened.close()
        return True

    def _check_streams(self) -> None:
        """Stop if the folder of a stream is gone, for more of which Spark would wait in silence."""
        try:
            for stream in self.processor.job.sources:
                if stream.source is not None:
                    stream.source.check()
        except InputError as error:
            self.stop()
            raise WorkError(f"{error}; put it back, and the same command goes on") from None

    def on_progress(self, tell: OnProgress) -> None:
        """Tell of every micro-batch: Spark's progress, and the figures of the answers it gave.

        What is answered between two batches, by a heartbeat or at the end of a finite run, is no
        micro-batch of Spark's; `on_quality` hears of it.
        """
        listen(self.spark, str(self.query.runId), records=lambda: self.processor.told, tell=tell)

    def stop(self) -> None:
        """Stop at the end of the batch that runs, if any."""
        self.batches.finish()
        # Where the JVM has ended, so has the query.
        with suppress(Py4JNetworkError, ConnectionError):
            self.query.stop()
        self.batches.opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop; a failure that nobody has heard of yet is raised."""
        failure: BaseException | None = None
        if not self._failure_told:
            try:
                failure = self.query.exception() or self.batches.failure
            except (Py4JNetworkError, ConnectionError) as error:
                failure = error
        self.stop()
        if failure is not None and kind is None:
            raise self._failure(failure) from None

    @property
    def processor(self) -> BatchProcessor:
        """What turns the batches into answers."""
        return self.batches.processor

    @property
    def state(self) -> State:
        """The state of the last committed batch."""
        return self.processor.state

    def _failure(self, error: BaseException) -> BestbeforeError:
        self._failure_told = True
        return told(self.batches.failure or error, self.processor.job)


@dataclass
class _Batches:
    """The batches of one run, one at a time, until one fails or no more are wanted.

    `opened` closes what was opened for them.
    """

    processor: BatchProcessor
    opened: ExitStack
    failure: BaseException | None = None
    _running: Lock = field(default_factory=Lock)
    _finished: bool = False

    def __call__(self, batch: DataFrame, number: int) -> None:
        with self._running:
            if self._finished or self.failure is not None:
                # Not processed, hence not to be committed: the next run gets it again.
                raise WorkError("the query was stopped")
            with self._noted(f"batch {number}"):
                self.processor(batch, number)

    def beat(self, pause_ms: int, *, is_waiting: Callable[[], bool]) -> None:
        """Let silent streams go on with the clock, if that is worth it and no batch is on its way.

        A stream that brought nothing for `pause_ms` is taken to have nothing older than that.
        """
        with self._running:
            if self._finished or self.failure is not None:
                return
            with self._noted("the heartbeat"):
                if (latest := self.processor.silent(pause_ms)) and is_waiting():
                    self.processor.advance(latest)

    def end(self) -> None:
        """After the last batch: raise what a heartbeat met, or let a finite run's streams end."""
        with self._running:
            if self.failure is not None:
                raise WorkError("the query stopped") from self.failure
            if self.processor.job.trigger == UNTIL_END and not self._finished:
                self._finished = True
                with self._noted("the end of the stream"):
                    self.processor.end()

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        """Keep a failure for whoever waits for the query, and close what was opened."""
        try:
            yield
        except BaseException as error:
            self.failure = error
            self.opened.close()
            # Spark only hears of an Exception; anything else would leave it waiting.
            raise WorkError(f"{what} failed") from error

    def finish(self) -> None:
        """Let the batch that runs come to its end, and no other begin."""
        self._finished = True
        with self._running:
            pass


@dataclass(frozen=True)
class Engine:
    """Runs jobs on a Spark session.

    `services` replace those of the job by their names, `sink` the job's sink, `streams` names
    streaming DataFrames for streams that are no folders, `on_quality` hears of every evaluation,
    `on_alert` of promises that one does not keep. A `recorder` is for a polling job.
    """

    spark: SparkSession
    clock: Clock = wall_clock_ms

    def start(  # noqa: PLR0913 - all but the job may be left out
        self,
        job: Job,
        *,
        streams: Mapping[str, DataFrame] | None = None,
        services: Mapping[str, Service] | None = None,
        sink: Sink | None = None,
        on_quality: QualityListener | None = None,
        on_alert: AlertListener | None = None,
        overwrite: bool = False,
        recorder: Recorder | None = None,
    ) -> RunningQuery:
        """Start a job, or go on with it where its checkpoint stands.

        Answers of another run are in its way, unless it may `overwrite` them.
        """
        check_output(job, sink_given=sink is not None)
        _check_names("service", services or {}, [service.name for service in job.services])
        _check_names("stream", streams or {}, [stream.name for stream in job.sources])
        rows = self._intake(job, streams or {})
        answers = sink or sink_of(job.sink, self.spark)
        storage = storage_at(self.spark, job.checkpoint)
        opened = ExitStack()
        try:
            opened.enter_context(lock_checkpoint(job.checkpoint))
            found = find_state(self.spark, job, storage)
            folders = output_folders(job, sink_given=sink is not None)
            owner = owner_of(storage, job.query.name)
            claim(
                {where: storage_at(self.spark, path) for where, path in folders.items()},
                owner,
                begun=found.state.batch >= 0,
                overwrite=overwrite,
            )
            sweep(storage, Commits(storage).kept())
            served = self._served(job, storage, found, services or {}, opened=opened)
            processor = BatchProcessor(
                job=job,
                spark=session_like(self.spark),
                storage=storage,
                quality_storage=self._quality_storage(job),
                answering=Answering(
                    job,
                    served,
                    answers,
                    self.clock,
                    folder=f"{storage.root}/answered",
                    planner=Planner(self._inbox(job, opened), job.plan),
                    static=_static(job),
                ),
                on_quality=on_quality or (lambda _: None),
                on_alert=on_alert or (lambda _, __: None),
                clock=self.clock,
                found=replace(
                    found.state,
                    views={view.job.name: view.opened for view in served},
                    run=owner.run,
                ),
                recorder=recorder,
            )
            _resume(processor)
            return self._run(job, rows, _Batches(processor, opened))
        except (PySparkException, Py4JError, OSError) as error:
            opened.close()
            raise told(error, job) from None
        except BaseException:
            opened.close()
            raise

    def _served(
        self,
        job: Job,
        storage: Storage,
        found: Found,
        given: Mapping[str, Service],
        *,
        opened: ExitStack,
    ) -> tuple[ServedView, ...]:
        """The services with their views, as the last committed batch left them.

        What is opened here, unlike what was given, is entered among what is closed in the end.
        """
        services = []
        for settings in job.services:
            service = given.get(settings.name)
            if service is None:
                service = _opened(settings)
                opened.callback(service.close)
            services.append((service, self._requests(settings, storage, opened)))
        served = tuple(
            open_served(settings, service, storage, found, clock=self.clock, requests=requests)
            for settings, (service, requests) in zip(job.services, services, strict=True)
        )
        for view in served:
            opened.callback(view.close)
        return served

    def _requests(
        self, service: ServiceSettings, storage: Storage, opened: ExitStack
    ) -> RequestLedger | None:
        """The ledger of a service's requests, if it has limits that need one."""
        if not service.limits.lasting:
            return None
        folder = ledger_folder(self.spark, service, storage)
        ledger = _LEDGERS.open(folder, service.address, service.limits, wall=self.clock)
        opened.callback(_LEDGERS.close, service.address)
        return ledger

    def _inbox(self, job: Job, opened: ExitStack) -> Inbox:
        """Where few rows are handed to Spark: on this machine, or where all executors can read."""
        if not is_local(str(self.spark.sparkContext.master)):
            return Inbox(storage_at(self.spark, f"{job.checkpoint}/inbox"))
        folder = opened.enter_context(TemporaryDirectory(prefix="bestbefore-"))
        return Inbox(LocalStorage(folder, durable=False))

    def _quality_storage(self, job: Job) -> Storage | None:
        return storage_at(self.spark, job.sink.quality) if job.sink.quality else None

    def _run(self, job: Job, rows: DataFrame, batches: "_Batches") -> RunningQuery:
        writer = rows.writeStream.foreachBatch(batches)
        writer = writer.option("checkpointLocation", f"{job.checkpoint}/spark")
        if not job.is_live:
            return RunningQuery(writer.trigger(availableNow=True).start(), batches, self.spark)
        trigger_ms = parse_duration_ms(job.trigger)
        query = writer.trigger(processingTime=f"{trigger_ms} milliseconds").start()
        if job.heartbeat_ms is not None:
            # What came since Spark last looked is not known yet.
            pause_ms = max(job.heartbeat_ms, trigger_ms)
            batches.opened.callback(start_heartbeat(query, batches.beat, pause_ms))
        return RunningQuery(query, batches, self.spark)

    def _intake(self, job: Job, streams: Mapping[str, DataFrame]) -> DataFrame:
        """The intake rows of all streams, with the IRI of their stream."""
        frames = [
            self._rows_of(stream, streams).withColumn(STREAM, F.lit(stream.iri))
            for stream in job.sources
        ]
        return reduce(DataFrame.unionByName, frames)

    def _rows_of(self, stream: StreamSettings, streams: Mapping[str, DataFrame]) -> DataFrame:
        given = streams.get(stream.name)
        if given is not None:
            if not given.isStreaming:
                raise InputError(f"the DataFrame for the stream {stream.name!r} is not streaming")
            return elements_of(given, arrival=stream.time == "arrival")
        if stream.source is None:
            raise InputError(
                f"the stream {stream.name!r} has source = 'dataframe': hand one over, "
                f"engine.start(job, streams={{{stream.name!r}: frame}})"
            )
        return stream.source.stream(self.spark)


def _opened(settings: ServiceSettings) -> Service:
    """The service that a job describes; what is wrong with it is told with its section."""
    try:
        return open_service(settings.client, service_pattern(settings))
    except JobError as error:
        raise JobError(f"services.{settings.name}: {error}") from None


def _resume(processor: BatchProcessor) -> None:
    """Finish what an earlier run had begun between two batches."""
    try:
        processor.resume()
    except Exception as error:
        raise told(error, processor.job) from error


def _check_names(kind: str, given: Iterable[str], known: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise InputError(f"the job has no {kind} {unknown[0]!r}; {nearest(unknown[0], known)}")


def _static(job: Job) -> StaticTables | None:
    if not job.graphs:
        return None
    return read_graphs(job.query.default_graphs, job.query.named_graphs, job.graphs)
