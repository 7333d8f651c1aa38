"""Selectivity-Based Maintenance: how many answers a refresh makes fresh now."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.cheapest_keys import elect_cheapest
from bestbefore.maintenance.rankers.ranker import Need, rankers
from bestbefore.maintenance.rankers.window_based import only


@rankers.register("SBM-BGP")
@dataclass(frozen=True)
class SelectivityBasedMaintenance:
    """The possibly stale units with the most answers in this window (planning-ahead eq. 11)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Σ c_i over the unit's join keys."""
        expired = np.flatnonzero(candidates.expired(moment))
        return only(expired, candidates.mappings[expired], len(candidates))


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
        preference = np.zeros(len(keys.remaining))
        stale = candidates.expired(moment)
        return elect_cheapest(keys, stale, preference, budget=budget, rng=rng)
