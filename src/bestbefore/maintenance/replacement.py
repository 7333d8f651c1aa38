"""Replacement: which units leave a view of limited capacity to make room for others."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.selection import lowest
from bestbefore.maintenance.window_units import NO_UNITS
from bestbefore.registry import Registry
from bestbefore.view.units import Units


class Replacement(Protocol):
    """A policy's parameters with the order in which units leave."""

    def order(
        self, units: Units, movable: Booleans, needed: Booleans, *, moment: Moment, count: int
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
        moment: Moment,  # noqa: ARG002
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
        self, units: Units, movable: Booleans, needed: Booleans, *, moment: Moment, count: int
    ) -> Integers:
        """The possibly stale by τ, then the others by change interval; never what is needed."""
        leaving = np.flatnonzero(movable & ~needed)
        best_before = units.best_before_ms[leaving]
        stale, fresh = (
            np.flatnonzero(best_before <= moment.t_ms),
            np.flatnonzero(best_before > moment.t_ms),
        )
        first = stale[lowest(best_before[stale], count)]
        interval = units.interval_ms[leaving[fresh]]
        then = fresh[lowest(-interval if self.slowest_first else interval, count - len(first))]
        order: Integers = np.concatenate([first, then])
        return leaving[order]


@replacements.register("EFG")
@dataclass(frozen=True)
class LeastExpectedUse:
    """Units first that are least likely to spare a refresh, if they stay.

    That is the probability that a unit is fresh, and needed now or again while it is.
    """

    def order(
        self, units: Units, movable: Booleans, needed: Booleans, *, moment: Moment, count: int
    ) -> Integers:
        """By expected use, whether needed now or not."""
        leaving = np.flatnonzero(movable)
        candidates = CandidateSet(leaving, units, NO_UNITS)
        # It stays until it changes, or until as many came as the view holds.
        turnover = len(leaving) / max(count, 1)
        lasting = np.minimum(1.0 / (candidates.change_rate * moment.slide_ms), turnover)
        again = -np.expm1(-candidates.occupancy(moment) * lasting)
        use = np.where(needed[leaving], moment.horizon + again, again)
        return leaving[lowest(units.fresh_probability(leaving, moment.t_ms) * use, count)]
