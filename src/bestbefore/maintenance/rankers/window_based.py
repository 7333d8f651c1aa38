"""Window Based Maintenance: how many evaluations a refresh serves (acqua section 4.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestbefore.errors import PolicyError
from bestbefore.maintenance.best_before import fresh_evaluations, next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import NEVER, Need, rankers
from bestbefore.maintenance.window_units import Integers, Scores


def fresh_for(candidates: CandidateSet, moment: Moment) -> Integers:
    """V (planning-ahead's B): the evaluations each candidate stays fresh in, if refreshed now."""
    renewed = next_best_before(candidates.best_before_ms, candidates.interval_ms, moment.t_ms)
    return fresh_evaluations(renewed, moment.t_ms, moment.slide_ms)


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
        score = served(candidates, fresh_for(candidates, moment), moment)
        otherwise = -1.0 / (1.0 + score) - 1.0 if self.fill else NEVER
        return np.where(candidates.expired(moment), score, otherwise)


@rankers.register("WBM*")
@dataclass(frozen=True)
class TrueWindowBasedMaintenance:
    """The truly stale by min(L, V), V from the true time of the next change (acqua section 5.2)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.ORACLE})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """Equation 5 with what an oracle knows."""
        truth = candidates.truth
        if truth is None:
            raise PolicyError("WBM* was given no oracle")
        fresh = fresh_evaluations(truth.next_change_ms, moment.t_ms, moment.slide_ms)
        return np.where(truth.stale, served(candidates, fresh, moment), NEVER)
