"""Window Based Maintenance: how many evaluations a refresh serves (acqua section 4.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.best_before import fresh_evaluations, next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import Need, only, rankers
from bestbefore.maintenance.selection import blocks


def fresh_for(candidates: CandidateSet, moment: Moment) -> Integers:
    """V (planning-ahead's B): the evaluations each candidate stays fresh in, if refreshed now."""
    best_before_ms, interval_ms = candidates.best_before_ms, candidates.interval_ms
    found = np.empty(len(candidates), dtype=np.int64)
    for part in blocks(len(candidates)):
        renewed = next_best_before(best_before_ms[part], interval_ms[part], moment.t_ms)
        found[part] = fresh_evaluations(renewed, moment.t_ms, moment.slide_ms)
    return found


def served(candidates: CandidateSet, fresh: Integers, moment: Moment) -> Integers:
    """Equation 5, min(L, V); with a tumbling window every L is the same and V alone decides."""
    return fresh if moment.tumbling else np.minimum(candidates.remaining, fresh)


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
        score = served(candidates, fresh_for(candidates, moment), moment)
        expired = candidates.expired(moment)
        if self.fill:
            return np.where(expired, score, -1.0 / (1.0 + score) - 1.0)
        return only(expired, score)


@rankers.register("WBM*")
@dataclass(frozen=True)
class TrueWindowBasedMaintenance:
    """The truly stale by min(L, V), V from the true time of the next change (acqua section 5.2)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.ORACLE})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 5 with what an oracle knows."""
        stale, next_change_ms = candidates.truth
        fresh = fresh_evaluations(next_change_ms, moment.t_ms, moment.slide_ms)
        return only(stale, served(candidates, fresh, moment))
