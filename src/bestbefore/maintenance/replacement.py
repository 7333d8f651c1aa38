"""Replacement: which units leave a view of limited capacity to make room for others."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance.selection import lowest
from bestbefore.registry import Registry
from bestbefore.view.units import Units


class Replacement(Protocol):
    """A policy's parameters with the order in which units leave."""

    def order(
        self, units: Units, movable: Booleans, needed: Booleans, *, t_ms: int, count: int
    ) -> Integers:
        """The units that may leave, the first to go first; no more than the first `count` count.

        `movable` are the held units that are not refreshed now, `needed` those of the window.
        """
        ...


replacements: Registry[type[Replacement]] = Registry("replacement")


@replacements.register("LRU")
@dataclass(frozen=True)
class LeastRecentlyUsed:
    """Units least recently needed by a window first, needed now or not (thesis section 6.3.2)."""

    def order(
        self,
        units: Units,
        movable: Booleans,
        needed: Booleans,  # noqa: ARG002
        *,
        t_ms: int,  # noqa: ARG002
        count: int,
    ) -> Integers:
        """By the last evaluation before this one that needed them."""
        leaving = np.flatnonzero(movable)
        return leaving[lowest(units.used_ms[leaving], count)]


@replacements.register("FRP")
@dataclass(frozen=True)
class FreshnessReplacement:
    """Units that the window does not need: stale ones first, then the fastest-changing.

    The thesis (section 6.3.2) can also be read as slowest-changing first; `slowest_first` does so.
    """

    slowest_first: bool = False

    def order(
        self, units: Units, movable: Booleans, needed: Booleans, *, t_ms: int, count: int
    ) -> Integers:
        """The possibly stale by τ, then the others by change interval; never what is needed."""
        leaving = np.flatnonzero(movable & ~needed)
        best_before = units.best_before_ms[leaving]
        stale, fresh = np.flatnonzero(best_before <= t_ms), np.flatnonzero(best_before > t_ms)
        first = stale[lowest(best_before[stale], count)]
        interval = units.interval_ms[leaving[fresh]]
        then = fresh[lowest(-interval if self.slowest_first else interval, count - len(first))]
        order: Integers = np.concatenate([first, then])
        return leaving[order]
