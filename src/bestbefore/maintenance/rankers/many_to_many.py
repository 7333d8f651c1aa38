"""SBM and IBM: how many answers a refresh makes fresh, now and over the coming evaluations."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.cheapest_keys import elect_cheapest
from bestbefore.maintenance.rankers.ranker import Need, only, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for


@rankers.register("SBM-BGP")
@dataclass(frozen=True)
class SelectivityBasedMaintenance:
    """The possibly stale units with the most answers in this window (planning-ahead eq. 11)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Σ c_i over the unit's join keys."""
        return only(candidates.expired(moment), candidates.mappings)


@rankers.register("SBM-Agg")
@dataclass(frozen=True)
class SelectivityBasedAggregates:
    """All stale units of the join keys that need the fewest (planning-ahead section 5.1)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.AGGREGATE})

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """Join key after join key, ties at random."""
        keys = candidates.join_keys()
        preference = np.zeros_like(keys.remaining)
        stale = candidates.expired(moment)
        return elect_cheapest(keys, stale, preference, budget=budget, rng=rng)


@rankers.register("IBM-BGP")
@dataclass(frozen=True)
class ImpactBasedMaintenance:
    """The possibly stale units with the most answers while they stay fresh (planning-ahead 5.2)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 15: Σ min(L, B) over pairs of a row and a compatible mapping."""
        results = candidates.results(fresh_for(candidates, moment))
        return only(candidates.expired(moment), results)


@rankers.register("IBM-Agg")
@dataclass(frozen=True)
class ImpactBasedAggregates:
    """As SBM-Agg, but of equally cheap join keys the one that stays fresh longest (eq. 17)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.AGGREGATE})

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """Join key after join key, ties by min(latest L, smallest B)."""
        keys = candidates.join_keys()
        lasting = keys.remaining.copy()
        np.minimum.at(lasting, keys.edge_key, fresh_for(candidates, moment)[keys.edge_position])
        stale = candidates.expired(moment)
        return elect_cheapest(keys, stale, lasting, budget=budget, rng=rng)
