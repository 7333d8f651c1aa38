"""What job A tells the control plane of the stream: per window and join key, counts by L."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bestbefore.maintenance import WindowUnits
from bestbefore.maintenance.candidates import Integers
from bestbefore.service import Key
from bestbefore.spark.columns import MAPPINGS, REMAINING, WINDOW, column_of
from bestbefore.view import LocalView


@dataclass(frozen=True)
class WindowNeeds:
    """What one window needs of the view: its units, and how many mappings found none."""

    units: WindowUnits
    missing: int

    @property
    def completeness(self) -> float | None:
        """The share of the window's mappings whose join key the view holds."""
        held = int(self.units.mappings.sum())
        return held / (held + self.missing) if held + self.missing else None


@dataclass(frozen=True)
class KeyStatistics:
    """Columns over (window, unit), sorted; unit −1 stands for keys that the view lacks."""

    window: Integers
    unit: Integers
    remaining: Integers
    mappings: Integers

    def windows(self) -> Integers:
        """The windows that have any mapping, ascending."""
        return np.unique(self.window)

    def of(self, window: int) -> WindowNeeds:
        """The needs of one window; an empty window needs nothing."""
        low, high = np.searchsorted(self.window, [window, window + 1])
        known = low + int(np.searchsorted(self.unit[low:high], 0))
        units = WindowUnits(
            self.unit[known:high], self.remaining[known:high], self.mappings[known:high]
        )
        return WindowNeeds(units, int(self.mappings[low:known].sum()))


def read_statistics(table: pa.Table, key: Sequence[str], view: LocalView) -> KeyStatistics:
    """The statistics that Spark collected, with join keys turned into unit numbers."""
    unit = _unit_numbers(table, key, view)
    window = table[WINDOW].to_numpy().astype(np.int64)
    order = np.lexsort((unit, window))
    window, unit = window[order], unit[order]
    remaining = table[REMAINING].to_numpy()[order].astype(np.int64)
    mappings = table[MAPPINGS].to_numpy()[order].astype(np.int64)
    if not len(order):
        return KeyStatistics(window, unit, remaining, mappings)
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(window) != 0) | (np.diff(unit) != 0)]))
    return KeyStatistics(
        window=window[starts],
        unit=unit[starts],
        remaining=np.maximum.reduceat(remaining, starts),
        mappings=np.add.reduceat(mappings, starts),
    )


def _unit_numbers(table: pa.Table, key: Sequence[str], view: LocalView) -> Integers:
    """Unit numbers by distinct key: a key that many windows share is looked up once."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    dictionaries = []
    for name in key:
        encoded = table[column_of(name)].combine_chunks().dictionary_encode()
        dictionaries.append(encoded.dictionary.to_pylist())
        codes = codes * max(1, len(dictionaries[-1])) + encoded.indices.to_numpy()
    distinct, inverse = np.unique(codes, return_inverse=True)
    return view.numbers(_keys(distinct, dictionaries))[inverse]


def _keys(codes: Integers, dictionaries: list[list[str]]) -> Iterator[Key]:
    for code in codes.tolist():
        parts = []
        for values in reversed(dictionaries):
            code, place = divmod(code, max(1, len(values)))  # noqa: PLW2901
            parts.append(values[place])
        yield tuple(reversed(parts))
