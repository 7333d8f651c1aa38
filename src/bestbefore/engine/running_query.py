"""A query that runs: its batches one at a time, and the handle by which it is waited for."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Self

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.checkpoint.state import State
from bestbefore.engine.batch import BatchProcessor
from bestbefore.engine.failures import told
from bestbefore.engine.progress import OnProgress, listen
from bestbefore.engine.sharing import streams_of
from bestbefore.errors import BestbeforeError, InputError, WorkError
from bestbefore.job.job import UNTIL_END
from bestbefore.time import monotonic_s

_STEP_S = 0.25


@dataclass
class RunningQuery:
    """A query that runs until its stream ends, it is stopped, or it fails.

    As a context manager it is stopped at the end of the block. What the engine opened for it is
    closed when it ends; services that the caller handed over stay open.
    """

    query: StreamingQuery
    batches: "Batches"
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
            for stream in streams_of([run.job for run in self.processor.runs]):
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
