"""The join keys of a view's rows, where they are not the keys of its units."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Integers
from bestbefore.rdf.terms import Key, Row
from bestbefore.view.keys import distinct_keys


class RowKeys:
    """The number of the join key of each row, in the order of the rows.

    Numbers are given out as keys are met, in rows or in a window, and hold until `settle`.
    """

    def __init__(self, join_key: Sequence[str], rows: pa.Table) -> None:
        self._names = tuple(join_key)
        self._places = [rows.column_names.index(name) for name in join_key]
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
        keys = [tuple(row[place] or "" for place in self._places) for row in rows]
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
