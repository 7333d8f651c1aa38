"""Expected change intervals of units, from a CSV file."""

from pathlib import Path

from bestbefore.errors import InputError
from bestbefore.time import parse_duration_ms
from bestbefore.traces.table import CsvTable, Layout, read_table

_INTERVALS = Layout("the file of change intervals", ("key", "interval"))


def read_intervals(path: str | Path) -> dict[str, int]:
    """Milliseconds per unit from a CSV file `key,interval`.

    An interval is a number of milliseconds or a duration such as `5m`.
    """
    table = read_table(path, _INTERVALS)
    code, names = table.keys("key")
    intervals: dict[str, int] = {}
    for row, (key, text) in enumerate(zip(names[code], table.texts("interval"), strict=True)):
        interval_ms = _interval_ms(text, table, row)
        if intervals.setdefault(key, interval_ms) != interval_ms:
            raise InputError(
                f"{table.place(row)}: key {key!r} has the interval {text!r} here "
                f"and {intervals[key]} ms above; keep one of the lines"
            )
    return intervals


def _interval_ms(text: str, table: CsvTable, row: int) -> int:
    try:
        interval = _milliseconds(text)
    except InputError:
        raise InputError(
            f"{table.place(row)}: interval = {text!r} is neither a number of milliseconds nor a "
            "duration such as 250ms, 100s or 5m"
        ) from None
    if not 1 <= interval < 2**63:
        raise InputError(f"{table.place(row)}: interval = {text!r}; it must be 1 ms or more")
    return round(interval)


def _milliseconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return parse_duration_ms(text)
