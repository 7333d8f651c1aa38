"""Electing by score: the highest of many, without sorting them all."""

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.rankers.ranker import NEVER


def elect_highest(scores: Scores, *, budget: int, rng: np.random.Generator) -> Integers:
    """The positions of the `budget` highest scores, best first, ties at random.

    Only the elected are sorted: the rest is separated by one partition.
    """
    if budget <= 0 or not len(scores):
        return np.empty(0, dtype=np.int64)
    if budget < len(scores):
        bar = np.partition(scores, len(scores) - budget)[len(scores) - budget]
        above = np.flatnonzero(scores > bar)
        level = np.flatnonzero(scores == bar) if bar > NEVER else above[:0]
        wanted = min(budget - len(above), len(level))
        chosen = np.concatenate([above, level[rng.choice(len(level), wanted, replace=False)]])
    else:
        chosen = np.flatnonzero(scores > NEVER)
    chosen = chosen[rng.permutation(len(chosen))]
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")], dtype=np.int64)
