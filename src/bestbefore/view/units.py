"""The units of a local view as columns, one entry per unit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(slots=True)
class Units:
    """What is known of each unit; unit numbers are positions in these columns.

    `row_start` and `row_count` point at the unit's rows, `refreshed_ms` is its last refresh,
    `best_before_ms` its τ and `interval_ms` its expected change interval I.
    """

    row_start: Integers
    row_count: Integers
    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers

    def __len__(self) -> int:
        return len(self.row_start)


def new_units(row_start: Integers, row_count: Integers, *, interval_ms: int) -> Units:
    """Units that have not yet taken part in an evaluation."""
    size = len(row_start)
    return Units(
        row_start=row_start,
        row_count=row_count,
        refreshed_ms=np.zeros(size, dtype=np.int64),
        best_before_ms=np.zeros(size, dtype=np.int64),
        interval_ms=np.full(size, interval_ms, dtype=np.int64),
    )
