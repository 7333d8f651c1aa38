"""Traces from CSV files: checked, ordered by time and without duplicates."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers
from bestbefore.traces.columns import (
    SEPARATOR,
    BackgroundTrace,
    Links,
    StreamTrace,
    Traces,
)
from bestbefore.traces.intervals import read_intervals
from bestbefore.traces.table import Layout, read_table

Notice = Callable[[str], object]
"""What is called with a line about something that was put right."""

_STREAM = Layout("the stream trace", ("ts_ms", "key"), more=True)
_BACKGROUND = Layout("the background trace", ("ts_ms", "key", "value"))
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
    if order is None:
        return StreamTrace(ts_ms, names[code], event)
    return StreamTrace(ts_ms[order], names[code[order]], None if event is None else event[order])


def read_background(path: str | Path, *, notice: Notice = _silent) -> BackgroundTrace:
    """The values of a CSV file `ts_ms,key,value`; of two at one time, the later line counts."""
    table = read_table(path, _BACKGROUND)
    ts_ms, (code, names), value = table.times(), table.keys("key"), table.texts("value")
    order = _time_order(ts_ms, path, notice=notice)
    if order is not None:
        ts_ms, code, value = ts_ms[order], code[order], value[order]
    last = _last_of_each(code, ts_ms)
    if repeated := len(last) - int(last.sum()):
        notice(
            f"{path}: {_were(repeated, 'dropped')}, because a later line has the same key and time"
        )
        ts_ms, code, value = ts_ms[last], code[last], value[last]
    return BackgroundTrace(ts_ms, names[code], value)


def read_links(path: str | Path, *, notice: Notice = _silent) -> Links:
    """The edges of a CSV file `join_key,unit`, each once."""
    table = read_table(path, _LINKS)
    (join_key, join_keys), (unit, units) = table.keys("join_key"), table.keys("unit")
    _, first = np.unique(join_key * len(units) + unit, return_index=True)
    if repeated := len(join_key) - len(first):
        notice(f"{path}: {_were(repeated, 'dropped')}, because an earlier line has the same link")
    kept = np.sort(first)
    return Links(join_keys[join_key[kept]], units[unit[kept]])


def _time_order(ts_ms: Integers, path: str | Path, *, notice: Notice) -> Integers | None:
    """The stable order by time; None if the rows have it."""
    late = int((ts_ms < np.maximum.accumulate(ts_ms)).sum())
    if not late:
        return None
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
