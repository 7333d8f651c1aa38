"""A query that runs: its batches one at a time, and the handle by which it is waited for."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock, RLock, Timer
from typing import Protocol, Self

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.checkpoint.state import State
from bestbefore.engine.batch import BatchProcessor
from bestbefore.engine.failures import told
from bestbefore.engine.progress import OnProgress, listen
from bestbefore.engine.sharing import streams_of
from bestbefore.engine.starting import Start
from bestbefore.errors import (
    BestbeforeError,
    InputError,
    MissingQueryError,
    StateError,
    WorkError,
)
from bestbefore.job.job import UNTIL_END
from bestbefore.time import monotonic_s

_STEP_S = 0.25
# A run to the end of its streams begins so long after its start, if nobody uses it before.
_MOMENT_S = 2.0
_LOG = logging.getLogger("bestbefore.engine")


@dataclass(frozen=True)
class Opened:
    """A run that may begin: what its batches become, and what lets Spark read its streams."""

    batches: "Batches"
    begin: Callable[[], StreamingQuery]


class Opening(Protocol):
    """What opens queries that run together; `overwrite` lets them remove others' answers."""

    def __call__(self, starts: Sequence[Start], *, overwrite: bool) -> Opened:
        """Open them as their last committed batch left them."""


@dataclass
class RunningQuery:
    """A query, or several together, that run until their streams end, they are stopped, or fail.

    As a context manager it is stopped at the end of the block. What the engine opened for it is
    closed when it ends; services that the caller handed over stay open. A run until the end of its
    streams begins when it is waited for or looked at, or after a moment in which others can join.
    """

    spark: SparkSession
    opening: Opening
    starts: list[Start] = field(default_factory=list)
    is_open: bool = True
    _opened: Opened | None = None
    _query: StreamingQuery | None = None
    _missing: MissingQueryError | None = None
    _listeners: list[OnProgress] = field(default_factory=list)
    _failure_told: bool = False
    _changing: RLock = field(default_factory=RLock)

    def open(self, starts: Sequence[Start], *, overwrite: bool = False) -> None:
        """Open what queries need; if they wait for more of their streams, let them begin.

        Where others are missing that they ran with, they wait for those to join.
        """
        with self._changing:
            self.starts, self._query, self._missing = list(starts), None, None
            try:
                self._opened = self.opening(starts, overwrite=overwrite)
            except MissingQueryError as error:
                self._opened, self._missing = None, error
                _LOG.warning("waiting: %s", error)
                return
            if starts[0].job.is_live:
                self.begin()
            else:
                soon = Timer(_MOMENT_S, self._begin_at_last, [self._opened])
                soon.daemon = True
                soon.start()
                self._opened.batches.opened.callback(soon.cancel)

    def begin(self) -> StreamingQuery:
        """Read the streams from now on, if that has not begun; return Spark's query."""
        if (begun := self._query) is not None:
            # Without the lock: whoever stops it may wait for the one who asks.
            return begun
        with self._changing:
            if self._query is None:
                run = self._open_run
                if run.batches.failure is not None:
                    raise run.batches.failure
                if not self.is_open:
                    raise WorkError("the query was stopped before it began")
                try:
                    self._query = run.begin()
                except BaseException as error:
                    self.is_open = False
                    run.batches.opened.close()
                    failed = isinstance(error, (PySparkException, Py4JError, OSError))
                    run.batches.failure = self._failure(error) if failed else error
                    raise run.batches.failure from None
                for tell in self._listeners:
                    self._listen(self._query, tell)
            return self._query

    def _begin_at_last(self, opened: Opened) -> None:
        """Begin what nobody has used; what fails is told to whoever waits for it."""
        with self._changing, suppress(Exception):
            if self.is_open and self._opened is opened:
                self.begin()

    @property
    def begun(self) -> bool:
        """Whether streams are read."""
        return self._query is not None

    @property
    def lets_join(self) -> bool:
        """Whether others can join: it goes on, and will not end while they do."""
        failed = self._opened is not None and self._opened.batches.failure is not None
        return self.is_open and not failed and (not self.begun or self.starts[0].job.is_live)

    def join(self, starts: Sequence[Start], *, overwrite: bool = False) -> None:
        """Let others run with it from the next batch on; if they cannot begin, it goes on alone."""
        with self._changing:
            before = self.starts
            self._halt()
            try:
                self.open([*before, *starts], overwrite=overwrite)
            except BaseException:
                self.open(before)
                raise

    def _halt(self) -> None:
        """Let the batch that runs end, and close what was opened."""
        if self._opened is None:
            return
        self._opened.batches.finish()
        if self._query is not None:
            # Where the JVM has ended, so has the query.
            with suppress(Py4JNetworkError, ConnectionError):
                self._query.stop()
        self._opened.batches.opened.close()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False if it still runs after `timeout_s`. A failure is raised.

        The last windows of a run until the end are answered here.
        """
        deadline = None if timeout_s is None else monotonic_s() + timeout_s
        try:
            while not self._has_ended():
                self._check_streams()
                if deadline is not None and monotonic_s() >= deadline:
                    return False
            self.batches.end()
        except (PySparkException, BestbeforeError, Py4JError, ConnectionError) as error:
            self.is_open = False
            if self._opened is None:
                self._failure_told = True
                raise
            self.batches.opened.close()
            raise self._failure(error) from None
        self.is_open = False
        self.batches.opened.close()
        return True

    def _has_ended(self) -> bool:
        """Whether it has ended within a moment, other than to let another query join."""
        if not self.is_open and self._opened is not None and not self.begun:
            return self._opened.batches.failure is None
        query = self.query
        # In short steps, because a wait inside the JVM hears of no signal.
        if not query.awaitTermination(_STEP_S):  # type: ignore[arg-type]
            return False
        with self._changing:
            return self._query is query

    def _check_streams(self) -> None:
        """Stop if the folder of a stream is gone, for more of which Spark would wait in silence."""
        try:
            for stream in streams_of([one.job for one in self.starts]):
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
        with self._changing:
            self._listeners.append(tell)
            if self._query is not None:
                self._listen(self._query, tell)

    def _listen(self, query: StreamingQuery, tell: OnProgress) -> None:
        listen(self.spark, str(query.runId), records=lambda: self.processor.told, tell=tell)

    def stop(self) -> None:
        """Stop at the end of the batch that runs, if any."""
        with self._changing:
            self.is_open = False
            self._halt()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop; a failure that nobody has heard of yet is raised."""
        failure: BaseException | None = None
        if not self._failure_told and self._query is not None:
            try:
                failure = self._query.exception() or self.batches.failure
            except (Py4JNetworkError, ConnectionError) as error:
                failure = error
        self.stop()
        if kind is None and self._missing is not None and not self._failure_told:
            raise self._missing
        if failure is not None and kind is None:
            raise self._failure(failure) from None

    @property
    def query(self) -> StreamingQuery:
        """Spark's query, which begins now if it has not begun."""
        return self.begin()

    @property
    def _open_run(self) -> Opened:
        if self._opened is None:
            raise self._missing or StateError("the query was not started")
        return self._opened

    @property
    def batches(self) -> "Batches":
        """What its batches go through."""
        return self._open_run.batches

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
class Batches:
    """The batches of one run, one at a time, until one fails or no more are wanted.

    `opened` closes what was opened for them.
    """

    processor: BatchProcessor
    opened: ExitStack
    failure: BaseException | None = None
    _running: Lock = field(default_factory=Lock)
    _finished: bool = False

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Process a batch of Spark's."""
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
