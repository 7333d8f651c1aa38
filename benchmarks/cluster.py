"""Throughput of a standalone cluster on this machine: one one-core worker against two.

The same files, a batch of a million triples each, go through the engine on one and on two
executors, in turn, each on a core of its own. The service is a real SPARQL server. It and the
driver share the cores of the workers, so two of these need more than two cores to be twice as fast.
Every run has executors of its own, and each compiles what it runs on the core that it runs on: the
first batches, which tell how long that takes, are left out.
"""

import os
import statistics
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.influencers import influencers, sparql_server, write_mentions
from bestbefore.engine import Engine, Quality
from bestbefore.spark.session import open_session
from tests.standalone_cluster import ADDRESS, StandaloneCluster

BATCHES, WARM = 10, 4
TRIPLES = 1_000_000
BATCH_MS = 60_000
WINDOW = "RANGE 60s STEP 10s"
RUNS = 3
WORKERS = (1, 2)
SETTINGS = {
    "spark.driver.host": ADDRESS,
    "spark.driver.bindAddress": ADDRESS,
    "spark.executor.memory": "2g",
}


def main() -> None:
    """Run one and two workers in turn, and print what they take."""
    rates: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    with tempfile.TemporaryDirectory() as name, sparql_server() as endpoint:
        folder = Path(name)
        write_stream(folder / "stream")
        with StandaloneCluster(folder, memory="2g", pinned=True) as cluster:
            for number in range(RUNS):
                for workers in WORKERS:
                    home = folder / f"{number}-{workers}"
                    rates[workers].append(run(cluster.master, folder, home, endpoint, workers))
    show(rates)


def run(master: str, folder: Path, home: Path, endpoint: str, workers: int) -> float:
    """The triples per second of one run on so many workers once they are warm."""
    conf = {**SETTINGS, "spark.cores.max": str(workers)}
    spark = open_session(master=master, conf=conf, log=folder / "spark.log")
    records: list[Quality] = []
    try:
        job = influencers(folder / "stream", home, endpoint, window=WINDOW, full_windows_only=False)
        Engine(spark).start(job, on_quality=records.append).wait()
    finally:
        spark.stop()
    seconds = {each.batch: each.batch_s for each in records if each.batch >= WARM}
    return len(seconds) * TRIPLES / sum(seconds.values())


def show(rates: dict[int, list[float]]) -> None:
    """Print the median rates, and how much faster more workers are in the same round."""
    table = Table(
        title=f"warm batches of {TRIPLES:,} triples, {RUNS} rounds, {os.cpu_count()} cores"
    )
    for column in ("one-core workers", "triples/s", "all rounds", "times one worker"):
        table.add_column(column, justify="right")
    for workers, found in rates.items():
        ratios = [rate / one for rate, one in zip(found, rates[WORKERS[0]], strict=True)]
        table.add_row(
            str(workers),
            f"{statistics.median(found):,.0f}",
            " ".join(f"{rate:,.0f}" for rate in found),
            f"{statistics.median(ratios):.2f}",
        )
    Console(width=100).print(table)


def write_stream(folder: Path) -> None:
    """Files of equal size, one per batch."""
    for batch in range(BATCHES):
        from_ms = batch * BATCH_MS
        write_mentions(folder, batch, from_ms=from_ms, span_ms=BATCH_MS, triples=TRIPLES)


if __name__ == "__main__":
    main()
