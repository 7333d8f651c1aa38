"""Throughput and time per evaluation against the overlap ω/β of the window.

The same files go through the engine and through a plain Spark job that reads, filters and writes
them; a ratio of 3 means three times the time of that job. The service is a real SPARQL server.
"""

import shutil
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median

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

BATCHES = 9
WARM = 3
ROUNDS = 3
TRIPLES = 100_000
BATCH_MS = 60_000
OVERLAPS = (1, 6, 30)
AIMS = (3, 3, 4)
SLIDE_S = 10
REFRESHES = 50


@dataclass(frozen=True)
class Batch:
    """What one batch took, and how much of that was waiting for the service."""

    seconds: float
    evaluations: int = 0
    service_s: float = 0.0


def main() -> None:
    """Run the benchmark and print its table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_stream(folder / "stream")
        spark = local_session(log=folder / "spark.log")
        with sparql_server() as endpoint:
            run(spark, folder, endpoint, overlap=6)
            plain, runs = list[Batch](), {overlap: list[Batch]() for overlap in OVERLAPS}
            # They take turns, so that the machine's moods meet all of them.
            for _ in range(ROUNDS):
                plain += plain_spark(spark, folder)
                for overlap in OVERLAPS:
                    runs[overlap] += run(spark, folder, endpoint, overlap=overlap)
        show(runs, plain)
        spark.stop()


def show(runs: dict[int, list[Batch]], plain: list[Batch]) -> None:
    """Print the figures beside those of the plain Spark job."""
    table = Table(
        title=f"medians of {ROUNDS * (BATCHES - WARM)} batches of {TRIPLES:,} triples, "
        f"{KEYS:,} join keys"
    )
    for column in ("ω/β", "evaluations", "triples/s", "s per evaluation",
                   "time : plain Spark", "aim", "not waiting for the service"):  # fmt: skip
        table.add_column(column, justify="right")
    plain_s = median(batch.seconds for batch in plain)
    for (overlap, batches), aim in zip(runs.items(), AIMS, strict=True):
        seconds = median(batch.seconds for batch in batches)
        evaluations = median(batch.evaluations for batch in batches)
        waiting = median(batch.service_s / batch.seconds for batch in batches)
        table.add_row(
            str(overlap),
            f"{evaluations:.0f}",
            f"{TRIPLES / seconds:,.0f}",
            f"{seconds / evaluations:.3f}",
            f"{seconds / plain_s:.1f}",
            str(aim),
            f"{1 - waiting:.1%}",
        )
    table.caption = f"plain Spark (read, filter, write): {TRIPLES / plain_s:,.0f} triples/s"
    Console(width=100).print(table)


def run(spark: SparkSession, folder: Path, endpoint: str, *, overlap: int) -> list[Batch]:
    """The batches of one run of the engine over the whole stream, once it is warm."""
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
    of_batch: dict[int, list[Quality]] = defaultdict(list)
    for each in records:
        if WARM <= each.batch < BATCHES:
            of_batch[each.batch].append(each)
    return [
        Batch(each[0].batch_s, len(each), sum(one.service_s for one in each))
        for each in of_batch.values()
    ]


def plain_spark(spark: SparkSession, folder: Path) -> list[Batch]:
    """A job that reads the same lines, filters them and writes them, file by file.

    It runs with the settings that Spark comes with.
    """
    spark = spark.newSession()
    spark.conf.set("spark.sql.files.openCostInBytes", "4MB")
    batches = []
    for path in sorted(str(each) for each in (folder / "stream").iterdir()):
        started = time.perf_counter()
        wanted = split_lines(spark.read.text(path)).filter(F.col("p") == f"<{EX}isMentionedIn>")
        wanted.write.mode("overwrite").parquet(str(folder / "plain"))
        batches.append(Batch(time.perf_counter() - started))
    return batches[WARM:]


def write_stream(folder: Path) -> None:
    """Files of equal size, one per batch."""
    for batch in range(BATCHES):
        from_ms = batch * BATCH_MS
        write_mentions(folder, batch, from_ms=from_ms, span_ms=BATCH_MS, triples=TRIPLES)


if __name__ == "__main__":
    main()
