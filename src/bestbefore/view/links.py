"""The join keys of a view's rows, and the links that rows make between join keys and units."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.arrays import Integers
from bestbefore.rdf.terms import Key, Row


def distinct_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Key], Integers]:
    """The distinct keys of columns of equal length, and for each row which of them it has."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    dictionaries = []
    for column in columns:
        encoded = pc.fill_null(column.combine_chunks(), "").dictionary_encode()
        dictionaries.append(encoded.dictionary.to_pylist())
        codes = codes * max(1, len(dictionaries[-1])) + encoded.indices.to_numpy()
    distinct, inverse = np.unique(codes, return_inverse=True)
    return list(_keys(distinct, dictionaries)), inverse.astype(np.int64)


def _keys(codes: Integers, dictionaries: list[list[str]]) -> Iterator[Key]:
    for code in codes.tolist():
        parts = []
        for values in reversed(dictionaries):
            code, index = divmod(code, max(1, len(values)))  # noqa: PLW2901
            parts.append(values[index])
        yield tuple(reversed(parts))


class RowKeys:
    """The number of the join key of each row, in the order of the rows.

    Numbers are given out as keys are met, in rows or in a window, and hold until `settle`.
    """

    def __init__(self, join_key: Sequence[str], rows: pa.Table) -> None:
        self._names = tuple(join_key)
        self._columns = [rows.column_names.index(name) for name in join_key]
        self.settle(rows)

    def __len__(self) -> int:
        return len(self._number)

    def settle(self, rows: pa.Table) -> None:
        """Begin anew with these rows: keys that none of them has are forgotten."""
        keys, self._settled = distinct_keys([rows[name] for name in self._names])
        self._number = {key: number for number, key in enumerate(keys)}
        self._recent: list[int] = []

    def append(self, rows: Iterable[Row]) -> None:
        """Note the join keys of rows that come after all others."""
        keys = [tuple(row[column] or "" for column in self._columns) for row in rows]
        self.learn(keys)
        self._recent.extend(self._number[key] for key in keys)

    def learn(self, keys: Iterable[Key]) -> bool:
        """Give a number to each key that has none; tell whether there was any."""
        before = len(self)
        for key in keys:
            self._number.setdefault(key, len(self._number))
        return len(self) > before

    def numbers(self, keys: Iterable[Key]) -> Integers:
        """The number of each join key, −1 where it has none."""
        return np.fromiter((self._number.get(key, -1) for key in keys), np.int64)

    def of_rows(self, row_numbers: Integers) -> Integers:
        """The join keys of some rows."""
        return np.concatenate([self._settled, np.array(self._recent, np.int64)])[row_numbers]


@dataclass(frozen=True, slots=True)
class Links:
    """The units of each join key (planning-ahead section 4); an edge is a row of the view.

    The edges of join key k are those from `start[k]` to before `start[k + 1]`; a unit with several
    rows for one join key is there as often.
    """

    start: Integers
    unit: Integers

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
