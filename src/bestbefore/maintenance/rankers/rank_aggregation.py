"""ACQUA.F+ and WBM.F*: Borda's aggregation of the Filter list with another (section 4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.errors import PolicyError
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.baselines import LeastRecentlyRefreshed
from bestbefore.maintenance.rankers.ranker import Need, elect_highest, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for, served


def positions(scores: Scores) -> Scores:
    """The rank of each score in the list that has the best first; equals share their mean rank.

    >>> positions(np.array([5.0, 9.0, 5.0, 1.0])).tolist()
    [1.5, 0.0, 1.5, 3.0]
    """
    order = np.argsort(-scores)
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(scores))
    rank = np.empty(len(scores))
    rank[order] = np.repeat((starts + ends - 1) / 2, ends - starts)
    return rank


def aggregate(alpha: float, distance: Scores, others: Scores) -> Scores:
    """Equation 2: α·(rank in the Filter list) + (1 − α)·(rank in the other), negated."""
    if not len(distance):
        return np.empty(0)
    return -(alpha * positions(-distance) + (1 - alpha) * positions(others))


def elect_aggregated(
    alpha: float, distance: Scores, others: Scores, *, budget: int, rng: np.random.Generator
) -> Integers:
    """The positions of the `budget` best of the aggregated list, without sorting either list.

    Whoever is not among the best B/α of the Filter list, or the best B/(1 − α) of the other, has
    an aggregated rank of B or worse. So once `budget` of those in both beat B they are the best.
    """
    size = len(distance)
    bound = 2.0 * np.sqrt(alpha * (1 - alpha) * budget * size) + budget
    while 0 < alpha < 1 and budget > 0 and bound < size:
        near, other = _best(-distance, bound / alpha), _best(others, bound / (1 - alpha))
        both = np.intersect1d(near, other, assume_unique=True)
        rank = np.empty(size)
        rank[near] = alpha * positions(-distance[near])
        near_rank = rank[both]
        rank[other] = (1 - alpha) * positions(others[other])
        total = near_rank + rank[both]
        if np.count_nonzero(total < bound) >= budget:
            return both[elect_highest(-total, budget=budget, rng=rng)]
        bound *= 2
    return elect_highest(aggregate(alpha, distance, others), budget=budget, rng=rng)


def _best(scores: Scores, count: float) -> Integers:
    """The positions of at least `count` of the highest scores, with all that equal the last."""
    if count >= len(scores):
        return np.arange(len(scores))
    last = len(scores) - int(np.ceil(count))
    return np.flatnonzero(scores >= np.partition(scores, last)[last])


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
        return aggregate(self.alpha, candidates.distance, ages)

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest scores, without computing them all."""
        ages = LeastRecentlyRefreshed().score(candidates, moment)
        return elect_aggregated(self.alpha, candidates.distance, ages, budget=budget, rng=rng)


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
        return aggregate(self.alpha, candidates.distance, scores)

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest scores, without computing them all."""
        scores = served(candidates, fresh_for(candidates, moment), moment)
        return elect_aggregated(self.alpha, candidates.distance, scores, budget=budget, rng=rng)


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
            distance = candidates.distance[part]
            result[part] = offset + aggregate(self.alpha, distance, scores[part])
        return result

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest scores, without computing them all."""
        scores, distance = (
            served(candidates, fresh_for(candidates, moment), moment),
            candidates.distance,
        )
        expired = candidates.expired(moment)
        elected = [np.empty(0, dtype=np.int64)]
        for part in (np.flatnonzero(expired), np.flatnonzero(~expired)):
            left = budget - sum(map(len, elected))
            chosen = elect_aggregated(
                self.alpha, distance[part], scores[part], budget=left, rng=rng
            )
            elected.append(part[chosen])
        return np.concatenate(elected)


def _check(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise PolicyError(f"alpha = {alpha} is no weight; it must lie between 0 and 1")
