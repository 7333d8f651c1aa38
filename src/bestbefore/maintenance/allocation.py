"""Budget allocation: γ at each evaluation, or moved to where it yields most (FBA, price)."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.best_before import next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import NEVER, Scorer, elect_highest
from bestbefore.maintenance.selection import nth_highest

# How much of a price the last evaluation makes.
_NEWS = 0.5


class Allocation(StrEnum):
    """How the budget is spread over evaluations.

    FIXED: γ each. FBA: planned over the horizon of the window, from savings and future budgets.
    PRICE: what is saved is spent where scores are above what they are elsewhere; none is borrowed.
    """

    FIXED = "fixed"
    FBA = "FBA"
    PRICE = "price"


def allowance(budget: int, saved: int, moment: Moment, allocation: Allocation) -> int:
    """The refreshes that one evaluation may have at most.

    With FBA that is the budget of the whole horizon and what was saved before; what was borrowed
    counts as negative savings. So no more is ever spent up to an evaluation than the budgets of all
    evaluations up to the end of its horizon. With a price it is the budget and what was saved.
    """
    if allocation is Allocation.FIXED:
        return budget
    ahead = moment.horizon if allocation is Allocation.FBA else 1
    return max(0, ahead * budget + saved)


def savings(budget: int, saved: int, spent: int, moment: Moment) -> int:
    """What is saved (or, if negative, borrowed) after an evaluation; at most a horizon's budget."""
    return min(saved + budget - spent, moment.horizon * budget)


@dataclass(frozen=True, slots=True)
class Market:
    """What a refresh has to be worth, so that on average the budget γ is spent.

    `price` is the mean over the evaluations so far of the γ-th highest score, the latest most. The
    nearer the savings are to as much as can be saved, the lower a score will do.
    """

    budget: int
    saved: int
    horizon: int
    price: float | None = None

    def after(self, scores: Scores) -> float | None:
        """The price with the scores of one more evaluation."""
        worth = scores[scores > NEVER]
        if not self.budget or not len(worth):
            return self.price
        bar = nth_highest(worth, min(self.budget, len(worth)))
        return bar if self.price is None else (1 - _NEWS) * self.price + _NEWS * bar

    def worthwhile(self, scores: Scores, price: float | None) -> Scores:
        """The scores of what is worth the price; nothing else is elected."""
        if price is None:
            return scores
        full = self.saved / max(self.horizon * self.budget, 1)
        return np.where(scores >= price - full * abs(price), scores, NEVER)


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
