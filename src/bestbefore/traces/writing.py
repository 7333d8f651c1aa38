"""Traces as CSV files in a folder."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bestbefore.arrays import Texts
from bestbefore.errors import WorkError
from bestbefore.traces.columns import SEPARATOR, StreamTrace, Traces

STREAM, BACKGROUND, LINKS, INTERVALS = (
    "stream.csv",
    "background.csv",
    "links.csv",
    "intervals.csv",
)
TRACE_FILES = (STREAM, BACKGROUND, LINKS, INTERVALS)


def write_traces(traces: Traces, folder: str | Path) -> tuple[Path, ...]:
    """Write the traces into a folder, which is made if need be; return the files' paths.

    Files of the same names are overwritten.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_write(folder / name, header, rows) for name, header, rows in _files(traces))
    except OSError as error:
        place = error.filename or folder
        raise WorkError(f"the traces cannot be written to {place}: {error.strerror}") from None


def _files(traces: Traces) -> Iterable[tuple[str, Sequence[str], Iterable[Sequence[Any]]]]:
    stream, background, links = traces.stream, traces.background, traces.links
    events = _event_columns(stream)
    yield (
        STREAM,
        ("ts_ms", "key", *events),
        zip(stream.ts_ms.tolist(), stream.key, *events.values(), strict=True),
    )
    yield (
        BACKGROUND,
        ("ts_ms", "key", "value"),
        zip(background.ts_ms.tolist(), background.key, background.value, strict=True),
    )
    if links is not None:
        yield LINKS, ("join_key", "unit"), zip(links.join_key, links.unit, strict=True)
    if traces.interval_ms is not None:
        yield INTERVALS, ("key", "interval"), traces.interval_ms.items()


def _event_columns(stream: StreamTrace) -> dict[str, Sequence[str] | Texts]:
    """The further columns: `event`, or `event_1`, `event_2`, … where every row has as many."""
    if stream.event is None:
        return {}
    parts = [text.split(SEPARATOR) for text in stream.event]
    counts = {len(each) for each in parts}
    if counts == {1} or len(counts) != 1:
        return {"event": stream.event}
    columns = zip(*parts, strict=True)
    return {f"event_{number}": each for number, each in enumerate(columns, start=1)}


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path
