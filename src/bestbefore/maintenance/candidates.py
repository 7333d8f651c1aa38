"""What a policy sees: columns over the candidate set at one moment."""

from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import (
    Booleans,
    Integers,
    Numbers,
    Scores,
    places,
    side_by_side,
)
from bestbefore.errors import PolicyError
from bestbefore.maintenance.window_units import JoinKeys, WindowUnits
from bestbefore.view.change_rates import ChangeRates
from bestbefore.view.units import Units

T = TypeVar("T", bound=np.generic)

_FAR = np.finfo(np.float64).max
_MOST_ALIKE = 200.0


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


class Oracle(Protocol):
    """Someone who knows the remote data: only a simulator can be one."""

    def stale(self, units: Integers) -> Booleans:
        """Which of these units differ from the remote data now."""
        ...

    def next_change_ms(self, units: Integers) -> Integers:
        """When each of these units changes next."""
        ...

    def scheduled(self, units: Integers) -> Booleans:
        """Which of these units a schedule for the whole stream refreshes now."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The candidate set C: columns of equal length that policies must not write to.

    A column is cut from the view when it is asked for, and is the view's own where all units are
    candidates. `unit` numbers are in ascending order. Where the answer of a join key aggregates its
    units, the candidates are `aggregated`. With a threshold, `shown_above` tells on which side of
    it an answer shows values: above, below, or nowhere.
    """

    unit: Integers
    units: Units
    window: WindowUnits
    threshold: float | None = None
    oracle: Oracle | None = None
    aggregated: bool = False
    shown_above: bool | None = None

    def __len__(self) -> int:
        return len(self.unit)

    def some(self, which: Integers | slice) -> "CandidateSet":
        """Some of the candidates, in ascending order."""
        unit = self.unit[which]
        return self if len(unit) == len(self) else replace(self, unit=unit)

    @property
    def refreshed_ms(self) -> Integers:
        """The time of the last refresh."""
        return self.cut(self.units.refreshed_ms)

    @property
    def best_before_ms(self) -> Integers:
        """The best-before time τ."""
        return self.cut(self.units.best_before_ms)

    @property
    def interval_ms(self) -> Integers:
        """The expected change interval I."""
        return self.cut(self.units.interval_ms)

    @property
    def held(self) -> Booleans:
        """Whether the view holds the unit, or knows its key only."""
        return self.cut(self.units.held)

    @property
    def periodic(self) -> Booleans:
        """Whether the unit changes every I, and τ tells when."""
        return self.cut(self.units.periodic)

    @property
    def hints(self) -> Numbers:
        """What is known besides the refreshes of how often the unit changes."""
        return self.units.hints(self.unit)

    @property
    def change_rate(self) -> Scores:
        """The expected changes per millisecond."""
        if self.units.rates is None:
            return np.asarray(1.0 / self.interval_ms, dtype=np.float64)
        return self.units.rates.mean(self.unit, self.hints)

    @property
    def change_rate_at_most(self) -> Scores:
        """What the expected changes per millisecond are not above, at less cost."""
        rates = self.units.rates
        return self.change_rate if rates is None else rates.mean_at_most(self.unit)

    @property
    def rates(self) -> ChangeRates:
        """What was learned of change rates."""
        if self.units.rates is None:
            raise PolicyError("the change rates of these units are known")
        return self.units.rates

    def occupancy(self, moment: Moment) -> Scores:
        """The share of all evaluations that need the unit, as far as was seen.

        Of a unit that was watched for a short time little is known: it is taken to be like the
        others, the more so the more these are alike (empirical Bayes).
        """
        common, weight = _alike(self.units, moment)
        needed = self.cut(self.units.needed) + weight * common
        return np.asarray(needed / (self.units.evaluations + weight))

    @property
    def remaining(self) -> Integers:
        """L of the unit's latest mapping, 0 for a unit that the window does not need."""
        return self._in_window(self.window.remaining)

    @property
    def mappings(self) -> Integers:
        """The pairs of a row and a compatible window mapping, 0 for a unit that has none."""
        return self._in_window(self.window.mappings)

    @property
    def position(self) -> Integers:
        """The position in the window, −1 for a unit that the window does not need."""
        return places(self.unit, self.window.unit)

    @property
    def distance(self) -> Scores:
        """FD = |x − FT|, equation 1 of rank-aggregation; what has no number is farthest."""
        if self.threshold is None:
            raise PolicyError("a Filter ranker was given no FILTER")
        distance = self.cut(self.units.value) - self.threshold
        np.abs(distance, out=distance)
        distance[np.isnan(distance)] = _FAR
        return distance

    @property
    def truth(self) -> tuple[Booleans, Integers]:
        """What only an oracle knows: which candidates are stale, and when each changes next."""
        if self.oracle is None:
            raise PolicyError("a policy that needs an oracle was given none")
        return self.oracle.stale(self.unit), self.oracle.next_change_ms(self.unit)

    @property
    def scheduled(self) -> Booleans:
        """Which candidates someone who knows all arrivals to come would have refreshed now."""
        if self.oracle is None:
            raise PolicyError("a policy that needs a schedule was given none")
        return self.oracle.scheduled(self.unit)

    def cut(self, column: NDArray[T]) -> NDArray[T]:
        """A column of the view's units, of the candidates only."""
        return column[side_by_side(self.unit)]

    def _in_window(self, column: Integers) -> Integers:
        return column if self.unit is self.window.unit else in_window(column, self.position)

    def expired(self, moment: Moment) -> Booleans:
        """Which candidates are possibly stale: τ ≤ t."""
        return self.best_before_ms <= moment.t_ms

    def results(self, fresh: Integers) -> Scores:
        """Per candidate, Σ min(L, B) over its pairs of a row and a mapping, B being `fresh`."""
        if self.unit is self.window.unit:
            return self.window.results(fresh)
        position = self.position
        needed = np.flatnonzero(position >= 0)
        whole = np.zeros(len(self.window), dtype=np.int64)
        whole[position[needed]] = fresh[needed]
        return in_window(self.window.results(whole), position)

    def join_keys(self) -> JoinKeys:
        """The window's join keys with edges to the candidates, as positions among these."""
        window, keys = self.window, self.window.keys
        if self.unit is window.unit:
            return window.join_keys()
        if keys is None:
            position = self.position
            kept = np.flatnonzero(position >= 0)
            edge_key = position if len(kept) == len(position) else position[kept]
            return JoinKeys(window.remaining, window.mappings, edge_key, kept)
        edge_position = places(window.unit, self.unit)[keys.edge_position]
        kept = np.flatnonzero(edge_position >= 0)
        return JoinKeys(keys.remaining, keys.mappings, keys.edge_key[kept], edge_position[kept])


def in_window(column: NDArray[T], position: Integers) -> NDArray[T]:
    """A column of a window's units at some positions, 0 where there is none (−1)."""
    needed = position >= 0
    if needed.all():
        return column[side_by_side(position)]
    found = np.zeros(len(position), column.dtype)
    found[needed] = column[position[needed]]
    return found


def _alike(units: Units, moment: Moment) -> tuple[float, float]:
    """The mean occupancy of units, and for how many evaluations of one unit it counts.

    Presences come in runs of about a window's width, so that as many evaluations tell as one.
    """
    needs, evaluations = units.needs, max(units.evaluations, 1.0)
    if not needs.units:
        return 0.5, moment.horizon
    mean = needs.sum / needs.units / evaluations
    variance = max(0.0, needs.squares / needs.units / evaluations**2 - mean**2)
    by_chance = mean * (1 - mean) / max(evaluations / moment.horizon, 1.0)
    between = variance - by_chance if needs.units > 2 else by_chance
    runs = mean * (1 - mean) / max(between, 1e-9) - 1
    return mean, min(max(runs, 1.0), _MOST_ALIKE) * moment.horizon
