"""Replacement: which units leave a view of limited capacity to make room for others."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.registry import Registry
from bestbefore.view.units import Units


class Replacement(Protocol):
    """A policy's parameters with the order in which units leave."""

    def order(self, units: Units, movable: Booleans, needed: Booleans, t_ms: int) -> Integers:
        """The units that may leave, the first to go first.

        `movable` are the held units that are not refreshed now, `needed` those of the window.
        """
        ...


replacements: Registry[type[Replacement]] = Registry("replacement")


@replacements.register("LRU")
@dataclass(frozen=True)
class LeastRecentlyUsed:
    """Units least recently needed by a window first, needed now or not (thesis section 6.3.2)."""

    def order(self, units: Units, movable: Booleans, needed: Booleans, t_ms: int) -> Integers:  # noqa: ARG002
        """By the last evaluation before this one that needed them."""
        leaving = np.flatnonzero(movable)
        return leaving[np.argsort(units.used_ms[leaving], kind="stable")]


@replacements.register("FRP")
@dataclass(frozen=True)
class FreshnessReplacement:
    """Units that the window does not need: stale ones first, then the fastest-changing.

    The thesis (section 6.3.2) can also be read as slowest-changing first; `slowest_first` does so.
    """

    slowest_first: bool = False

    def order(self, units: Units, movable: Booleans, needed: Booleans, t_ms: int) -> Integers:
        """The possibly stale by τ, then the others by change interval; never what is needed."""
        leaving = np.flatnonzero(movable & ~needed)
        fresh = units.best_before_ms[leaving] > t_ms
        interval = units.interval_ms[leaving] * (-1 if self.slowest_first else 1)
        return leaving[
            np.lexsort((np.where(fresh, interval, units.best_before_ms[leaving]), fresh))
        ]
