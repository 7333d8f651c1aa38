"""ACQUA.F+ and WBM.F*: Borda's aggregation of the Filter list with another (section 4)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Booleans, Integers, Scores
from bestbefore.errors import PolicyError
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.baselines import LeastRecentlyRefreshed
from bestbefore.maintenance.rankers.ranker import Need, elect_highest, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for, served
from bestbefore.maintenance.selection import likely_rank, nth_highest

_MANY = 1_000


def ranks(ordered: Scores, scores: Scores) -> Scores:
    """The rank of each score in a list sorted with its best last; equals share their mean rank."""
    worse, better = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return np.asarray(len(ordered) - (worse + better + 1) / 2)


def positions(scores: Scores) -> Scores:
    """The rank of each score in the list that has the best first; equals share their mean rank.

    >>> positions(np.array([5.0, 9.0, 5.0, 1.0])).tolist()
    [1.5, 0.0, 1.5, 3.0]
    """
    order = np.argsort(scores)
    rank = np.empty(len(scores))
    rank[order] = ranks(scores[order], scores[order])
    return rank


def aggregate(alpha: float, distance: Scores, others: Scores) -> Scores:
    """Equation 2: α·(rank in the Filter list) + (1 − α)·(rank in the other), negated."""
    return -(alpha * positions(-distance) + (1 - alpha) * positions(others))


@dataclass(frozen=True, slots=True)
class _Head:
    """The first of a list that counts with a weight: their positions, and their scores sorted."""

    weight: float
    chosen: Integers
    ordered: Scores

    def rank(self, scores: Scores) -> Scores:
        """The weighted rank of some of its scores."""
        return self.weight * ranks(self.ordered, scores)

    @property
    def first(self) -> float:
        """The weighted rank of the best."""
        return float(self.rank(self.ordered[-1:])[0])

    @property
    def end(self) -> float:
        """The best weighted rank that anyone outside can have."""
        return self.weight * len(self.chosen)


def _head(weight: float, scores: Scores, rank: float) -> _Head:
    """The head of a list with about all whose weighted rank is better than this."""
    sample = scores[:: _stride(len(scores))]
    n = int(rank / weight * len(sample) / len(scores)) + 1
    bar = nth_highest(sample, n) if n < len(sample) else -np.inf
    chosen = np.flatnonzero(scores >= bar)
    return _Head(weight, chosen, np.sort(scores[chosen]))


def elect_aggregated(
    alpha: float, distance: Scores, others: Scores, *, budget: int, rng: np.random.Generator
) -> Integers:
    """The positions of the `budget` best of the aggregated list, without sorting either list.

    Whoever is not in the head of a list ranks no better there than its end, and in the other list
    no better than the first. So once more than `budget` of those in both heads beat that, the best
    of all are among them. A sample tells how long heads should be.
    """
    size, nearness = len(distance), -distance
    if alpha in (0, 1):
        return elect_highest(nearness if alpha else others, budget=budget, rng=rng)
    bar, near_first, other_first = _likely_bar(alpha, nearness, others, budget)
    while bar < size:
        near = _head(alpha, nearness, bar - other_first)
        other = _head(1 - alpha, others, bar - near_first)
        both = np.flatnonzero(_marks(near.chosen, size) & _marks(other.chosen, size))
        rank = near.rank(nearness[both]) + other.rank(others[both])
        if np.count_nonzero(rank < min(near.end + other.first, other.end + near.first)) > budget:
            return both[elect_highest(-rank, budget=budget, rng=rng)]
        bar *= 2
    return elect_highest(aggregate(alpha, distance, others), budget=budget, rng=rng)


def _likely_bar(
    alpha: float, nearness: Scores, others: Scores, budget: int
) -> tuple[float, float, float]:
    """What a sample tells: an aggregated rank that somewhat more than `budget` should beat, and the
    weighted rank of each list's first. Where all have to be sorted anyway the first is infinite.
    """
    size, stride = len(nearness), _stride(len(nearness))
    likely = likely_rank(budget, stride)
    if size < _MANY or budget <= 0 or likely * stride > size:
        return np.inf, 0.0, 0.0
    near = stride * alpha * positions(nearness[::stride])
    other = stride * (1 - alpha) * positions(others[::stride])
    return -nth_highest(-near - other, likely), float(near.min()), float(other.min())


def _stride(size: int) -> int:
    """Of how many one is sampled: the more there are the rarer, but of a million ten thousand."""
    return max(1, round(math.cbrt(size)))


def _marks(positions: Integers, size: int) -> Booleans:
    marks = np.zeros(size, dtype=np.bool_)
    marks[positions] = True
    return marks


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
        scores = _served(candidates, moment)
        return aggregate(self.alpha, candidates.distance, scores)

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest scores, without computing them all."""
        scores = _served(candidates, moment)
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
        scores = _served(candidates, moment)
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
        scores = _served(candidates, moment)
        expired, distance = candidates.expired(moment), candidates.distance
        elected = [np.empty(0, dtype=np.int64)]
        for part in (expired.nonzero()[0], (~expired).nonzero()[0]):
            left = budget - sum(map(len, elected))
            if left > 0:
                chosen = elect_aggregated(
                    self.alpha, distance[part], scores[part], budget=left, rng=rng
                )
                elected.append(part[chosen])
        return np.concatenate(elected)


def _served(candidates: CandidateSet, moment: Moment) -> Scores:
    """The WBM list, of the expired and the others."""
    return served(candidates, fresh_for(candidates, moment), moment).astype(np.float64)


def _check(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise PolicyError(f"alpha = {alpha} is no weight; it must lie between 0 and 1")
