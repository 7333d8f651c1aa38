"""The local view R of one SERVICE pattern."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from bestbefore.service import Key, Row
from bestbefore.view.units import Integers, Units, new_units


class LocalView:
    """Cached mappings of a SERVICE pattern, grouped into units by their refresh key.

    Rows are only ever appended: a refresh points its unit at new rows and leaves the old ones in
    place, so row numbers that an evaluation has cut stay valid until `compact` is called.
    """

    def __init__(
        self, key: Sequence[str], keys: Sequence[Key], *, units: Units, rows: pa.Table
    ) -> None:
        self.key, self.variables = tuple(key), tuple(rows.column_names)
        self.keys, self.units = list(keys), units
        self._number = {each: number for number, each in enumerate(self.keys)}
        self._settled = rows
        self._recent: list[Row] = []

    def __len__(self) -> int:
        return len(self.keys)

    def begin(self, t_ms: int) -> None:
        """Take the view as loaded at the first evaluation time: age and τ count from there."""
        self.units.refreshed_ms[:] = t_ms
        self.units.best_before_ms[:] = t_ms

    def numbers(self, keys: Iterable[Key]) -> Integers:
        """The unit number of each key, −1 where the view does not hold it."""
        return np.fromiter((self._number.get(key, -1) for key in keys), np.int64)

    def rows_of(self, unit: int) -> list[Row]:
        """The rows of one unit."""
        return self._take(self.row_numbers(np.array([unit]))[1])

    def row_numbers(self, units: Integers) -> tuple[Integers, Integers]:
        """For the rows of `units`: which of `units` each belongs to, and its row number."""
        counts = self.units.row_count[units]
        owner = np.repeat(np.arange(len(units)), counts)
        first = np.cumsum(counts) - counts
        offset = np.arange(len(owner)) - np.repeat(first, counts)
        return owner, np.repeat(self.units.row_start[units], counts) + offset

    def columns(self, row_numbers: Integers) -> pa.Table:
        """The mappings behind row numbers, one string column per variable."""
        whole = pa.concat_tables([self._settled, _table(self.variables, self._recent)])
        return whole.take(pa.array(row_numbers))

    def replace(self, unit: int, rows: Sequence[Row]) -> bool:
        """Let a unit have these rows from now on; tell whether that changed anything."""
        changed = Counter(self.rows_of(unit)) != Counter(rows)
        if changed:
            self.units.row_start[unit] = len(self._settled) + len(self._recent)
            self.units.row_count[unit] = len(rows)
            self._recent.extend(rows)
        return changed

    def set_intervals(self, interval_ms: Mapping[Key, int]) -> None:
        """Take over the change intervals of some units; keys not in the view are ignored."""
        for key, interval in interval_ms.items():
            if (number := self._number.get(key)) is not None:
                self.units.interval_ms[number] = max(1, interval)

    def compact(self) -> None:
        """Drop rows that no unit points at; row numbers cut before are void afterwards."""
        if len(self._recent) * 4 < len(self._settled):
            return
        _, numbers = self.row_numbers(np.arange(len(self)))
        self._settled, self._recent = self.columns(numbers).combine_chunks(), []
        counts = self.units.row_count
        self.units.row_start = np.cumsum(counts) - counts

    def _take(self, row_numbers: Integers) -> list[Row]:
        settled = len(self._settled)
        return [
            self._recent[number - settled]
            if number >= settled
            else tuple(column[int(number)].as_py() for column in self._settled.columns)
            for number in row_numbers
        ]


def view_of(
    rows: Iterable[Row], variables: Sequence[str], key: Sequence[str], *, interval_ms: int
) -> LocalView:
    """A view of rows as a service gave them, in units by the variables of the refresh key."""
    positions = [variables.index(name) for name in key]
    grouped: dict[Key, list[Row]] = {}
    for row in rows:
        grouped.setdefault(tuple(str(row[each]) for each in positions), []).append(row)
    counts = np.fromiter((len(each) for each in grouped.values()), np.int64, len(grouped))
    units = new_units(np.cumsum(counts) - counts, counts, interval_ms=interval_ms)
    table = _table(variables, [row for each in grouped.values() for row in each])
    return LocalView(key, list(grouped), units=units, rows=table)


def _table(variables: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    columns = [[row[position] for row in rows] for position in range(len(variables))]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=list(variables))
