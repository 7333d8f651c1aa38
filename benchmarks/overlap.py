"""Throughput and time per evaluation against the overlap ω/β of the window.

The same files go through the engine and through a plain Spark job that reads, filters and writes
them; a ratio of 3 means three times the time of that job. The service is a real SPARQL server.
"""

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console
from rich.table import Table

from benchmarks.influencers import (
    EX,
    KEYS,
    influencers,
    sparql_server,
    split_lines,
    write_mentions,
)
from bestbefore.engine import Engine, Quality
from bestbefore.spark.session import local_session

BATCHES = 6
TRIPLES = 100_000
BATCH_MS = 60_000
OVERLAPS = (1, 6, 30)
SLIDE_S = 10
REFRESHES = 50


@dataclass(frozen=True)
class Figures:
    """What one run of the engine took, its first batch left out as warm-up."""

    overlap: int
    evaluations: int
    seconds: float
    service_s: float

    @property
    def triples_per_s(self) -> float:
        """Triples taken in per second of processing."""
        return (BATCHES - 1) * TRIPLES / self.seconds


def main() -> None:
    """Run the benchmark and print its table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_stream(folder / "stream")
        spark = local_session(log=folder / "spark.log")
        with sparql_server() as endpoint:
            run(spark, folder, endpoint, overlap=6)
            plain = plain_spark(spark, folder)
            figures = [run(spark, folder, endpoint, overlap=each) for each in OVERLAPS]
        show(figures, plain)
        spark.stop()


def show(figures: list[Figures], plain_s: float) -> None:
    """Print the figures beside those of the plain Spark job."""
    table = Table(title=f"{BATCHES - 1} batches of {TRIPLES:,} triples, {KEYS:,} join keys")
    for column in ("ω/β", "evaluations", "triples/s", "s per evaluation",
                   "time : plain Spark", "not waiting for the service"):  # fmt: skip
        table.add_column(column, justify="right")
    for each in figures:
        table.add_row(
            str(each.overlap),
            str(each.evaluations),
            f"{each.triples_per_s:,.0f}",
            f"{each.seconds / each.evaluations:.3f}",
            f"{each.seconds / plain_s:.1f}",
            f"{1 - each.service_s / each.seconds:.1%}",
        )
    rate = (BATCHES - 1) * TRIPLES / plain_s
    table.caption = f"plain Spark (read, filter, write): {rate:,.0f} triples/s"
    Console(width=100).print(table)


def run(spark: SparkSession, folder: Path, endpoint: str, *, overlap: int) -> Figures:
    """One run of the engine over the whole stream."""
    home = folder / f"overlap-{overlap}"
    shutil.rmtree(home, ignore_errors=True)
    records: list[Quality] = []
    job = influencers(
        folder / "stream",
        home,
        endpoint,
        window=f"RANGE {overlap * SLIDE_S}s STEP {SLIDE_S}s",
        refreshes=REFRESHES,
        full_windows_only=False,
    )
    Engine(spark).start(job, on_quality=records.append).wait()
    measured = [each for each in records if each.batch > 0]
    batches = {each.batch: each.batch_s for each in measured}
    return Figures(
        overlap=overlap,
        evaluations=len(measured),
        seconds=sum(batches.values()),
        service_s=sum(each.service_s for each in measured),
    )


def plain_spark(spark: SparkSession, folder: Path) -> float:
    """The seconds of a job that reads the same lines, filters them and writes them."""
    paths = sorted(str(each) for each in (folder / "stream").iterdir())[1:]
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        for path in paths:
            wanted = split_lines(spark.read.text(path)).filter(F.col("p") == f"<{EX}isMentionedIn>")
            wanted.write.mode("overwrite").parquet(str(folder / "plain"))
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def write_stream(folder: Path) -> None:
    """Files of equal size, one per batch."""
    for batch in range(BATCHES):
        from_ms = batch * BATCH_MS
        write_mentions(folder, batch, from_ms=from_ms, span_ms=BATCH_MS, triples=TRIPLES)


if __name__ == "__main__":
    main()
