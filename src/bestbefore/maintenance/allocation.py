"""Budget allocation: γ at each evaluation, or moved to where it yields most (FBA)."""

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.best_before import next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import NEVER, Scorer, elect_highest


def allowance(budget: int, saved: int, moment: Moment, *, flexible: bool) -> int:
    """The refreshes that one evaluation may have at most.

    With flexible allocation that is the budget of the whole horizon and what was saved before;
    what was borrowed counts as negative savings. So no more is ever spent up to an evaluation
    than the budgets of all evaluations up to the end of its horizon.
    """
    return max(0, moment.horizon * budget + saved) if flexible else budget


def savings(budget: int, saved: int, spent: int, moment: Moment) -> int:
    """What is saved (or, if negative, borrowed) after an evaluation; at most a horizon's budget."""
    return min(saved + budget - spent, moment.horizon * budget)


def elect_flexibly(
    ranker: Scorer,
    foreseen: list[CandidateSet],
    moment: Moment,
    *,
    pool: int,
    rng: np.random.Generator,
) -> Integers:
    """The positions among the present candidates that are worth their refresh now.

    planning-ahead section 5.3: `foreseen` are the candidates of this and the following
    evaluations, each unit listed now and wherever it is expected to become stale anew. The best
    `pool` of all are kept, and what falls on a later evaluation is left to it.
    """
    scores = [
        _due(ranker.score(candidates, moment.later(slides)), candidates, moment, slides)
        for slides, candidates in enumerate(foreseen)
    ]
    chosen = elect_highest(np.concatenate(scores), budget=pool, rng=rng)
    return chosen[chosen < len(foreseen[0])]


def _due(scores: Scores, candidates: CandidateSet, moment: Moment, slides: int) -> Scores:
    """The scores of the units that change between the evaluation before and this one."""
    if slides == 0:
        return scores
    before, now = moment.later(slides - 1).t_ms, moment.later(slides).t_ms
    change = next_best_before(candidates.best_before_ms, candidates.interval_ms, before)
    return np.where(change <= now, scores, NEVER)
