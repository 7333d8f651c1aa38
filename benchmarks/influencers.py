"""The influencer query over generated mentions and a real SPARQL server, as benchmarks run it."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.job import Job, read_job
from tests.oxigraph_server import Oxigraph, find_oxigraph

EX = "http://example.org/"
KEYS = 2_000
START_MS = 1_700_000_000_000


def write_mentions(folder: Path, number: int, *, from_ms: int, span_ms: int, triples: int) -> None:
    """The next file of a stream, in (from, from + span]: popular users are mentioned more often."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(number)  # noqa: S311
    lines = []
    for each in range(triples):
        at = START_MS + from_ms + 1 + each * span_ms // triples
        user = int(KEYS * rng.random() ** 2)
        lines.append(f"{at}\t<{EX}u{user}>\t<{EX}isMentionedIn>\t<{EX}p{number}x{each}>")
    file = folder / f"{number:03d}.tsv"
    file.write_text("\n".join(lines))
    os.utime(file, (1_600_000_000 + number,) * 2)


def split_lines(lines: DataFrame) -> DataFrame:
    """The columns of such files as plain Spark splits them, without a look at what they hold."""
    parts = F.split("value", "\t")
    return lines.select(*(parts[place].alias(name) for place, name in enumerate("tspo")))


def influencers(
    stream: Path,
    home: Path,
    endpoint: str,
    *,
    window: str,
    refreshes: int = 5,
    full_windows_only: bool = True,
) -> Job:
    """The query over a window such as `RANGE 60s STEP 10s`, one file of the stream per batch."""
    query = f"""PREFIX : <{EX}>
    REGISTER RSTREAM :influencers AS SELECT DISTINCT ?user ?followers
    FROM NAMED WINDOW :w ON :mentions [{window}]
    WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }}
            SERVICE :bkg {{ ?user :hasFollowers ?followers }} FILTER(?followers > 100000) }}"""
    return read_job(
        {
            "query": {"text": query, "t0": START_MS, "full_windows_only": full_windows_only},
            "streams": {"mentions": {"path": str(stream), "format": "tsv", "files_per_batch": 1}},
            "services": {"bkg": {"endpoint": endpoint}},
            "budget": {"refreshes": refreshes},
            "view": {"fill": "start"},
        },
        folder=home,
    )


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
