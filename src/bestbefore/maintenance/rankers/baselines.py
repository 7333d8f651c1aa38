"""What others are measured by: acqua's baselines, what caches do, and the bound."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import Need, only, rankers
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


@rankers.register("BOUND")
@dataclass(frozen=True)
class OfflineSchedule:
    """What a schedule made with all arrivals and the true change rates refreshes now.

    It knows of the changes themselves no more than a policy can: it is what there is to be won.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({Need.FUTURE})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:  # noqa: ARG002
        """The same for all that are scheduled now, of which there are no more than γ."""
        return only(candidates.scheduled, np.zeros(len(candidates)))
