"""ACQUA.F+ and WBM.F*: Borda's aggregation of the Filter list with another (section 4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.errors import PolicyError
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.baselines import LeastRecentlyRefreshed
from bestbefore.maintenance.rankers.filter_distance import distance_of
from bestbefore.maintenance.rankers.ranker import Need, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for, served
from bestbefore.maintenance.window_units import Scores


def positions(scores: Scores) -> Scores:
    """The place of each score in the list that has the best first; equals share their mean place.

    >>> positions(np.array([5.0, 9.0, 5.0, 1.0])).tolist()
    [1.5, 0.0, 1.5, 3.0]
    """
    order = np.argsort(-scores)
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(scores))
    place = np.empty(len(scores))
    place[order] = np.repeat((starts + ends - 1) / 2, ends - starts)
    return place


def aggregate(alpha: float, distance: Scores, others: Scores) -> Scores:
    """Equation 2: α·(place in the Filter list) + (1 − α)·(place in the other), negated."""
    if not len(distance):
        return np.empty(0)
    return -(alpha * positions(-distance) + (1 - alpha) * positions(others))


@rankers.register("LRU.F+")
@dataclass(frozen=True)
class LeastRecentlyRefreshedPlus:
    """The Filter list and the LRU list, aggregated (rank-aggregation section 4.2)."""

    alpha: float = 0.2
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.alpha)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Near the threshold and long not refreshed."""
        ages = LeastRecentlyRefreshed().score(candidates, moment)
        return aggregate(self.alpha, distance_of(candidates), ages)


@rankers.register("WBM.F+")
@dataclass(frozen=True)
class WindowBasedPlus:
    """The Filter list and the WBM list of all candidates, aggregated (rank-aggregation 4.2)."""

    alpha: float = 0.2
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.alpha)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Near the threshold and of use for many evaluations, expired or not."""
        scores = served(candidates, fresh_for(candidates, moment), moment)
        return aggregate(self.alpha, distance_of(candidates), scores)


@rankers.register("WBM.F*")
@dataclass(frozen=True)
class WindowBasedStar:
    """As WBM.F+, for the expired and for the others apart, expired first (section 4.3)."""

    alpha: float = 0.2
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.alpha)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Algorithm 2: the aggregated list of the expired, then that of the others."""
        scores = served(candidates, fresh_for(candidates, moment), moment)
        expired = candidates.expired(moment)
        result = np.empty(len(candidates))
        for part, offset in ((expired, 0.0), (~expired, -2.0 * len(candidates))):
            distance = distance_of(candidates)[part]
            result[part] = offset + aggregate(self.alpha, distance, scores[part])
        return result


def _check(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise PolicyError(f"alpha = {alpha} is no weight; it must lie between 0 and 1")
