"""One live run: a contender's job on Spark, its stream, its changing endpoint, and the truth."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from bestbefore.demo.contenders import WIDTH_S, Contender, write_job
from bestbefore.demo.mentions import MentionWriter, mentions
from bestbefore.demo.truth import ChangeLog, read_answer
from bestbefore.demo.world import WorldProcess
from bestbefore.engine import Engine, Quality, RunningQuery
from bestbefore.errors import WorkError
from bestbefore.job import load_job
from bestbefore.time import wall_clock_ms

# From here to the first second of the run, the engine loads its view and starts.
_LEAD_MS = 700
# The stream goes on for a moment after the last window: only a later element closes it.
_TAIL_MS = 600
# A policy that cannot keep up may take its time, within reason.
_OVERTIME_MS = 60_000
_LOG_PATIENCE_S = 1.0
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Stage:
    """What all runs share: Spark, the world, and the size of what happens there."""

    spark: SparkSession
    world: WorldProcess
    out: Path
    users: int
    mentions_per_second: int
    seed: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of a run: what the engine reports of it, and how fresh it really was."""

    quality: Quality
    offset_s: float
    true_freshness: float | None

    @property
    def latency_s(self) -> float:
        """The time from the close of the window to the written answer."""
        return (self.quality.answered_ms - self.quality.at) / 1000


Show = Callable[[Evaluation], None]


@dataclass(frozen=True, slots=True)
class Run:
    """A contender's evaluations, in order."""

    contender: Contender
    evaluations: tuple[Evaluation, ...]
    elements: int


def warm_up(stage: Stage, contender: Contender) -> None:
    """Let Spark load and compile what the runs need, with a short run that nobody sees."""
    with TemporaryDirectory(prefix="bestbefore-demo-") as folder:
        hidden = replace(stage, out=Path(folder))
        # The first windows lie in the past, so that the first batch has everything to do.
        run_contender(hidden, contender, seconds=3, lead_ms=-2_000)


def run_contender(
    stage: Stage,
    contender: Contender,
    *,
    seconds: int,
    lead_ms: int = _LEAD_MS,
    show: Show = lambda _: None,
) -> Run:
    """Run a contender for some seconds of the same world and the same stream as the others.

    After an error the query is left as it is: the end of Spark's JVM ends it too, at once.
    """
    folder = stage.out / contender.folder
    start_ms = wall_clock_ms() + lead_ms
    job_file = write_job(
        contender, stage.out, endpoint=stage.world.endpoint, t0_ms=start_ms, seed=stage.seed
    )
    log = folder / "changes.csv"
    stage.world.reset(log, span_ms=seconds * 1000 + _OVERTIME_MS)
    records: SimpleQueue[Quality] = SimpleQueue()
    stream = mentions(
        users=stage.users,
        per_second=stage.mentions_per_second,
        from_ms=-WIDTH_S * 1000,
        to_ms=seconds * 1000 + _TAIL_MS,
        seed=stage.seed,
    )
    with MentionWriter(stream, folder / "stream", start_ms=start_ms):
        running = Engine(stage.spark).start(load_job(job_file), on_quality=records.put)
        watch = Watch(stage.world, running, records, ChangeLog(log), folder / "answers")
        found = watch.until(start_ms, start_ms + seconds * 1000, show=show)
        running.stop()
    return Run(contender, tuple(found), running.state.elements)


@dataclass(frozen=True, slots=True)
class Watch:
    """Follows a running query from the main thread, so that Ctrl-C is heard at once."""

    world: WorldProcess
    running: RunningQuery
    records: "SimpleQueue[Quality]"
    log: ChangeLog
    answers: Path

    def until(self, start_ms: int, last_ms: int, *, show: Show) -> list[Evaluation]:
        """The evaluations up to the one at `last_ms`."""
        found: list[Evaluation] = []
        while not found or found[-1].quality.at < last_ms:
            try:
                record = self.records.get(timeout=_POLL_S)
            except Empty:
                self._check(last_ms)
            else:
                found.append(self._judge(record, start_ms))
                show(found[-1])
        return found

    def _judge(self, record: Quality, start_ms: int) -> Evaluation:
        rows = read_answer(self.answers, batch=record.batch, evaluation=record.evaluation)
        self.log.catch_up(record.answered_ms, patience_s=_LOG_PATIENCE_S)
        truth = self.log.freshness(rows, record.answered_ms)
        return Evaluation(record, (record.at - start_ms) / 1000, truth)

    def _check(self, last_ms: int) -> None:
        """While there is nothing to show: does everything still run?"""
        self.world.check()
        if wall_clock_ms() > last_ms + _OVERTIME_MS:
            raise WorkError("the evaluations come far too late; is this machine very busy?")
        if self.running.wait(0.001):
            raise WorkError("the query ended before its time")
