"""Throughput and time per evaluation against the overlap ω/β of the window.

The same files go through the engine and through a plain Spark job that reads, filters and writes
them; a ratio of 3 means three times the time of that job. The service is a real SPARQL server.
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console
from rich.table import Table

from bestbefore.engine import Engine, Quality
from bestbefore.job import read_job
from bestbefore.spark.session import local_session
from tests.oxigraph_server import Oxigraph, find_oxigraph

EX = "http://example.org/"
KEYS = 2_000
BATCHES = 6
TRIPLES = 100_000
BATCH_MS = 60_000
OVERLAPS = (1, 6, 30)
SLIDE_S = 10


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
    Engine(spark).start(job(folder, home, endpoint, overlap), on_quality=records.append).wait()
    measured = [each for each in records if each.batch > 0]
    batches = {each.batch: each.batch_s for each in measured}
    return Figures(
        overlap=overlap,
        evaluations=len(measured),
        seconds=sum(batches.values()),
        service_s=sum(each.service_s for each in measured),
    )


def job(folder: Path, home: Path, endpoint: str, overlap: int):  # noqa: ANN201
    """The influencer query with a window of the given overlap."""
    query = f"""PREFIX : <{EX}>
    REGISTER RSTREAM :influencers AS SELECT DISTINCT ?user ?followers
    FROM NAMED WINDOW :w ON :mentions [RANGE {overlap * SLIDE_S}s STEP {SLIDE_S}s]
    WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }}
            SERVICE :bkg {{ ?user :hasFollowers ?followers }} FILTER(?followers > 100000) }}"""
    stream = {"path": str(folder / "stream"), "format": "tsv", "files_per_batch": 1}
    return read_job(
        {
            "query": {"text": query},
            "streams": {"mentions": stream},
            "services": {"bkg": {"endpoint": endpoint}},
            "budget": {"refreshes": 50},
        },
        folder=home,
    )


def plain_spark(spark: SparkSession, folder: Path) -> float:
    """The seconds of a job that reads the same lines, filters them and writes them."""
    paths = sorted(str(each) for each in (folder / "stream").iterdir())[1:]
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        for path in paths:
            parts = F.split("value", "\t")
            rows = spark.read.text(path).select(*(parts[i].alias(n) for i, n in enumerate("tspo")))
            wanted = rows.filter(F.col("p") == f"<{EX}isMentionedIn>")
            wanted.write.mode("overwrite").parquet(str(folder / "plain"))
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def write_stream(folder: Path) -> None:
    """Files of tab-separated triples: mentions of users, the popular ones more often."""
    folder.mkdir()
    rng = random.Random(1)  # noqa: S311
    for batch in range(BATCHES):
        lines = []
        for each in range(TRIPLES):
            at = 1_700_000_000_000 + batch * BATCH_MS + each * BATCH_MS // TRIPLES
            user = int(KEYS * rng.random() ** 2)
            lines.append(f"{at}\t<{EX}u{user}>\t<{EX}isMentionedIn>\t<{EX}p{batch}x{each}>")
        file = folder / f"{batch:03d}.tsv"
        file.write_text("\n".join(lines))
        os.utime(file, (1_600_000_000 + batch,) * 2)


@contextmanager
def sparql_server() -> Iterator[str]:
    """A real SPARQL server with the followers of every user; the address of its endpoint."""
    server = Oxigraph(find_oxigraph())
    try:
        triples = " ".join(f"<{EX}u{n}> <{EX}hasFollowers> {n * 100} ." for n in range(KEYS))
        server.update(f"INSERT DATA {{ {triples} }}")
        yield f"{server.base}/query"
    finally:
        server.close()


if __name__ == "__main__":
    main()
