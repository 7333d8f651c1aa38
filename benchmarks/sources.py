"""Events per second that each format of a stream is taken in with.

The same events, one triple each, are written in every format, read into intake rows and thrown
away; the ratio is to Spark counting the lines of the same files (of Parquet: reading its columns).
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from bestbefore.job.streams import read_streams
from bestbefore.spark.session import local_session, tune

EX = "http://example.org/"
EVENTS = 200_000
FILES = 4
RUNS = 3
HEADER = "ts,user,post"
MAPPING = {
    "subject": f"{EX}{{user}}",
    "triples": [{"predicate": f"{EX}isMentionedIn", "object": {"iri": f"{EX}{{post}}"}}],
}


@dataclass(frozen=True)
class Contender:
    """A format: how an event is written in it, and the stream's section that reads it."""

    name: str
    line: Callable[[int, str, str], str]
    section: dict[str, Any] = field(default_factory=dict)
    header: str = ""


def in_json(document: Callable[[str, str], object], payload: str) -> Contender:
    """JSON lines with a document in them."""
    return Contender(
        f"jsonl, {payload}",
        lambda ts, user, post: json.dumps({"ts": ts, "data": document(user, post)}),
        {"payload": payload},
    )


def triple(user: str, post: str) -> str:
    """One mention in N-Triples."""
    return f"<{EX}{user}> <{EX}isMentionedIn> <{EX}{post}> ."


CONTENDERS = (
    in_json(triple, "ntriples"),
    in_json(lambda user, post: f"{triple(user, post)[:-1]}<{EX}g> .", "nquads"),
    in_json(triple, "turtle"),
    in_json(lambda user, post: f"<{EX}g> {{ {triple(user, post)} }}", "trig"),
    in_json(
        lambda user, post: {"@id": EX + user, f"{EX}isMentionedIn": {"@id": EX + post}}, "json-ld"
    ),
    Contender(
        "tsv",
        lambda ts, user, post: f"{ts}\t<{EX}{user}>\t<{EX}isMentionedIn>\t<{EX}{post}>",
        {"format": "tsv"},
    ),
    Contender("nquads", lambda ts, user, post: f"{ts}\t{triple(user, post)}", {"format": "nquads"}),
    Contender("csv", lambda *row: ",".join(map(str, row)), {"format": "csv", **MAPPING}, HEADER),
    Contender(
        "json",
        lambda *row: json.dumps(dict(zip(HEADER.split(","), row, strict=True))),
        {"format": "json", **MAPPING},
    ),
    Contender("parquet", lambda *_: "", {"format": "parquet", **MAPPING}),
)


def main() -> None:
    """Take in every format and print its rate."""
    table = Table(title=f"{EVENTS:,} events of one triple, {FILES} files, {os.cpu_count()} cores")
    for column in ("format", "MB", "events/s", "plain Spark, events/s", "time : plain Spark"):
        table.add_column(column, justify="left" if column == "format" else "right")
    with tempfile.TemporaryDirectory() as name:
        spark = tune(local_session(log=Path(name) / "spark.log").newSession())
        for each in CONTENDERS:
            table.add_row(*measured(spark, each, Path(name) / each.name.replace(", ", "-")))
        spark.stop()
    Console(width=100).print(table)


def measured(spark: SparkSession, contender: Contender, folder: Path) -> Iterator[str]:
    """The cells of a format's row."""
    folder.mkdir()
    write(contender, folder)
    tables = {"streams": {"s": {"path": str(folder), **contender.section}}}
    (stream,) = read_streams(tables, [f"{EX}s"], base=folder)
    rows = stream.source.present(spark)  # type: ignore[union-attr]
    assert rows.filter("reason IS NULL").count() == EVENTS  # noqa: S101
    if contender.name == "parquet":
        plain = fastest(lambda: consume(spark.read.parquet(str(folder))))
    else:
        plain = fastest(spark.read.text(str(folder)).count)
    seconds = fastest(lambda: consume(rows))
    size = sum(each.stat().st_size for each in folder.iterdir()) / 1e6
    yield from (contender.name, f"{size:.0f}", f"{EVENTS / seconds:,.0f}")
    yield from (f"{EVENTS / plain:,.0f}", f"{seconds / plain:.1f}")


def consume(rows: DataFrame) -> None:
    """Compute all rows and keep none."""
    rows.write.format("noop").mode("overwrite").save()


def fastest(work: Callable[[], object]) -> float:
    """The seconds of the fastest of some runs."""
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def write(contender: Contender, folder: Path) -> None:
    """Write the events in files of equal size."""
    events = [(1_700_000_000_000 + n, f"u{n % 2_000}", f"p{n}") for n in range(EVENTS)]
    for number in range(FILES):
        part = events[number::FILES]
        target = folder / f"{number}.{contender.name.split(',', 1)[0]}"
        if contender.name == "parquet":
            columns = dict(zip(HEADER.split(","), zip(*part, strict=True), strict=True))
            pq.write_table(pa.table({name: list(each) for name, each in columns.items()}), target)
        else:
            lines = [contender.header] if contender.header else []
            lines += [contender.line(*each) for each in part]
            target.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
