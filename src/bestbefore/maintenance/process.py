"""One step of the maintenance process: propose, rank, elect, and make room."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from bestbefore.maintenance.allocation import allowance, elect_flexibly
from bestbefore.maintenance.candidates import CandidateSet, Moment, Oracle, Truth
from bestbefore.maintenance.election import elect_highest
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.rankers import NEVER, Elector, Scorer, scores
from bestbefore.maintenance.window_units import Integers, Scores, WindowUnits
from bestbefore.view.units import Units

_FAR = np.finfo(np.float64).max


@dataclass(frozen=True, slots=True)
class Election:
    """The candidate set C, the elected set E ⊆ C and the units that leave for it, as numbers."""

    candidates: Integers
    elected: Integers
    evicted: Integers


@dataclass(frozen=True, slots=True)
class Situation:
    """The moment, the budget γ, and what else an evaluation knows besides view and window.

    `threshold` is that of the query's FILTER, `capacity` the most units that the view may hold,
    `saved` the budget that flexible allocation has left from before, `oracle` the truth
    where it is known.
    """

    moment: Moment
    budget: int
    threshold: float | None = None
    capacity: int | None = None
    saved: int = 0
    oracle: Oracle | None = None


def elect(
    policy: Policy,
    units: Units,
    window: WindowUnits,
    situation: Situation,
    *,
    rng: np.random.Generator,
) -> Election:
    """Elect at most γ units for a refresh now; with FBA, more if it was saved or can be."""
    step = _Step(policy, units, window, situation, rng)
    tiers = step.propose()
    candidates = tiers[0] if len(tiers) == 1 else np.concatenate([window.unit[:0], *tiers])
    if policy.flexible and scores(policy.ranker):
        elected = step.elect_flexibly(policy.ranker)
    else:
        elected = step.elect_from(tiers, situation.budget)
    return step.with_room(candidates, elected)


def describe(
    units: Units, proposed: Integers, window: WindowUnits, situation: Situation
) -> CandidateSet:
    """The columns of the proposed units; one that the window does not need has L = c = 0."""
    place = _places(proposed, window)
    whole = proposed is window.unit
    return CandidateSet(
        unit=proposed,
        refreshed_ms=units.refreshed_ms[proposed],
        best_before_ms=units.best_before_ms[proposed],
        interval_ms=units.interval_ms[proposed],
        remaining=window.remaining if whole else _spread(window.remaining, place),
        mappings=window.mappings if whole else _spread(window.mappings, place),
        held=units.held[proposed],
        place=place,
        window=window,
        distance=_distance(units.value[proposed], situation.threshold),
        truth=_truth(situation.oracle, proposed),
    )


@dataclass(frozen=True, slots=True)
class _Step:
    policy: Policy
    units: Units
    window: WindowUnits
    situation: Situation
    rng: np.random.Generator

    def propose(self) -> tuple[Integers, ...]:
        stale = None
        if self.situation.oracle is not None:
            stale = self.situation.oracle.stale(np.arange(len(self.units)))
        return self.policy.proposer(self.units.held, self.window, stale)

    def elect_from(self, tiers: tuple[Integers, ...], budget: int) -> Integers:
        elected: list[Integers] = [np.empty(0, dtype=np.int64)]
        for tier in tiers:
            left = budget - sum(map(len, elected))
            if left > 0 and len(tier):
                elected.append(self._elect_tier(tier, left))
        return elected[-1] if len(elected) == 2 else np.concatenate(elected)

    def _elect_tier(self, tier: Integers, budget: int) -> Integers:
        candidates = describe(self.units, tier, self.window, self.situation)
        ranker, moment = self.policy.ranker, self.situation.moment
        if scores(ranker):
            found = self._with_missing(candidates, ranker.score(candidates, moment))
            return tier[elect_highest(found, budget=budget, rng=self.rng)]
        elector = cast("Elector", ranker)
        return tier[elector.elect(candidates, moment, budget=budget, rng=self.rng)]

    def _with_missing(self, candidates: CandidateSet, found: Scores) -> Scores:
        """Nothing is known of a missing unit: it gets the score of some cached one."""
        if candidates.held.all():
            return found
        known = found[candidates.held & (found > NEVER)]
        missing = ~candidates.held
        found = found.copy()
        found[missing] = self.rng.choice(known, missing.sum()) if len(known) else 0.0
        return found

    def elect_flexibly(self, ranker: Scorer) -> Integers:
        moment = self.situation.moment
        foreseen = []
        for slides in range(moment.horizon):
            window = self.window.later(slides)
            held = self.units.held[window.unit]
            cached = window.unit if held.all() else window.unit[held]
            foreseen.append(describe(self.units, cached, window, self.situation))
        pool = allowance(self.situation.budget, self.situation.saved, moment, flexible=True)
        chosen = elect_flexibly(ranker, foreseen, moment, pool=pool, rng=self.rng)
        return foreseen[0].unit[chosen]

    def with_room(self, candidates: Integers, elected: Integers) -> Election:
        """Choose who leaves for the missing ones; those without room are not fetched."""
        none = elected[:0]
        capacity = self.situation.capacity
        missing = ~self.units.held[elected]
        if capacity is None or not missing.any():
            return Election(candidates, elected, none)
        excess = int(self.units.held.sum()) + int(missing.sum()) - capacity
        if excess <= 0:
            return Election(candidates, elected, none)
        movable, needed = self.units.held.copy(), np.zeros(len(self.units), dtype=np.bool_)
        movable[elected], needed[self.window.unit] = False, True
        order = self.policy.replacement.order(
            self.units, movable, needed, self.situation.moment.t_ms
        )
        evicted = order[:excess]
        homeless = np.flatnonzero(missing)[::-1][: excess - len(evicted)]
        return Election(candidates, np.delete(elected, homeless), evicted)


def _places(proposed: Integers, window: WindowUnits) -> Integers:
    """Positions in the window's units, which are in ascending order; −1 for others."""
    if proposed is window.unit:
        return np.arange(len(proposed))
    if not len(window):
        return np.full(len(proposed), -1)
    place = np.minimum(np.searchsorted(window.unit, proposed), len(window) - 1)
    return np.where(window.unit[place] == proposed, place, -1)


def _spread(column: Integers, place: Integers) -> Integers:
    if not len(column):
        return np.zeros(len(place), dtype=np.int64)
    return np.where(place >= 0, column[place], 0)


def _truth(oracle: Oracle | None, proposed: Integers) -> Truth | None:
    if oracle is None:
        return None
    return Truth(oracle.stale(proposed), oracle.next_change_ms(proposed))


def _distance(value: Scores, threshold: float | None) -> Scores | None:
    """FD = |x − FT|; what has no number is farthest."""
    if threshold is None:
        return None
    return np.nan_to_num(np.abs(value - threshold), nan=_FAR)
