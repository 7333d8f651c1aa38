"""The CSV file of change intervals, which the simulator and the engine read alike.

The header says what a plain number is: milliseconds in the column `interval_ms`, seconds in
`interval_s`. A duration such as `30s` or `PT5M` may stand in either, and in the column `interval`,
where a plain number means nothing unless the reader is told its unit.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from bestbefore.errors import InputError
from bestbefore.time import parse_interval_ms
from bestbefore.traces.csv_table import Layout, read_table

KEY, INTERVAL_MS, INTERVAL_S, INTERVAL = "key", "interval_ms", "interval_s", "interval"

_PLAIN_MS = {INTERVAL_MS: 1, INTERVAL_S: 1_000}

Key = tuple[str, ...]


def read_intervals(path: str | Path) -> dict[str, int]:
    """Milliseconds per unit from a CSV file `key,interval_ms`."""
    return {key: interval_ms for (key,), interval_ms in read_key_intervals(path).items()}


def read_key_intervals(
    path: str | Path,
    variables: Sequence[str] = (KEY,),
    *,
    term: Callable[[str], str] = str,
    plain_ms: int | None = None,
) -> dict[Key, int]:
    """Milliseconds per key; a key has a column per variable, or `key` if there is only one.

    `term` reads the text of a value. `plain_ms` is what 1 means in the column `interval`.
    """
    layout = _layout(variables)
    table = read_table(path, layout)
    *columns, column = map(table.one_of, layout.either)
    unit_ms = _PLAIN_MS.get(column, plain_ms)
    keys = [names[code] for code, names in map(table.keys, columns)]
    intervals: dict[Key, int] = {}
    for row, (*values, text) in enumerate(zip(*keys, table.texts(column), strict=True)):
        try:
            key = tuple(map(term, values))
            _note(intervals, key, _interval_ms(text, column, unit_ms))
        except InputError as error:
            raise InputError(f"{table.where(row)}: {error}") from None
    return intervals


def _layout(variables: Sequence[str]) -> Layout:
    """A column per variable of the key, or `key` for a single one, and one of intervals."""
    names = [(KEY, *variables)] if len(variables) == 1 else [(name,) for name in variables]
    keys = tuple(tuple(dict.fromkeys(group)) for group in names)
    intervals = (INTERVAL_MS, INTERVAL_S, INTERVAL)
    return Layout("the file of change intervals", (), either=(*keys, intervals), more=True)


def _note(intervals: dict[Key, int], key: Key, interval_ms: int) -> None:
    """Enter the interval of a key, which may be stated twice but not differently."""
    if (before_ms := intervals.setdefault(key, interval_ms)) != interval_ms:
        raise InputError(
            f"key {', '.join(key)!r} has the interval {interval_ms} ms here and {before_ms} ms "
            "above; keep one of the lines"
        )


def _interval_ms(text: str, column: str, unit_ms: int | None) -> int:
    try:
        return parse_interval_ms(text, plain_ms=unit_ms)
    except InputError as error:
        no_unit = unit_ms is None and text.strip().replace(".", "", 1).isdecimal()
        hint = f", or name the column {INTERVAL_S} or {INTERVAL_MS}" if no_unit else ""
        raise InputError(f"{column} = {error}{hint}") from None
