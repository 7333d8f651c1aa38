"""The join keys of a view's rows, and the links that rows make between join keys and units."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.arrays import Integers
from bestbefore.rdf.terms import Key, Row
from bestbefore.view.key_index import KeyIndex
from bestbefore.view.units import Units


def distinct_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Key], Integers]:
    """The distinct keys of columns of equal length, and for each row which of them it has."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    dictionaries = []
    for column in columns:
        encoded = pc.fill_null(column.combine_chunks(), "").dictionary_encode()
        dictionaries.append(encoded.dictionary)
        codes = codes * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
    if len(columns) == 1:
        return list(zip(dictionaries[0].to_pylist(), strict=True)), codes
    distinct, row_key = np.unique(codes, return_inverse=True)
    parts = []
    for dictionary in reversed(dictionaries):
        distinct, index = np.divmod(distinct, max(1, len(dictionary)))
        parts.append(dictionary.take(pa.array(index)).to_pylist())
    return list(zip(*reversed(parts), strict=True)), row_key.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Links:
    """The units of each join key (planning-ahead section 4); an edge is a row of the view.

    The edges of join key k are those from `start[k]` to before `start[k + 1]`; a unit with several
    rows for one join key is there as often.
    """

    start: Integers
    unit: Integers

    def __len__(self) -> int:
        return len(self.start) - 1

    def units(self, keys: Integers) -> tuple[Integers, Integers]:
        """The units of some join keys, by edge: which of `keys` each belongs to, and its number."""
        owner, edge = self.edges(keys)
        return owner, self.unit[edge]

    def edges(self, keys: Integers) -> tuple[Integers, Integers]:
        """The edges of some join keys: which of `keys` each belongs to, and its number."""
        counts = self.start[keys + 1] - self.start[keys]
        owner = np.repeat(np.arange(len(keys)), counts)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, np.repeat(self.start[keys], counts) + offset


def link(join_key: Integers, unit: Integers, *, keys: int) -> tuple[Links, Integers]:
    """Links from the join key and the unit of each row, and the row behind each edge."""
    order = np.argsort(join_key, kind="stable")
    start = np.searchsorted(join_key[order], np.arange(keys + 1)).astype(np.int64)
    return Links(start, unit[order]), order


class RowLinks:
    """The links that the rows of a view make between join keys and units, as the rows are now.

    Join keys have numbers, given out as they are met, in rows or in a window; they hold until
    `settle`. A row counts as long as its unit points at it.
    """

    def __init__(self, join_key: Sequence[str], variables: Sequence[str], units: Units) -> None:
        self._names, self._units = tuple(join_key), units
        self._columns = [variables.index(name) for name in join_key]

    def __len__(self) -> int:
        return len(self._number)

    def settle(self, table: pa.Table, unit: Integers, row: Integers) -> None:
        """Begin anew with the rows of units, in their order: keys that none has are forgotten."""
        keys, row_key = distinct_keys([table[name] for name in self._names])
        self._number = KeyIndex(keys)
        self._settled, order = link(row_key[row], unit, keys=len(keys))
        self._row = row[order]
        self._recent: dict[int, list[tuple[int, int]]] = {}

    def append(self, units: Sequence[int], content: Sequence[Sequence[Row]], row: int) -> None:
        """Note the rows that units have from now on, numbered one after the other from `row`."""
        owners = [unit for unit, rows in zip(units, content, strict=True) for _ in rows]
        cells = chain.from_iterable(content)
        keys = [tuple(each[column] or "" for column in self._columns) for each in cells]
        self.learn(keys)
        new: dict[int, list[tuple[int, int]]] = {}
        for number, (key, unit) in enumerate(zip(self.numbers(keys).tolist(), owners, strict=True)):
            new.setdefault(key, []).append((unit, row + number))
        for key, links in new.items():
            again = {unit for unit, _ in links}
            before = [link for link in self._recent.get(key, ()) if link[0] not in again]
            self._recent[key] = before + links

    def learn(self, keys: Sequence[Key]) -> None:
        """Give a number to each key that has none."""
        unknown = np.flatnonzero(self.numbers(keys) < 0)
        self._number.append(dict.fromkeys(keys[place] for place in unknown.tolist()))

    def numbers(self, keys: Sequence[Key]) -> Integers:
        """The number of each join key, −1 where it has none."""
        return self._number.find(keys)

    def units(self, keys: Integers) -> tuple[Integers, Integers]:
        """The units of some join keys, by row: which of `keys` each belongs to, and its number."""
        owner, unit, _ = self.rows(keys)
        return owner, unit

    def rows(self, keys: Integers) -> tuple[Integers, Integers, Integers]:
        """The rows of some join keys: which of `keys` each belongs to, its unit and its number.

        Those of a key are in ascending order of units.
        """
        settled = np.flatnonzero(keys < len(self._settled))
        owner, edge = self._settled.edges(keys[settled])
        parts = [np.stack([settled[owner], self._settled.unit[edge], self._row[edge]])]
        recent = [
            (place, unit, row)
            for place, key in enumerate(keys.tolist() if self._recent else ())
            for unit, row in self._recent.get(key, ())
        ]
        if recent:
            parts.append(np.array(recent, dtype=np.int64).T)
        owner, unit, row = np.concatenate(parts, axis=1)
        start = self._units.row_start[unit]
        live = np.flatnonzero((row >= start) & (row < start + self._units.row_count[unit]))
        owner, unit, row = owner[live], unit[live], row[live]
        order = np.lexsort((row, unit, owner)) if recent else slice(None)
        return owner[order], unit[order], row[order]
