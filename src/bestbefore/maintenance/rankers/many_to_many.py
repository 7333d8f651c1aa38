"""SBM and IBM: how many answers a refresh makes fresh, now and over the coming evaluations."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Booleans, Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import Need, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for, fresh_of, only
from bestbefore.maintenance.window_units import JoinKeys


def elect_cheapest(
    keys: JoinKeys, stale: Booleans, preference: Scores, *, budget: int, rng: np.random.Generator
) -> Integers:
    """Complete join key after join key, the one with the fewest stale units left first.

    Among equals the higher `preference` wins, then chance. What the rest of the budget does not
    complete gets it for stale units of that key, at random.
    """
    edge = stale[keys.edge_position]
    edge_key, edge_position = keys.edge_key[edge], keys.edge_position[edge]
    missing = np.bincount(edge_key, minlength=len(keys.remaining))
    order = np.lexsort((rng.random(len(preference)), -preference))
    elected: list[Integers] = []
    waiting = np.ones(len(stale), dtype=np.bool_)
    while budget > 0 and missing.any():
        cost = np.where(missing[order] > 0, missing[order], np.iinfo(np.int64).max)
        key = order[np.argmin(cost)]
        wanted = edge_position[edge_key == key]
        wanted = rng.permutation(wanted[waiting[wanted]])[:budget]
        waiting[wanted] = False
        budget -= len(wanted)
        elected.append(wanted)
        missing -= np.bincount(edge_key[np.isin(edge_position, wanted)], minlength=len(missing))
    return np.concatenate([np.empty(0, dtype=np.int64), *elected])


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
        np.minimum.at(lasting, keys.edge_key, fresh_for(candidates, moment)[keys.edge_position])
        stale = candidates.expired(moment)
        return elect_cheapest(keys, stale, lasting.astype(np.float64), budget=budget, rng=rng)
