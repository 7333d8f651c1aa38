"""The engine against a dictionary with a TTL: freshness and time at an equal number of refreshes.

Both answer the demo's query over the demo's live stream, from the demo's endpoint, where the same
changes happen at the same moments of every run; its log of changes tells which rows of an answer
were true when it was written. Both load everything at the start. `ttl_baseline` is the contender:
once with a TTL that makes it refresh as much as the budget allows, once with the budget as the most
that it may ask for at a time, the oldest first.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks import ttl_baseline
from bestbefore.demo.contenders import QUERY, SLIDE_S, WIDTH_S
from bestbefore.demo.mentions import MentionWriter, mentions
from bestbefore.demo.population import CHANGE_INTERVAL
from bestbefore.demo.truth import AnswerRow, ChangeLog, read_answer
from bestbefore.demo.world import WorldProcess, running_world
from bestbefore.engine import Engine, Quality
from bestbefore.job import read_job
from bestbefore.spark.session import local_session
from bestbefore.time import wall_clock_ms

USERS, MENTIONS_PER_SECOND, DELAY_MS, SEED = 400, 1_400, 40, 7
BUDGET = 17
# With this TTL the dictionary asks for about as many units as the budget has, or a few more.
TTL_S = 6.5
# The answers of the first seconds are left out: everything has just been loaded.
SKIPPED_S, SECONDS = 15, 60
WARM_S = 5
TAIL_MS = 1_600
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Answered:
    """One answer: when it was due and written, what it was asked for, and what its batch took."""

    at_ms: int
    answered_ms: int
    units: int
    requests: int
    batch_s: float
    rows: Sequence[AnswerRow]


@dataclass(frozen=True)
class Live:
    """A run in the making: Spark, the endpoint, a folder with the stream, and when it began."""

    spark: SparkSession
    endpoint: str
    folder: Path
    start_ms: int
    last_ms: int

    def wait(self, latest_ms: Callable[[], int]) -> None:
        """Wait until the last window is answered."""
        until_ms = self.last_ms + PATIENCE_S * 1000
        while latest_ms() < self.last_ms:
            if wall_clock_ms() > until_ms:
                raise SystemExit("the answers come far too late; is this machine very busy?")
            time.sleep(0.1)


def engine(view: dict[str, str], live: Live) -> list[Answered]:
    """The answers of the engine, whose view knows or learns the change intervals."""
    job = read_job(
        {
            "query": {"text": QUERY, "trigger": "100ms", "t0": live.start_ms},
            "streams": {"mentions": {"path": str(live.folder / "stream")}},
            "services": {"bkg": {"endpoint": live.endpoint}},
            "policy": {"name": "WSJ-WBM", "seed": SEED},
            "budget": {"refreshes": BUDGET},
            "view": view,
        },
        folder=live.folder,
    )
    records: list[Quality] = []
    with Engine(live.spark).start(job, on_quality=records.append):
        live.wait(lambda: records[-1].at if records else 0)
    return [
        Answered(
            each.at,
            each.answered_ms,
            each.elected,
            each.requests,
            each.batch_s,
            read_answer(live.folder / "answers", batch=each.batch, evaluation=each.evaluation),
        )
        for each in records
    ]


def dictionary(ttl_s: float, most: int | None, live: Live) -> list[Answered]:
    """The answers of the baseline."""
    cache = ttl_baseline.TtlCache(live.endpoint, ttl_s, most)
    cache.ask()
    out = live.folder / "answers"
    out.mkdir()
    query = ttl_baseline.start(live.spark, cache, live.folder / "stream", out)
    live.wait(lambda: max((each["at"] for _, each in lines(out)), default=0))
    query.stop()
    took = {each.batchId: each.durationMs["addBatch"] / 1000 for each in query.recentProgress}
    return [
        Answered(
            each["at"],
            int(each["answered_ms"]),
            each["asked"],
            int(each["asked"] > 0),
            took[batch],
            [(user, str(followers)) for user, followers in each["rows"]],
        )
        for batch, each in lines(out)
        if batch in took
    ]


def lines(folder: Path) -> list[tuple[int, dict]]:  # type: ignore[type-arg]
    """The answers that the baseline has written, with the numbers of their batches."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: int(file.stem))
    return [
        (int(file.stem), json.loads(line))
        for file in files
        for line in file.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


CONTENDERS: dict[str, Callable[[Live], list[Answered]]] = {
    "engine, intervals stated": partial(engine, {"interval_predicate": CHANGE_INTERVAL}),
    "engine, intervals learned": partial(engine, {"change_interval": "learned"}),
    f"dictionary, TTL {TTL_S:g} s": partial(dictionary, TTL_S, None),
    f"dictionary, {BUDGET} oldest": partial(dictionary, 0.0, BUDGET),
}


def main() -> None:
    """Run the benchmark and print its table."""
    table = Table(title=f"{SECONDS - SKIPPED_S} evaluations, one per second, {USERS} units")
    table.add_column("", no_wrap=True)
    for column in ("true freshness", "rows", "units", "requests", "s per batch",
                   "s from close to answer"):  # fmt: skip
        table.add_column(column, justify="right")
    endpoint = running_world(users=USERS, seed=SEED, delay_ms=DELAY_MS)
    with tempfile.TemporaryDirectory() as name, endpoint as world:
        spark = local_session(log=Path(name) / "spark.log")
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")
        for number, (title, contender) in enumerate(CONTENDERS.items()):
            run(contender, spark, world, Path(name) / f"warm-{number}", seconds=WARM_S)
            cells = run(contender, spark, world, Path(name) / str(number), seconds=SECONDS)
            table.add_row(title, *cells)
        spark.stop()
    table.caption = (
        "aim: fresher than either dictionary at as many units; rows, units and requests per "
        "evaluation, times as medians. Answers that come later than the next window closes, after "
        f"{SLIDE_S} s, tell more of a busy machine than of what is compared."
    )
    Console(width=100).print(table)


def run(
    contender: Callable[[Live], list[Answered]],
    spark: SparkSession,
    world: WorldProcess,
    folder: Path,
    *,
    seconds: int,
) -> list[str]:
    """The cells of a contender's row, after so many seconds."""
    (folder / "stream").mkdir(parents=True)
    start_ms = (wall_clock_ms() // 1000 + 2) * 1000
    last_ms = start_ms + seconds * 1000
    log = ChangeLog(folder / "changes.csv")
    world.reset(log.path, span_ms=last_ms - start_ms + int(PATIENCE_S * 1000))
    stream = mentions(
        users=USERS,
        per_second=MENTIONS_PER_SECOND,
        from_ms=-WIDTH_S * 1000,
        to_ms=seconds * 1000 + TAIL_MS,
        seed=SEED,
    )
    with MentionWriter(stream, folder / "stream", start_ms=start_ms):
        answers = contender(Live(spark, world.endpoint, folder, start_ms, last_ms))
    log.catch_up(max(each.answered_ms for each in answers), patience_s=5.0)
    from_ms = start_ms + min(SKIPPED_S, seconds - 1) * 1000
    return cells([each for each in answers if from_ms < each.at_ms <= last_ms], log)


def cells(answers: list[Answered], log: ChangeLog) -> list[str]:
    """Means and medians over the answers; freshness over those that have rows."""
    fresh = [log.freshness(each.rows, each.answered_ms) for each in answers if each.rows]
    late = median(each.answered_ms - each.at_ms for each in answers) / 1000
    return [
        f"{fmean(share for share in fresh if share is not None):.1%}",
        f"{fmean(len(each.rows) for each in answers):.0f}",
        f"{fmean(each.units for each in answers):.1f}",
        f"{fmean(each.requests for each in answers):.1f}",
        f"{median(each.batch_s for each in answers):.2f}",
        f"{late:.2f}",
    ]


if __name__ == "__main__":
    main()
