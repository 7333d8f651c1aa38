"""The baselines of acqua: at random, and by the last refresh."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import rankers


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
