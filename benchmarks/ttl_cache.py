"""The engine against a dictionary with a TTL: freshness and time at an equal number of refreshes.

Both answer the demo's query over the demo's stream, from a real SPARQL server in which the demo's
changes happen. Stream and server move on together, one slide after every answer, so that freshness
depends on what was refreshed and not on how busy the machine is. Both load everything at the start.
`ttl_baseline` is the contender: with a TTL that makes it refresh about as much as the budget
allows, or more, and with the budget as the most that it may ask for at a time, the oldest first.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Protocol

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks import ttl_baseline
from bestbefore.demo.contenders import QUERY, SLIDE_S, WIDTH_S
from bestbefore.demo.mentions import Mentions, mentions
from bestbefore.demo.population import CHANGE_INTERVAL, Change, changes, insertion, update, users
from bestbefore.demo.truth import AnswerRow, read_answer
from bestbefore.engine import Engine, Quality
from bestbefore.job import read_job
from bestbefore.spark.session import local_session
from tests.oxigraph_server import Oxigraph, find_oxigraph

USERS, MENTIONS_PER_SECOND, SEED = 400, 1_400, 7
BUDGET = 17
# With the first TTL the dictionary asks for about as many units as the budget has, with the second
# for a fifth more: all that was loaded at once expires at once.
TTLS_S = (12.6, 11.0)
# The first evaluations are left out: everything has just been loaded, and nothing is warm.
SKIPPED, EVALUATIONS = 15, 60
START_MS, SLIDE_MS = 1_700_000_000_000, SLIDE_S * 1000
PATIENCE_S = 120.0


@dataclass
class World:
    """The stream and the server's data, which stand still unless they are moved."""

    server: Oxigraph
    folder: Path
    stream: Mentions
    changes: list[Change]
    followers: dict[str, int]
    now_ms: int = -WIDTH_S * 1000
    written: int = 0

    @property
    def endpoint(self) -> str:
        """Where the server is asked."""
        return f"{self.server.base}/query"

    def now_s(self) -> float:
        """The time in this world."""
        return (START_MS + self.now_ms) / 1000

    def move_to(self, offset_ms: int) -> None:
        """Let happen what happens until then: changes in the server, a file in the stream."""
        due = [each for each in self.changes if self.now_ms <= each.offset_ms < offset_ms]
        if latest := {each.user.iri: each.followers for each in due}:
            self.server.update(update(latest))
            self.followers.update(latest)
        first, self.written, self.now_ms = self.written, self.stream.before(offset_ms), offset_ms
        hidden = self.folder / f".{offset_ms}.writing"
        hidden.write_text(self.stream.lines(first, self.written, start_ms=START_MS))
        hidden.rename(self.folder / f"{offset_ms}.jsonl")

    def freshness(self, rows: Sequence[AnswerRow]) -> float | None:
        """The share of rows that the server would confirm now."""
        fresh = [str(self.followers[user]) == followers for user, followers in rows]
        return fmean(fresh) if fresh else None


@dataclass(frozen=True)
class Answered:
    """One answer: the number of its batch, what was asked for it, and its rows."""

    batch: int
    units: int
    requests: int
    rows: Sequence[AnswerRow]


class Contender(Protocol):
    """A query that is running."""

    def answer(self, at_ms: int) -> Answered | None:
        """The answer of the window that closed then, None if it is not there yet."""
        ...

    def stop(self) -> dict[int, float]:
        """Stop; the seconds that each batch took."""
        ...


@dataclass
class EngineRun:
    """The engine, with a policy and a view that is told or learns the change intervals."""

    policy: str
    view: dict[str, str]
    spark: SparkSession
    world: World
    folder: Path
    records: list[Quality] = field(default_factory=list)

    def __post_init__(self) -> None:
        job = read_job(
            {
                "query": {"text": QUERY, "trigger": "100ms", "t0": START_MS},
                "streams": {"mentions": {"path": str(self.world.folder)}},
                "services": {"bkg": {"endpoint": self.world.endpoint}},
                "policy": {"name": self.policy, "seed": SEED},
                "budget": {"refreshes": BUDGET},
                "view": {"fill": "start", **self.view},
            },
            folder=self.folder,
        )
        self.running = Engine(self.spark).start(job, on_quality=self.records.append)

    def answer(self, at_ms: int) -> Answered | None:
        """What the record of that evaluation says, and the rows that were written."""
        for each in self.records:
            if each.at == at_ms:
                names = {"batch": each.batch, "evaluation": each.evaluation}
                rows = read_answer(self.folder / "answers", **names)
                return Answered(each.batch, each.elected, each.requests, rows)
        return None

    def stop(self) -> dict[int, float]:
        """As the records have it."""
        self.running.stop()
        return {each.batch: each.batch_s for each in self.records}


@dataclass
class DictionaryRun:
    """The baseline, with a TTL and perhaps a limit."""

    ttl_s: float
    most: int | None
    spark: SparkSession
    world: World
    folder: Path
    latest: int = 0

    def __post_init__(self) -> None:
        cache = ttl_baseline.TtlCache(
            self.world.endpoint, self.ttl_s, self.most, clock=self.world.now_s
        )
        cache.ask()
        self.query = ttl_baseline.start(self.spark, cache, self.world.folder, self.folder)

    def answer(self, at_ms: int) -> Answered | None:
        """What stands in the line of that window."""
        files = {int(file.stem): file for file in self.folder.glob("*.jsonl")}
        for batch in range(self.latest, max(files, default=-1) + 1):
            self.latest = batch
            for line in files[batch].read_text().splitlines(keepends=True):
                if line.endswith("\n") and (said := json.loads(line))["at"] == at_ms:
                    rows = [(user, str(followers)) for user, followers in said["rows"]]
                    return Answered(batch, said["asked"], int(said["asked"] > 0), rows)
        return None

    def stop(self) -> dict[int, float]:
        """As Spark tells it of the function of the batch."""
        self.query.processAllAvailable()
        self.query.stop()
        progress = ((each.batchId, each.durationMs) for each in self.query.recentProgress)
        return {batch: took["addBatch"] / 1000 for batch, took in progress if "addBatch" in took}


STATED, LEARNED = {"interval_predicate": CHANGE_INTERVAL}, {"change_interval": "learned"}
# Without fill, WBM leaves budget unspent where nothing is past its best-before time.
FILLED = "WSJ-WBM(fill=true)"
CONTENDERS: dict[str, Callable[[SparkSession, World, Path], Contender]] = {
    "EFG, told nothing": partial(EngineRun, "EFG", {}),
    "EFG, stated": partial(EngineRun, "EFG", STATED),
    f"{FILLED}, stated": partial(EngineRun, FILLED, STATED),
    f"{FILLED}, learned": partial(EngineRun, FILLED, LEARNED),
    **{f"dictionary, TTL {ttl} s": partial(DictionaryRun, ttl, None) for ttl in TTLS_S},
    f"dictionary, {BUDGET} oldest": partial(DictionaryRun, 0.0, BUDGET),
}


def main() -> None:
    """Run the benchmark and print its table."""
    table = Table(title=f"{EVALUATIONS - SKIPPED} evaluations, {USERS} units that change")
    table.add_column("", no_wrap=True)
    for column in ("true freshness", "rows", "units", "requests", "s per batch",
                   "s from file to answer"):  # fmt: skip
        table.add_column(column, justify="right")
    server = Oxigraph(find_oxigraph())
    try:
        with tempfile.TemporaryDirectory() as name:
            spark = local_session(log=Path(name) / "spark.log")
            spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")
            # Spark's 200 would let the dictionary take five seconds for a batch.
            spark.conf.set("spark.sql.shuffle.partitions", "2")
            for number, (title, start) in enumerate(CONTENDERS.items()):
                table.add_row(title, *run(start, spark, server, Path(name) / str(number)))
            spark.stop()
    finally:
        server.close()
    table.caption = (
        "aim: fresher than either dictionary at as many units; rows, units and requests per "
        "evaluation, times as medians"
    )
    Console(width=100).print(table)


def world_of(server: Oxigraph, folder: Path) -> World:
    """The world at its start, the same for every contender."""
    folder.mkdir(parents=True)
    population = users(USERS, seed=SEED)
    server.update(insertion(population))
    span_ms = (EVALUATIONS + 1) * SLIDE_MS
    stream = mentions(
        users=USERS,
        per_second=MENTIONS_PER_SECOND,
        from_ms=-WIDTH_S * 1000,
        to_ms=span_ms,
        seed=SEED,
    )
    followers = {each.iri: each.followers for each in population}
    return World(server, folder, stream, changes(population, span_ms=span_ms, seed=SEED), followers)


def run(
    start: Callable[[SparkSession, World, Path], Contender],
    spark: SparkSession,
    server: Oxigraph,
    folder: Path,
) -> list[str]:
    """The cells of a contender's row: means over its evaluations, medians of its times."""
    world = world_of(server, folder / "stream")
    contender = start(spark, world, folder)
    answers, fresh, waited = list[Answered](), list[float | None](), list[float]()
    for number in range(1, EVALUATIONS + 1):
        # Half a slide after the window closed there is an element that says so.
        world.move_to(number * SLIDE_MS + SLIDE_MS // 2)
        moved = time.perf_counter()
        answers.append(awaited(contender, START_MS + number * SLIDE_MS))
        waited.append(time.perf_counter() - moved)
        fresh.append(world.freshness(answers[-1].rows))
    took = contender.stop()
    measured = answers[SKIPPED:]
    return [
        f"{fmean(share for share in fresh[SKIPPED:] if share is not None):.1%}",
        f"{fmean(len(each.rows) for each in measured):.0f}",
        f"{fmean(each.units for each in measured):.1f}",
        f"{fmean(each.requests for each in measured):.1f}",
        f"{median(took[each.batch] for each in measured):.2f}",
        f"{median(waited[SKIPPED:]):.2f}",
    ]


def awaited(contender: Contender, at_ms: int) -> Answered:
    """The answer of a window, once it is there."""
    until = time.monotonic() + PATIENCE_S
    while (found := contender.answer(at_ms)) is None:
        if time.monotonic() > until:
            raise SystemExit(f"no answer of the window that closed at {at_ms}")
        time.sleep(0.02)
    return found


if __name__ == "__main__":
    main()
