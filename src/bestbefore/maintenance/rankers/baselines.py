"""Baselines: acqua's, at random and by the last refresh, and what caches do."""

from dataclasses import dataclass, field

import numpy as np

from bestbefore.arrays import Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import only, rankers
from bestbefore.time import Milliseconds


@rankers.register("RND")
@dataclass(frozen=True)
class RandomRanker:
    """Candidates at random (acqua section 5.1)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:  # noqa: ARG002
        """The same for all, so that the ties decide."""
        return np.zeros(len(candidates))


@rankers.register("LRU")
@dataclass(frozen=True)
class LeastRecentlyRefreshed:
    """The candidates whose last refresh is longest ago (acqua section 5.1)."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The age of the last refresh."""
        return (moment.t_ms - candidates.refreshed_ms).astype(np.float64)


@rankers.register("TTL")
@dataclass(frozen=True)
class TimeToLive:
    """The candidates whose last refresh is at least `ttl` ago, the oldest first, as caches do.

    What is younger is never refreshed, so budget may stay unspent; that it is needed, or how often,
    postpones nothing.
    """

    ttl: Milliseconds = field(metadata={"example": "10m"})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The age of the last refresh, if it is as long as the time to live."""
        age = LeastRecentlyRefreshed().score(candidates, moment)
        return only(age >= self.ttl, age)
