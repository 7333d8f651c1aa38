"""What a ranker is, where rankers are registered, and how the highest scores are elected."""

from enum import StrEnum
from typing import Protocol, TypeGuard

import numpy as np

from bestbefore.arrays import Booleans, Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.selection import nth_highest
from bestbefore.registry import Registry

__all__ = [
    "NEVER",
    "CandidateSet",
    "Elector",
    "Integers",
    "Moment",
    "Need",
    "Ranker",
    "Scorer",
    "Scores",
    "elects",
    "rankers",
    "ranks_missing",
    "scores",
]

NEVER = -np.inf


class Need(StrEnum):
    """What a ranker may need beyond the columns of view and stream.

    A ranker says so in a class attribute `needs`; where it is not given the policy is refused.
    """

    ORACLE = "the true changes of the remote data, which only the simulator has"
    FILTER = "a FILTER ?x < number or ?x > number on a variable of the SERVICE"
    AGGREGATE = "an answer that aggregates the units of each join key"
    FUTURE = (
        "all arrivals to come and plain rows as answers, which only a simulation without filter, "
        "aggregate and cache size has"
    )


class Scorer(Protocol):
    """A ranker that gives each candidate a score; `NEVER` means not worth a refresh."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """A number per candidate, the higher the better; equal scores are elected at random."""
        ...


class Elector(Protocol):
    """A ranker whose choice of one unit depends on the others that it chooses."""

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """Positions of at most `budget` candidates, best first."""
        ...


Ranker = Scorer | Elector


def elects(ranker: Ranker) -> TypeGuard[Elector]:
    """Whether a ranker elects a set as a whole; one that scores too does it because it is fast."""
    return hasattr(ranker, "elect")


def scores(ranker: Ranker) -> TypeGuard[Scorer]:
    """Whether a ranker scores candidates one by one."""
    return hasattr(ranker, "score")


def ranks_missing(ranker: Ranker) -> bool:
    """Whether a ranker knows what a unit is worth that the view does not hold."""
    return bool(getattr(ranker, "ranks_missing", False))


rankers: Registry[type[Ranker]] = Registry("ranker")


def only(eligible: Booleans, scores: Scores | Integers) -> Scores:
    """The scores of the eligible candidates; no other is ever elected."""
    result = scores.astype(np.float64)
    result[(~eligible).nonzero()[0]] = NEVER
    return result


def elect_highest(scores: Scores, *, budget: int, rng: np.random.Generator) -> Integers:
    """The positions of the `budget` highest scores, best first, ties at random.

    Only the elected are sorted.
    """
    if budget <= 0 or not len(scores):
        return np.empty(0, dtype=np.int64)
    if budget < len(scores):
        bar = nth_highest(scores, budget)
        above = (scores > bar).nonzero()[0]
        level = (scores == bar).nonzero()[0] if bar > NEVER else above[:0]
        wanted = min(budget - len(above), len(level))
        if len(level) > 1:
            level = level[rng.choice(len(level), wanted, replace=False)]
        chosen = np.concatenate([above, level])
    else:
        chosen = (scores > NEVER).nonzero()[0]
    chosen = chosen[rng.permutation(len(chosen))]
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")], dtype=np.int64)
