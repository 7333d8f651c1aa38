"""Traces as CSV files: written into a folder, and read, checked, ordered by time, each row once."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import WorkError
from bestbefore.traces.columns import SEPARATOR, BackgroundTrace, Links, StreamTrace, Traces
from bestbefore.traces.csv_table import TIME, Layout, read_table
from bestbefore.traces.intervals import INTERVAL_MS, KEY, read_intervals

Notice = Callable[[str], object]
"""What is called with a line about something that was put right."""

STREAM, BACKGROUND, LINKS, INTERVALS = "stream.csv", "background.csv", "links.csv", "intervals.csv"
TRACE_FILES = (STREAM, BACKGROUND, LINKS, INTERVALS)

_ENDING = "\r\n"
_STREAM = Layout("the stream trace", (TIME, KEY), more=True, timed=True)
_BACKGROUND = Layout("the background trace", (TIME, KEY, "value"), timed=True)
_LINKS = Layout("the file of links", ("join_key", "unit"))


def _silent(line: str) -> None:
    """Take no notice."""


def read_traces(
    stream: str | Path,
    background: str | Path,
    *,
    links: str | Path | None = None,
    intervals: str | Path | None = None,
    notice: Notice = _silent,
) -> Traces:
    """The traces of a run from their files; `notice` hears of what was put right."""
    return Traces(
        stream=read_stream(stream, notice=notice),
        background=read_background(background, notice=notice),
        links=None if links is None else read_links(links, notice=notice),
        interval_ms=None if intervals is None else read_intervals(intervals),
    )


def read_stream(path: str | Path, *, notice: Notice = _silent) -> StreamTrace:
    """The elements of a CSV file `ts_ms,key[,…]`."""
    table = read_table(path, _STREAM)
    ts_ms, (code, names) = table.times(), table.keys("key")
    further = [name for name in table.columns if name not in _STREAM.columns]
    event = table.texts(*further, separator=SEPARATOR) if further else None
    order = _time_order(ts_ms, path, notice=notice)
    return StreamTrace(ts_ms[order], names[code[order]], None if event is None else event[order])


def read_background(path: str | Path, *, notice: Notice = _silent) -> BackgroundTrace:
    """The values of a CSV file `ts_ms,key,value`; of two at one time, the later line counts."""
    table = read_table(path, _BACKGROUND)
    ts_ms, (code, names), value = table.times(), table.keys("key"), table.texts("value")
    order = _time_order(ts_ms, path, notice=notice)
    ts_ms, code, value = ts_ms[order], code[order], value[order]
    last = _last_of_each(code, ts_ms)
    if repeated := len(last) - int(last.sum()):
        notice(
            f"{path}: {_were(repeated, 'dropped')}, because a later line has the same key and time"
        )
    return BackgroundTrace(ts_ms[last], names[code[last]], value[last])


def read_links(path: str | Path, *, notice: Notice = _silent) -> Links:
    """The edges of a CSV file `join_key,unit`, each once."""
    table = read_table(path, _LINKS)
    (join_key, join_keys), (unit, units) = table.keys("join_key"), table.keys("unit")
    _, first = np.unique(join_key * len(units) + unit, return_index=True)
    if repeated := len(join_key) - len(first):
        notice(f"{path}: {_were(repeated, 'dropped')}, because an earlier line has the same link")
    kept = np.sort(first)
    return Links(join_keys[join_key[kept]], units[unit[kept]])


def _time_order(ts_ms: Integers, path: str | Path, *, notice: Notice) -> Integers | slice:
    """The stable order by time; all rows as they are if they have it."""
    late = int((ts_ms < np.maximum.accumulate(ts_ms)).sum())
    if not late:
        return slice(None)
    notice(f"{path}: {_were(late, 'sorted', ' out of order')}")
    return np.argsort(ts_ms, kind="stable")


def _last_of_each(code: Integers, ts_ms: Integers) -> NDArray[np.bool_]:
    """Which rows are the last ones with their key and time."""
    order = np.lexsort((ts_ms, code))
    same = (np.diff(code[order]) == 0) & (np.diff(ts_ms[order]) == 0)
    last = np.ones(len(code), dtype=np.bool_)
    last[order[:-1][same]] = False
    return last


def _were(rows: int, done: str, which: str = "") -> str:
    return f"1 row{which} was {done}" if rows == 1 else f"{rows} rows{which} were {done}"


def write_traces(traces: Traces, folder: str | Path) -> tuple[Path, ...]:
    """Write the traces into a folder, which is made if need be; return the files' paths.

    Files of the same names are overwritten.
    """
    folder = Path(folder)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(
            _write(folder / name, chain([header], rows)) for name, header, rows in _files(traces)
        )


def begin_traces(folder: Path, *, events: bool, links: bool) -> None:
    """Write trace files without a row, for `add_rows`, into a folder."""
    event = ("event",) if events else ()
    headers = {STREAM: (*_STREAM.columns, *event), BACKGROUND: _BACKGROUND.columns}
    with _writing(folder):
        for name, header in (headers | ({LINKS: _LINKS.columns} if links else {})).items():
            _write(folder / name, [header])


def add_rows(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Add rows to a trace file, which holds whole rows before and after."""
    with _writing(path):
        _write(path, rows, mode="a")


def order_traces(folder: Path, *, links: bool) -> Traces:
    """Put the rows of trace files in order of time, each file at once; return what they hold."""
    traces = read_traces(
        folder / STREAM, folder / BACKGROUND, links=folder / LINKS if links else None
    )
    with _writing(folder), TemporaryDirectory(dir=folder) as drafts:
        for draft in write_traces(traces, drafts):
            draft.replace(folder / draft.name)
    return traces


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Say in one line why traces cannot be written."""
    try:
        yield
    except OSError as error:
        file = error.filename or target
        raise WorkError(f"the traces cannot be written to {file}: {error.strerror}") from None


def _files(traces: Traces) -> Iterable[tuple[str, Sequence[str], Iterable[Sequence[Any]]]]:
    stream, background, links = traces.stream, traces.background, traces.links
    events = _event_columns(stream)
    elements = zip(stream.ts_ms.tolist(), stream.key, *events.values(), strict=True)
    yield STREAM, (*_STREAM.columns, *events), elements
    values = zip(background.ts_ms.tolist(), background.key, background.value, strict=True)
    yield BACKGROUND, _BACKGROUND.columns, values
    if links is not None:
        yield LINKS, _LINKS.columns, zip(links.join_key, links.unit, strict=True)
    if traces.interval_ms is not None:
        yield INTERVALS, (KEY, INTERVAL_MS), traces.interval_ms.items()


def _event_columns(stream: StreamTrace) -> dict[str, Sequence[str] | Texts]:
    """The further columns: `event`, or `event_1`, `event_2`, … where every row has as many."""
    if stream.event is None:
        return {}
    parts = [text.split(SEPARATOR) for text in stream.event]
    counts = {len(values) for values in parts}
    if counts == {1} or len(counts) != 1:
        return {"event": stream.event}
    columns = zip(*parts, strict=True)
    return {f"event_{number}": column for number, column in enumerate(columns, start=1)}


def _write(path: Path, rows: Iterable[Sequence[Any]], *, mode: str = "w") -> Path:
    with path.open(mode, newline="", encoding="utf-8") as file:
        csv.writer(_Lines(file), lineterminator=_ENDING).writerows(rows)
    return path


@dataclass(frozen=True, slots=True)
class _Lines:
    """A file that ends its lines as Unix does.

    A writer quotes the characters of its own line ending and no other: told this longer one, it
    also quotes a value with a carriage return.
    """

    file: IO[str]

    def write(self, line: str) -> None:
        self.file.write(line.removesuffix(_ENDING) + "\n")
