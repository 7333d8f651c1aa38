"""How many units of a view are fresh, without looking at each of them."""

from heapq import heappop, heappush

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.view.units import Units


class FreshCount:
    """How many units a view holds, and of how many of these the best-before time lies ahead.

    Time only moves on, so that a best-before time counts until it has passed: those of the
    beginning are sorted, those that came or went since are in two heaps.
    """

    def __init__(self, units: Units, t_ms: int) -> None:
        self._units, self.t_ms = units, t_ms
        held = np.flatnonzero(units.held)
        times = units.best_before_ms[held]
        self._held, self._first = len(held), np.sort(times[times > t_ms])
        self._came: list[int] = []
        self._went: list[int] = []
        self._changing: dict[int, int | None] = {}

    @property
    def large(self) -> bool:
        """Whether it is time to begin anew."""
        return len(self._came) + len(self._went) > len(self._units) + 1_000

    def change(self, units: Integers) -> None:
        """Note that units are about to change."""
        for unit in units.tolist():
            self._changing.setdefault(unit, self._time(unit))

    def at(self, t_ms: int) -> tuple[int, int]:
        """How many units are held at a time, and how many of these are fresh."""
        self.settle()
        for times in (self._came, self._went):
            while times and times[0] <= t_ms:
                heappop(times)
        self.t_ms = t_ms
        left = len(self._first) - int(np.searchsorted(self._first, t_ms, side="right"))
        return self._held, left + len(self._came) - len(self._went)

    def settle(self) -> None:
        """Count the units that were about to change as they are now."""
        for unit, before in self._changing.items():
            self._move(before, self._time(unit))
        self._changing.clear()

    def _time(self, unit: int) -> int | None:
        """The best-before time of a unit that is held."""
        return int(self._units.best_before_ms[unit]) if self._units.held[unit] else None

    def _move(self, before: int | None, after: int | None) -> None:
        if before == after:
            return
        if before is not None:
            self._held -= 1
            heappush(self._went, before)
        if after is not None:
            self._held += 1
            heappush(self._came, after)
