"""Time of a small micro-batch against the least that any micro-batch of Spark takes.

That floor is a `foreachBatch` over files of the same size that writes the rows as Parquet and
collects one grouped table; it runs before and after ours. A window of n slides holds n batches: the
first file fills it, and closes it. Every batch after that has exactly one window due. Between two
batches Spark looks for files and writes its own checkpoint; that of the floor is as Spark has it.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.influencers import influencers, sparql_server, split_lines, write_mentions
from bestbefore.engine import Engine, Quality, RunningQuery
from bestbefore.spark.session import local_session

TRIPLES = (25, 2_000)
SLIDES = (10, 100, 1_000)
BATCHES = 100
# For the JVM, before anything is measured; for a run that has a window of its own, at its start.
JVM_WARM, WARM = 50, 10
# A run that takes longer is cut short, and its row says how many batches it had until then.
MOST_S, MOST_FILLING_S = 35, 60
SLIDE_MS = 1_000
AIM = 2
# The set-up that lets small batches of plain Spark take the least time.
SMALL_BATCHES = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclass(frozen=True)
class Record:
    """When a batch was done, what it took, and how much of that was waiting for the service."""

    done_s: float
    seconds: float
    service_s: float = 0.0


def between_batches(records: list[Record]) -> float:
    """The median of the seconds from one batch to the next."""
    pairs = pairwise(records)
    return float(np.median([later.done_s - later.seconds - one.done_s for one, later in pairs]))


@dataclass(frozen=True)
class Figures:
    """What the batches of a run took: with so many triples each, and so many slides a window."""

    triples: int
    slides: int
    records: list[Record]
    floor: list[Record]

    def cells(self) -> list[str]:
        """The row of the table."""
        head = [f"{self.triples:,}", f"{self.slides:,}", str(len(self.records))]
        floor = float(np.median([each.seconds for each in self.floor]))
        if not self.records:
            return [*head, f"{floor:.3f}", *"–––––"]
        median, late = np.percentile([each.seconds for each in self.records], (50, 95))
        waiting = np.median([each.service_s for each in self.records])
        shown = [f"{each:.3f}" for each in (floor, median, late)]
        between = f"{between_batches(self.floor):.3f} / {between_batches(self.records):.3f}"
        return [*head, *shown, f"{median / floor:.1f}", f"{waiting:.3f}", between]


def main() -> None:
    """Run the benchmark and print its table."""
    with tempfile.TemporaryDirectory() as name, sparql_server() as endpoint:
        folder = Path(name)
        spark = local_session(log=folder / "spark.log")
        run(spark, folder, endpoint, triples=TRIPLES[0], slides=SLIDES[0], batches=JVM_WARM)
        figures = [
            each for triples in TRIPLES for each in measure(spark, folder, endpoint, triples)
        ]
        spark.stop()
    show(figures)


def show(figures: list[Figures]) -> None:
    """Print the figures beside the floor's."""
    table = Table(title="a micro-batch with one window due, in seconds")
    for column in ("triples", "slides of the window", "batches", "floor", "median", "p95",
                   "median : floor", "waiting for the service",
                   "between batches: floor / ours"):  # fmt: skip
        table.add_column(column, justify="right")
    for each in figures:
        table.add_row(*each.cells())
    table.caption = (
        f"aim: median : floor ≤ {AIM}; floor: write the rows as Parquet, collect one group-by; "
        f"cut short after {MOST_S} s, or {MOST_FILLING_S} s for the batch that fills the window"
    )
    Console(width=100).print(table)


def measure(spark: SparkSession, folder: Path, endpoint: str, triples: int) -> list[Figures]:
    """The runs with so many triples per batch, between two runs of the floor."""
    floor = run_floor(spark, folder, triples)
    runs = {
        slides: run(spark, folder, endpoint, triples=triples, slides=slides, batches=BATCHES)
        for slides in SLIDES
    }
    floor += run_floor(spark, folder, triples)
    return [Figures(triples, slides, records, floor) for slides, records in runs.items()]


def run(
    spark: SparkSession, folder: Path, endpoint: str, *, triples: int, slides: int, batches: int
) -> list[Record]:
    """The records of the batches once the run is warm, one for each batch."""
    stream, home = folder / "stream", folder / "run"
    # Half a slide more, so that the first batch closes the first window, and tells when it is done.
    filling_ms = slides * SLIDE_MS + SLIDE_MS // 2
    write_mentions(stream, 0, from_ms=0, span_ms=filling_ms, triples=triples * slides)
    for number in range(WARM + batches):
        from_ms = filling_ms + number * SLIDE_MS
        write_mentions(stream, number + 1, from_ms=from_ms, span_ms=SLIDE_MS, triples=triples)
    job = influencers(stream, home, endpoint, window=f"RANGE {slides}s STEP 1s")
    records: list[Quality] = []
    done_s: list[float] = []

    def note(record: Quality) -> None:
        done_s.append(time.perf_counter())
        records.append(record)

    with Engine(spark).start(job, on_quality=note) as running:
        wait(running, MOST_FILLING_S, done=lambda: bool(records))
        wait(running, MOST_S if records else 0)
    shutil.rmtree(stream)
    shutil.rmtree(home)
    if any(each.batch_evaluations != 1 for each in records if each.batch > 0):
        raise SystemExit("a batch had not exactly one window due")
    after = [
        Record(at_s, each.batch_s, each.service_s)
        for at_s, each in zip(done_s, records, strict=True)
        if each.batch > 0
    ]
    return after[min(WARM, len(after) // 3) :]


def wait(
    running: RunningQuery, seconds: float, *, done: Callable[[], bool] = lambda: False
) -> None:
    """Wait for the end of a run, for something done in it, or for some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not running.wait(0.1) and not done():
        pass


def run_floor(spark: SparkSession, folder: Path, triples: int) -> list[Record]:
    """What plain Spark takes for each batch once it is warm."""
    stream, home = folder / "stream", folder / "floor"
    for number in range(WARM + BATCHES // 2):
        from_ms = number * SLIDE_MS
        write_mentions(stream, number, from_ms=from_ms, span_ms=SLIDE_MS, triples=triples)
    records: list[Record] = []

    def process(batch: DataFrame, number: int) -> None:
        started = time.perf_counter()
        batch.write.mode("overwrite").parquet(f"{home}/{number}")
        batch.groupBy("s").count().toArrow()
        done_s = time.perf_counter()
        records.append(Record(done_s, done_s - started))

    session = spark.newSession()
    for key, value in SMALL_BATCHES.items():
        session.conf.set(key, value)
    lines = session.readStream.option("maxFilesPerTrigger", 1).text(str(stream))
    writer = split_lines(lines).writeStream.foreachBatch(process).trigger(availableNow=True)
    writer.option("checkpointLocation", f"{home}/checkpoint").start().awaitTermination()
    shutil.rmtree(stream)
    shutil.rmtree(home)
    return records[WARM:]


if __name__ == "__main__":
    main()
