"""Impact-Based Maintenance: how many answers a refresh makes fresh, now and later."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.cheapest_keys import elect_cheapest
from bestbefore.maintenance.rankers.ranker import Need, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for, fresh_of, only


@rankers.register("IBM-BGP")
@dataclass(frozen=True)
class ImpactBasedMaintenance:
    """The possibly stale units with the most answers while they stay fresh (planning-ahead 5.2)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 15: Σ min(L, B) over pairs of a row and a compatible mapping."""
        expired = np.flatnonzero(candidates.expired(moment))
        fresh = np.zeros(len(candidates), dtype=np.int64)
        fresh[expired] = fresh_of(candidates, expired, moment)
        return only(expired, candidates.results(fresh)[expired], len(candidates))


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
        np.minimum.at(lasting, keys.edge_key, fresh_for(candidates, moment)[keys.edge_place])
        stale = candidates.expired(moment)
        return elect_cheapest(keys, stale, lasting.astype(np.float64), budget=budget, rng=rng)
