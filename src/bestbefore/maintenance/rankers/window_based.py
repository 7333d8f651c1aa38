"""Window Based Maintenance: how many evaluations a refresh serves (acqua section 4.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.best_before import fresh_evaluations, next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import NEVER, Need, rankers


def fresh_for(candidates: CandidateSet, moment: Moment) -> Integers:
    """V (planning-ahead's B): the evaluations each candidate stays fresh in, if refreshed now."""
    renewed = next_best_before(candidates.best_before_ms, candidates.interval_ms, moment.t_ms)
    return fresh_evaluations(renewed, moment.t_ms, moment.slide_ms)


def fresh_of(candidates: CandidateSet, expired: Integers, moment: Moment) -> Integers:
    """V of the candidates at these positions, whose τ has passed.

    τ_next − t is then I − (t − τ) mod I. Memory is what costs with many candidates, so it is
    worked out in place.
    """
    interval = candidates.interval_ms[expired]
    left = moment.t_ms - candidates.best_before_ms[expired]
    left %= interval
    np.subtract(interval, left, out=left)
    left += moment.slide_ms - 1
    left //= moment.slide_ms
    return left


def only(positions: Integers, scores: Scores | Integers, size: int) -> Scores:
    """Scores of the candidates at some positions; no other is ever elected."""
    result = np.full(size, NEVER)
    result[positions] = scores
    return result


def served(candidates: CandidateSet, fresh: Integers, moment: Moment) -> Scores:
    """Equation 5, min(L, V); with a tumbling window every L is the same and V alone decides."""
    evaluations = fresh if moment.tumbling else np.minimum(candidates.remaining, fresh)
    return evaluations.astype(np.float64)


@rankers.register("WBM")
@dataclass(frozen=True)
class WindowBasedMaintenance:
    """The possibly stale by min(L, V), the evaluations a refresh would serve (acqua section 4.2).

    What is left of the budget when nothing is possibly stale stays unspent, unless `fill` is set:
    then the others follow.
    """

    fill: bool = False

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 5; with `fill`, the not yet expired rank below all possibly stale ones."""
        if not self.fill:
            expired = np.flatnonzero(candidates.expired(moment))
            fresh = fresh_of(candidates, expired, moment)
            if not moment.tumbling:
                np.minimum(fresh, candidates.remaining[expired], out=fresh)
            return only(expired, fresh, len(candidates))
        score = served(candidates, fresh_for(candidates, moment), moment)
        return np.where(candidates.expired(moment), score, -1.0 / (1.0 + score) - 1.0)


@rankers.register("WBM*")
@dataclass(frozen=True)
class TrueWindowBasedMaintenance:
    """The truly stale by min(L, V), V from the true time of the next change (acqua section 5.2)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.ORACLE})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 5 with what an oracle knows."""
        stale, next_change_ms = candidates.truth
        fresh = fresh_evaluations(next_change_ms, moment.t_ms, moment.slide_ms)
        chosen = np.flatnonzero(stale)
        return only(chosen, served(candidates, fresh, moment)[chosen], len(candidates))
