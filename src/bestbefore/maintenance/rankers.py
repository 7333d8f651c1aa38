"""Rankers: they elect, from the candidate set C, the units to refresh now.

A ranker is a frozen dataclass of its parameters with a `score` method. The election takes the
highest scores and breaks ties at random.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.maintenance.best_before import fresh_evaluations, next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Integers, Moment, Scores
from bestbefore.registry import Registry

NEVER = -np.inf


class Ranker(Protocol):
    """A policy's parameters with a score per candidate; `NEVER` means not worth a refresh."""

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """A number per candidate, the higher the better; equal scores are elected at random."""
        ...


rankers: Registry[type[Ranker]] = Registry("ranker")


def elect_highest(scores: Scores, *, budget: int, rng: np.random.Generator) -> Integers:
    """The positions of the `budget` highest scores, best first, ties at random.

    Only the elected are sorted: the rest is separated by one partition.
    """
    eligible = np.flatnonzero(scores > NEVER)
    if budget <= 0 or not len(eligible):
        return np.empty(0, dtype=np.int64)
    values = scores if len(eligible) == len(scores) else scores[eligible]
    if budget < len(values):
        bar = np.partition(values, len(values) - budget)[len(values) - budget]
        above = np.flatnonzero(values > bar)
        ties = rng.choice(np.flatnonzero(values == bar), budget - len(above), replace=False)
        chosen = np.concatenate([above, ties])
    else:
        chosen = np.arange(len(values))
    chosen = rng.permutation(chosen)
    best_first = chosen[np.argsort(-values[chosen], kind="stable")]
    return np.asarray(eligible[best_first], dtype=np.int64)


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


@rankers.register("WBM")
@dataclass(frozen=True)
class WindowBasedMaintenance:
    """The possibly stale by min(L, V), the evaluations a refresh would serve (acqua section 4.2).

    With a tumbling window every L is the same and V alone decides. What is left of the budget
    when nothing is possibly stale stays unspent, unless `fill` is set: then the others follow.
    """

    fill: bool = False

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 5; with `fill`, the not yet expired rank below all possibly stale ones."""
        expired = candidates.best_before_ms <= moment.t_ms
        renewed = next_best_before(candidates.best_before_ms, candidates.interval_ms, moment.t_ms)
        fresh = fresh_evaluations(renewed, moment.t_ms, moment.slide_ms)
        served = fresh if moment.tumbling else np.minimum(candidates.remaining, fresh)
        otherwise = -1.0 / (1.0 + served) - 1.0 if self.fill else NEVER
        return np.where(expired, served.astype(np.float64), otherwise)
