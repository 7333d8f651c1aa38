"""The units of a local view as columns, one entry per unit."""

from dataclasses import dataclass, fields

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, grown, moved_up

NEVER_RETRY = 2**62
"""The `retry_at` of a unit that can never be asked for."""


@dataclass(slots=True)
class Units:
    """What is known of each unit; unit numbers are positions in these columns.

    `row_start` and `row_count` point at the unit's rows, `refreshed_ms` is its last refresh,
    `best_before_ms` its τ and `interval_ms` its expected change interval I. `used_ms` is the last
    evaluation that needed it, `value` the number that a FILTER compares (NaN where there is none).
    A unit that is not `held` is known by its key, but the view has no rows of it. `failures` counts
    the requests for it that failed in a row; it is no candidate before the evaluation `retry_at`.
    """

    row_start: Integers
    row_count: Integers
    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers
    used_ms: Integers
    value: Numbers
    held: Booleans
    failures: Integers
    retry_at: Integers

    def __len__(self) -> int:
        return len(self.row_start)

    def fresh(self, units: Integers, t_ms: int) -> Booleans:
        """Which of some units are held and expected to be fresh: τ > t."""
        return self.held[units] & (self.best_before_ms[units] > t_ms)

    def extend(self, count: int, *, interval_ms: int) -> None:
        """Add `count` units that the view does not hold."""
        first = len(self)
        for column in fields(self):
            setattr(self, column.name, grown(getattr(self, column.name), count))
        self.interval_ms[first:] = interval_ms
        self.value[first:] = np.nan

    def move_up(self, kept: Integers, first: int) -> None:
        """Drop the units from `first` on, but for some that move up in their order."""
        for column in fields(self):
            setattr(self, column.name, moved_up(getattr(self, column.name), kept, first))


def new_units(row_start: Integers, row_count: Integers, interval_ms: int) -> Units:
    """Held units that have not yet taken part in an evaluation."""
    size = len(row_start)
    return Units(
        row_start=row_start,
        row_count=row_count,
        refreshed_ms=np.zeros(size, dtype=np.int64),
        best_before_ms=np.zeros(size, dtype=np.int64),
        interval_ms=np.full(size, interval_ms, dtype=np.int64),
        used_ms=np.zeros(size, dtype=np.int64),
        value=np.full(size, np.nan),
        held=np.ones(size, dtype=np.bool_),
        failures=np.zeros(size, dtype=np.int64),
        retry_at=np.zeros(size, dtype=np.int64),
    )
