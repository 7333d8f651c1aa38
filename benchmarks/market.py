"""Summaries of a store of 375,000 triples and of ten times as many.

How long each takes to be built, how large it is, and how long an estimate takes against running the
query on Spark, both medians over some queries. The store is read before, and stays in memory.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame
from rich.console import Console
from rich.table import Table

from bestbefore.generators import ShopStore
from bestbefore.generators.stores import DATA, STALE, write_store
from bestbefore.market import (
    Shape,
    build_summaries,
    estimate,
    pack_summary,
    read_shape,
    read_store,
    resolve_summaries,
    true_estimate,
)
from bestbefore.spark.session import local_session, session_like, tune

PRODUCTS = (1_000, 10_000)
QUERIES = 9
NAMES = "SPM,APF,CS,histogram-similarity,histogram,QTree,pairs"


def main(products: Sequence[int] = PRODUCTS) -> None:
    """Print a table per size of the store."""
    for number in products:
        with tempfile.TemporaryDirectory() as folder:
            _measure(number, Path(folder), Console())


def _measure(products: int, folder: Path, console: Console) -> None:
    generator = ShopStore(
        products=products, free_queries=QUERIES // 2 + 1, bound_queries=QUERIES // 2
    )
    made = generator.make(0)
    write_store(made, folder)
    shapes = [read_shape(text) for text in made.queries]
    spark = tune(session_like(local_session(log=folder / "spark.log")))
    begun = time.perf_counter()
    paths = (str(folder / name) for name in (DATA, STALE))
    store = read_store(spark, *paths, notice=console.print).persist()
    rows = store.count()
    reading = time.perf_counter() - begun
    running = _typical(shapes, lambda shape: true_estimate(store, shape.pattern))
    title = f"{rows:,} triples, read in {reading:.0f} s; a query runs {running * 1e3:.0f} ms"
    table = Table(
        "summary", "built in s", "bytes", "an estimate in ms", "query / estimate", title=title
    )
    for name, seconds, size, each in _built(store, shapes):
        table.add_row(
            name, f"{seconds:.1f}", f"{size:,}", f"{each * 1e3:.2f}", f"{running / each:,.0f}"
        )
    begun = time.perf_counter()
    build_summaries(store, resolve_summaries(NAMES))
    table.add_row("all at once", f"{time.perf_counter() - begun:.1f}")
    console.print(table)
    spark.catalog.clearCache()


def _built(store: DataFrame, shapes: Sequence[Shape]) -> list[tuple[str, float, int, float]]:
    found = []
    for one in resolve_summaries(NAMES):
        begun = time.perf_counter()
        ((_, summary),) = build_summaries(store, [one]).items()
        seconds = time.perf_counter() - begun
        each = _typical(shapes, lambda shape, own=summary: estimate(own, shape.stars))
        found.append((one.name, seconds, len(pack_summary(summary)), each))
    return found


def _typical(shapes: Sequence[Shape], answer: Callable[[Shape], object]) -> float:
    """The median time of a query, each after a first that warms up."""
    times = []
    for shape in (shapes[0], *shapes):
        begun = time.perf_counter()
        answer(shape)
        times.append(time.perf_counter() - begun)
    return median(times[1:])


if __name__ == "__main__":
    main()
