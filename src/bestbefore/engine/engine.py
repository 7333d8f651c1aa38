"""The engine: it starts a job on Spark and hands out a handle to the running query."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.checkpoint.ownership import claim, lend, lent_to, lock_checkpoint, owner_of
from bestbefore.checkpoint.relied_on import sweep
from bestbefore.checkpoint.state import Commits, State
from bestbefore.engine.alerts import AlertListener
from bestbefore.engine.answering import Answering
from bestbefore.engine.batch import BatchProcessor
from bestbefore.engine.failures import told
from bestbefore.engine.found_state import Found, find_states, ledger_folder
from bestbefore.engine.heartbeat import start_heartbeat
from bestbefore.engine.query_run import QualityListener, QueryRun
from bestbefore.engine.recording import Recorder
from bestbefore.engine.running_query import Batches, Opened, RunningQuery
from bestbefore.engine.served_view import ServedView, open_served
from bestbefore.engine.sharing import check_together, folders_of, shared_views, streams_of
from bestbefore.engine.sinks import Sink, sink_of
from bestbefore.engine.starting import Start, can_join
from bestbefore.engine.view_start import service_pattern
from bestbefore.errors import InputError, JobError, StateError
from bestbefore.job.job import Job, ServiceSettings, StreamSettings
from bestbefore.limits import Ledgers, RequestLedger
from bestbefore.service import Service
from bestbefore.service.kinds import open_service
from bestbefore.spark.columns import STREAM
from bestbefore.spark.event_lines import elements_of
from bestbefore.spark.hadoop import storage_at
from bestbefore.spark.inbox import Inbox
from bestbefore.spark.jobs import Planner
from bestbefore.spark.session import await_sources, fast_checkpoint, is_local, session_like
from bestbefore.spark.static_graphs import StaticTables, read_graphs
from bestbefore.storage import LocalStorage, Storage, StorageFolder
from bestbefore.time import Clock, parse_duration_ms, wall_clock_ms

_LEDGERS = Ledgers()


@dataclass
class Together:
    """Queries that are started together; they run when all of them are named.

    `running` is then the handle to all of them.
    """

    starts: list[Start] = field(default_factory=list)
    running: RunningQuery | None = None

    def start(
        self,
        job: Job,
        *,
        streams: Mapping[str, DataFrame] | None = None,
        services: Mapping[str, Service] | None = None,
        sink: Sink | None = None,
        on_quality: QualityListener | None = None,
        on_alert: AlertListener | None = None,
    ) -> None:
        """Start a job with the others."""
        given = streams or {}, services or {}
        self.starts.append(Start(job, *given, sink, on_quality, on_alert))


@dataclass(frozen=True)
class Engine:
    """Runs jobs on a Spark session.

    `services` replace those of the job by their names, `sink` the job's sink, `streams` names
    streaming DataFrames for streams that are no folders, `on_quality` hears of every evaluation,
    `on_alert` of promises that one does not keep. A `recorder` is for a polling job.
    """

    spark: SparkSession
    clock: Clock = wall_clock_ms
    runs: list[RunningQuery] = field(default_factory=list, init=False, repr=False, compare=False)

    def start(  # noqa: PLR0913 - all but the job may be left out
        self,
        job: Job,
        *others: Job,
        streams: Mapping[str, DataFrame] | None = None,
        services: Mapping[str, Service] | None = None,
        sink: Sink | None = None,
        on_quality: QualityListener | None = None,
        on_alert: AlertListener | None = None,
        overwrite: bool = False,
        recorder: Recorder | None = None,
    ) -> RunningQuery:
        """Start a job, or go on with it where its checkpoint stands.

        A job that has a stream or a view in common with one that this engine runs joins it: they
        are one run then, whose handle is returned, and read a stream once, share the views of
        services that they ask for the same, and are one transaction. A run until the end of its
        streams begins when its handle is first used, or two seconds later: others can join before.

        Others that are named here run together from the beginning, and are heard of by the same
        listeners; what else is given is the first's. Answers of another run are in the way, unless
        it may `overwrite` them.
        """
        given = streams or {}, services or {}
        first = Start(job, *given, sink, on_quality, on_alert, recorder)
        rest = (Start(one, on_quality=on_quality, on_alert=on_alert) for one in others)
        return self._start([first, *rest], overwrite=overwrite)

    @contextmanager
    def together(self, *, overwrite: bool = False) -> Iterator[Together]:
        """Start several jobs, one by one, that run together from the end of the block on.

        None of them then misses what came before it joined the others.
        """
        several = Together()
        yield several
        if several.starts:
            several.running = self._start(several.starts, overwrite=overwrite)

    def _start(self, starts: Sequence[Start], *, overwrite: bool) -> RunningQuery:
        check_together([one.job for one in starts])
        for one in starts:
            one.check()
        self.runs[:] = [run for run in self.runs if run.is_open]
        for run in self.runs:
            if self._can_join(starts, run):
                run.join(starts, overwrite=overwrite)
                return run
        running = RunningQuery(self.spark, self._open)
        running.open(starts, overwrite=overwrite)
        self.runs.append(running)
        return running

    def _can_join(self, starts: Sequence[Start], run: RunningQuery) -> bool:
        """Whether queries can go on with a run, and leave nothing behind that they had begun."""
        every = list(run.starts)
        for one in starts:
            if not run.lets_join or not can_join(every, one, begun=run.begun):
                return False
            own, common = one.job.checkpoint, every[0].job.checkpoint
            if own != common and Commits(storage_at(self.spark, own)).names():
                return False
            every.append(one)
        return True

    def _open(self, starts: Sequence[Start], *, overwrite: bool) -> Opened:
        """Open what jobs need to run together, as the last committed batch left it."""
        storage, starts = self._in_order(starts)
        jobs = [one.job for one in starts]
        frames = {iri: frame for one in starts for iri, frame in one.frames().items()}
        rows = self._intake(streams_of(jobs), frames)
        sinks = [one.sink or sink_of(one.job.sink, self.spark) for one in starts]
        opened = ExitStack()
        try:
            opened.enter_context(lock_checkpoint(jobs[0].checkpoint))
            folders = folders_of(jobs)
            found = find_states(self.spark, jobs, folders, storage)
            run = self._claim(starts, storage, found, overwrite=overwrite)
            sweep(storage, Commits(storage).kept())
            served = self._served(starts, folders, storage, found, opened=opened)
            parts = zip(starts, sinks, served, found, folders, strict=True)
            runs = [
                self._query_run(start, sink, views, replace(state.state, run=run), storage, folder,
                                opened=opened)
                for start, sink, views, state, folder in parts
            ]  # fmt: skip
            processor = BatchProcessor(runs, storage)
            _resume(processor)
            batches = Batches(processor, opened)
            return Opened(batches, lambda: self._begin(jobs[0], rows, batches))
        except (PySparkException, Py4JError, OSError) as error:
            opened.close()
            raise told(error, jobs[0]) from None
        except BaseException:
            opened.close()
            raise

    def _in_order(self, starts: Sequence[Start]) -> tuple[Storage, list[Start]]:
        """The checkpoint that queries go on from, and the one in whose name it is before others."""
        own = [storage_at(self.spark, one.job.checkpoint) for one in starts]
        # A query that ran with others has its state in theirs.
        storage = next((one for one in own if lent_to(one) is None), own[0])
        mine = sorted(range(len(starts)), key=lambda number: own[number].root != storage.root)
        order = Commits(storage).in_order([starts[number].job for number in mine])
        return storage, [starts[mine[number]] for number in order]

    def _claim(
        self,
        starts: Sequence[Start],
        storage: Storage,
        found: Sequence[Found],
        *,
        overwrite: bool,
    ) -> str:
        """Make the folders of the answers this run's; return its id."""
        own = {start.job.checkpoint: start.job for start in starts[1:]}
        own.pop(starts[0].job.checkpoint, None)
        for job in own.values():
            self._check_unbegun(job, storage.root)
        for start, state in zip(starts, found, strict=True):
            owner = owner_of(storage, start.job.query.name)
            claim(
                {where: storage_at(self.spark, path) for where, path in start.outputs().items()},
                owner,
                begun=state.state.batch >= 0,
                joined=state.joined,
                overwrite=overwrite,
            )
        for path in own:
            lend(storage_at(self.spark, path), storage.root)
        return owner.run

    def _check_unbegun(self, job: Job, checkpoint: str) -> None:
        """Refuse to let a query run in the checkpoint of others that has begun in its own."""
        own = storage_at(self.spark, job.checkpoint)
        if Commits(own).names():
            raise StateError(
                f"<{job.query.name}> has begun by itself, in the checkpoint {own.root}, and cannot "
                f"go on in {checkpoint}: run it alone, or give it another checkpoint.path to "
                "begin anew with the others"
            )

    def _query_run(  # noqa: PLR0913 - what makes up a query
        self,
        start: Start,
        sink: Sink,
        served: tuple[ServedView, ...],
        state: State,
        storage: Storage,
        folder: str,
        *,
        opened: ExitStack,
    ) -> QueryRun:
        """A query with what it answers from, as the last committed batch left it."""
        job, own = start.job, _inside(storage, folder)
        views = {view.job.name: view.opened for view in served if view.owner == folder}
        return QueryRun(
            job=job,
            spark=session_like(self.spark),
            storage=own,
            quality_storage=self._quality_storage(job),
            answering=Answering(
                job,
                served,
                sink,
                self.clock,
                folder=f"{own.root}/answered",
                planner=Planner(self._inbox(storage, opened), job.plan),
                static=_static(job),
            ),
            on_quality=start.on_quality or (lambda _: None),
            on_alert=start.on_alert or (lambda _, __: None),
            clock=self.clock,
            state=replace(state, views=views),
            folder=folder,
            recorder=start.recorder,
        )

    def _served(
        self,
        starts: Sequence[Start],
        folders: Sequence[str],
        storage: Storage,
        found: Sequence[Found],
        *,
        opened: ExitStack,
    ) -> list[tuple[ServedView, ...]]:
        """The services of each query with their views, as the last committed batch left them.

        What is opened here, unlike what was given, is entered among what is closed in the end.
        """
        jobs = [start.job for start in starts]
        views = shared_views(jobs)
        clients = []
        for view in views:
            names = [(starts[query].services, jobs[query].services[number].name)
                     for query, number in view.members]  # fmt: skip
            service = next((given[name] for given, name in names if name in given), None)
            if service is None:
                service = _opened(view.settings)
                opened.callback(service.close)
            clients.append((service, self._requests(view.settings, storage, opened)))
        served = dict[tuple[int, int], ServedView]()
        for view, (service, requests) in zip(views, clients, strict=True):
            state = found[view.owner]
            begun = [found[query].state.begun_ms for query, _ in view.members]
            known = [time for time in begun if time is not None]
            whole = replace(state.state, begun_ms=min(known, default=None))
            one = open_served(
                view.settings,
                service,
                _inside(storage, folders[view.owner]),
                replace(state, state=whole),
                clock=self.clock,
                requests=requests,
            )
            one.owner, one.shared = folders[view.owner], view.shared
            opened.callback(one.close)
            served |= dict.fromkeys(view.members, one)
        return [
            tuple(served[query, number] for number in range(len(job.services)))
            for query, job in enumerate(jobs)
        ]

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

    def _inbox(self, storage: Storage, opened: ExitStack) -> Inbox:
        """Where few rows are handed to Spark: on this machine, or where all executors can read."""
        if not is_local(str(self.spark.sparkContext.master)):
            return Inbox(storage_at(self.spark, f"{storage.root}/inbox"))
        folder = opened.enter_context(TemporaryDirectory(prefix="bestbefore-"))
        return Inbox(LocalStorage(folder, durable=False))

    def _quality_storage(self, job: Job) -> Storage | None:
        return storage_at(self.spark, job.sink.quality) if job.sink.quality else None

    def _begin(self, job: Job, rows: DataFrame, batches: Batches) -> StreamingQuery:
        """Let Spark read the streams."""
        writer = rows.writeStream.foreachBatch(batches)
        writer = writer.option("checkpointLocation", f"{job.checkpoint}/spark")
        trigger_ms = parse_duration_ms(job.trigger) if job.is_live else 0
        if job.is_live:
            writer = writer.trigger(processingTime=f"{trigger_ms} milliseconds")
        else:
            writer = writer.trigger(availableNow=True)
        with fast_checkpoint(rows.sparkSession, job.checkpoint):
            query = writer.start()
            await_sources(query)
        if job.is_live and job.heartbeat_ms is not None:
            # What came since Spark last looked is not known yet.
            pause_ms = max(job.heartbeat_ms, trigger_ms)
            batches.opened.callback(start_heartbeat(query, batches.beat, pause_ms))
        return query

    def _intake(
        self, wanted: Sequence[StreamSettings], streams: Mapping[str, DataFrame]
    ) -> DataFrame:
        """The intake rows of all streams, with the IRI of their stream."""
        frames = [
            self._rows_of(stream, streams).withColumn(STREAM, F.lit(stream.iri))
            for stream in wanted
        ]
        return reduce(DataFrame.unionByName, frames)

    def _rows_of(self, stream: StreamSettings, streams: Mapping[str, DataFrame]) -> DataFrame:
        given = streams.get(stream.iri)
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


def _inside(storage: Storage, folder: str) -> Storage:
    """What a query keeps in a checkpoint: in a folder of its own, if it has one."""
    return StorageFolder(storage, folder.rstrip("/")) if folder else storage


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


def _static(job: Job) -> StaticTables | None:
    if not job.graphs:
        return None
    return read_graphs(job.query.default_graphs, job.query.named_graphs, job.graphs)
