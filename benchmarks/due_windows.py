"""Time of a batch with many windows due at once, against one with a single window due.

The same files, read with one slide for the whole batch, and with a slide of which the batch holds
many. Once the many windows share the batch's triples among them, and once each of them is as wide
as the batch, so that there are as many times more mappings and answers.
"""

import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.influencers import influencers, sparql_server, write_mentions
from bestbefore.engine import Engine, Quality
from bestbefore.spark.session import local_session

TRIPLES = (2_000, 20_000)
DUE = 140
BATCHES = 6
WARM = 2
ROUNDS = 2
AIM = 2


@dataclass(frozen=True)
class Case:
    """So many windows due in a batch, so wide that each holds so much of a batch."""

    due: int
    share: str
    width_s: int

    @property
    def window(self) -> str:
        """The window of the query; a batch spans as many seconds as windows can be due."""
        return f"RANGE {self.width_s}s STEP {DUE // self.due}s"


CASES = (
    Case(1, "one batch", DUE),
    Case(DUE, f"1/{DUE} batch", 1),
    Case(DUE, "one batch", DUE),
)


@dataclass(frozen=True)
class Batch:
    """What one batch took, and how much of that was waiting for the service."""

    seconds: float
    service_s: float


def main() -> None:
    """Run the benchmark and print its table."""
    table = Table(title="a micro-batch, medians in seconds")
    for column in ("triples", "windows due", "each holds", "batch", "waiting for the service",
                   "ratio", "ratio without waiting"):  # fmt: skip
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as name, sparql_server() as endpoint:
        spark = local_session(log=Path(name) / "spark.log")
        streams = [write_stream(Path(name), triples) for triples in TRIPLES]
        for case in CASES:  # for the JVM
            run(spark, streams[0], endpoint, case)
        for triples, stream in zip(TRIPLES, streams, strict=True):
            # The cases take turns, so that the machine's moods meet all of them.
            runs = [[run(spark, stream, endpoint, case) for case in CASES] for _ in range(ROUNDS)]
            for row in rows([[*chain(*of_case)] for of_case in zip(*runs, strict=True)]):
                table.add_row(f"{triples:,}", *row)
        spark.stop()
    table.caption = (
        f"aim: a ratio without waiting ≤ {AIM} where the windows share the batch's triples; "
        "every evaluation asks the service for its own refreshes"
    )
    Console(width=100).print(table)


def rows(batches: list[list[Batch]]) -> list[tuple[str, ...]]:
    """The cells of the cases, with the ratios to the first of them."""
    found = [medians(each) for each in batches]
    first, _, first_own = found[0]
    return [
        (
            str(case.due),
            case.share,
            f"{whole:.3f}",
            f"{waiting:.3f}",
            f"{whole / first:.1f}",
            f"{own / first_own:.1f}",
        )
        for case, (whole, waiting, own) in zip(CASES, found, strict=True)
    ]


def medians(batches: list[Batch]) -> tuple[float, float, float]:
    """What a batch took, what of that was waiting for the service, and the rest."""
    whole = np.array([each.seconds for each in batches])
    waiting = np.array([each.service_s for each in batches])
    return float(np.median(whole)), float(np.median(waiting)), float(np.median(whole - waiting))


def write_stream(folder: Path, triples: int) -> Path:
    """A folder of files with so many triples each."""
    stream = folder / f"stream-{triples}"
    for number in range(1 + WARM + BATCHES):
        from_ms = number * DUE * 1000
        write_mentions(stream, number, from_ms=from_ms, span_ms=DUE * 1000, triples=triples)
    return stream


def run(spark: SparkSession, stream: Path, endpoint: str, case: Case) -> list[Batch]:
    """The batches of one run once it is warm."""
    home = stream.parent / "run"
    job = influencers(stream, home, endpoint, window=case.window)
    records: list[Quality] = []
    Engine(spark).start(job, on_quality=records.append).wait()
    shutil.rmtree(home)
    of_batch: dict[int, list[Quality]] = defaultdict(list)
    for each in records:
        if each.batch > WARM:
            of_batch[each.batch].append(each)
    if any(len(each) != case.due for each in of_batch.values()):
        raise SystemExit(f"a batch had not exactly {case.due} windows due")
    return [
        Batch(each[0].batch_s, sum(one.service_s for one in each)) for each in of_batch.values()
    ]


if __name__ == "__main__":
    main()
