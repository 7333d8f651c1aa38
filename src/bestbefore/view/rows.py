"""The rows of a local view."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Integers
from bestbefore.rdf.terms import Row


class Rows:
    """Mappings that are only ever appended, so that their numbers hold until `keep` is called.

    Most lie in an Arrow table, the latest in a list.
    """

    def __init__(self, table: pa.Table) -> None:
        self.variables = tuple(table.column_names)
        self._settle(table)

    def __len__(self) -> int:
        return len(self._settled) + len(self._recent)

    @property
    def unsettled(self) -> bool:
        """Whether so many are recent that keeping some anew costs no more than appending did."""
        return len(self._recent) * 4 >= len(self._settled)

    def append(self, rows: Sequence[Row]) -> int:
        """Add rows; return the number of the first."""
        self._recent.extend(rows)
        return len(self) - len(rows)

    def keep(self, numbers: Integers) -> pa.Table:
        """Begin anew with these rows, numbered in this order; return them."""
        self._settle(self.table(numbers))
        return self._settled

    def _settle(self, table: pa.Table) -> None:
        self._settled = table.combine_chunks()
        self._columns = [column.combine_chunks() for column in self._settled.columns]
        self._recent: list[Row] = []

    def tuples(self, numbers: Integers) -> list[Row]:
        """Some rows, one by one."""
        settled = len(self._settled)
        return [
            self._recent[number - settled]
            if number >= settled
            else tuple([column[number].as_py() for column in self._columns])
            for number in numbers.tolist()
        ]

    def table(self, numbers: Integers) -> pa.Table:
        """Some rows, one string column per variable."""
        settled = numbers < len(self._settled)
        if settled.all():
            return self._settled.take(pa.array(numbers))
        older, newer = np.flatnonzero(settled), np.flatnonzero(~settled)
        found = pa.concat_tables(
            [
                self._settled.take(pa.array(numbers[older])),
                table_of(self.variables, self.tuples(numbers[newer])),
            ]
        )
        place = np.empty_like(numbers)
        place[older], place[newer] = np.split(np.arange(len(numbers)), [len(older)])
        return found.combine_chunks().take(pa.array(place))


def table_of(variables: Sequence[str], rows: Iterable[Row]) -> pa.Table:
    """Rows in columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(variables)
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=list(variables))
