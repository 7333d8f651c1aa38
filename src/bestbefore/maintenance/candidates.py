"""What a policy sees: columns over the candidate set at one moment."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bestbefore.maintenance.window_units import Integers, JoinKeys, Scores, WindowUnits

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Moment:
    """The evaluation at time t of a window of width ω and slide β."""

    t_ms: int
    width_ms: int
    slide_ms: int

    @property
    def tumbling(self) -> bool:
        """Whether no unit is needed by more than one evaluation per element."""
        return self.width_ms <= self.slide_ms

    @property
    def horizon(self) -> int:
        """The evaluations, this one included, that the window's present content takes part in."""
        return -(-self.width_ms // self.slide_ms)

    def later(self, slides: int) -> "Moment":
        """The evaluation so many slides later."""
        return Moment(self.t_ms + slides * self.slide_ms, self.width_ms, self.slide_ms)


@dataclass(frozen=True, slots=True)
class Truth:
    """What only an oracle knows: which units are stale now, and when each changes next."""

    stale: Booleans
    next_change_ms: Integers


class Oracle(Protocol):
    """Someone who knows the remote data: only a simulator can be one."""

    def stale(self, units: Integers) -> Booleans:
        """Which of these units differ from the remote data now."""
        ...

    def next_change_ms(self, units: Integers) -> Integers:
        """When each of these units changes next."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The candidate set C as columns of equal length; policies must not write to them.

    `place` is each candidate's position in the window, −1 for one that it does not need.
    `distance` is FD, how far the cached value lies from the FILTER's threshold.
    """

    unit: Integers
    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers
    remaining: Integers
    mappings: Integers
    held: Booleans
    place: Integers
    window: WindowUnits
    distance: Scores | None = None
    truth: Truth | None = None

    def __len__(self) -> int:
        return len(self.unit)

    def expired(self, moment: Moment) -> Booleans:
        """Which candidates are possibly stale: τ ≤ t."""
        return self.best_before_ms <= moment.t_ms

    def results(self, fresh: Integers) -> Scores:
        """Per candidate, Σ min(L, B) over its pairs of a row and a mapping, B being `fresh`."""
        if not len(self.window):
            return np.zeros(len(self))
        needed = self.place >= 0
        whole = np.zeros(len(self.window), dtype=np.int64)
        whole[self.place[needed]] = fresh[needed]
        return np.where(needed, self.window.results(whole)[self.place], 0.0)

    def join_keys(self) -> JoinKeys:
        """The window's join keys with edges to the candidates, as positions among these."""
        keys = self.window.join_keys()
        position = np.full(len(self.window), -1)
        needed = self.place >= 0
        position[self.place[needed]] = np.flatnonzero(needed)
        edge_place = position[keys.edge_place]
        kept = edge_place >= 0
        return JoinKeys(keys.remaining, keys.mappings, keys.edge_key[kept], edge_place[kept])
