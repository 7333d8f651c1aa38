"""Flexible budget allocation (planning-ahead section 5.3): what is saved, borrowed and left."""

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.allocation import Allocation, Market, allowance, savings
from bestbefore.view.units import new_units

MOMENT = Moment(100, width_ms=40, slide_ms=10)


@pytest.mark.parametrize("budget", [1, 3])
def test_evaluations_that_spend_nothing_save_at_most_a_horizon(budget):
    saved, seen = 0, []
    for _ in range(6):
        saved = savings(budget, saved, 0, MOMENT)
        seen.append(saved)
    assert seen == [budget, 2 * budget, 3 * budget, 4 * budget, 4 * budget, 4 * budget]


def test_what_was_borrowed_is_paid_back_before_anything_is_spent():
    borrowed = savings(2, 0, allowance(2, 0, MOMENT, Allocation.FBA), MOMENT)
    assert borrowed == 2 - 8
    assert allowance(2, borrowed, MOMENT, Allocation.FBA) == 2
    assert allowance(2, -8, MOMENT, Allocation.FBA) == 0
    assert allowance(2, -9, MOMENT, Allocation.FBA) == 0
    assert allowance(2, 8, MOMENT, Allocation.FBA) == 16
    assert allowance(2, 8, MOMENT, Allocation.FIXED) == 2


def elected(best_before_ms, *, saved):
    """Who of two units is elected with FBA at 100; a horizon is 2 evaluations, γ is 1."""
    units = new_units(np.zeros(2, np.int64), np.ones(2, np.int64), 1_000)
    units.best_before_ms[:] = best_before_ms
    window = WindowUnits(np.arange(2), np.full(2, 2), np.array([9, 1]))
    situation = Situation(Moment(100, 20, 10), budget=1, saved=saved)
    rng = np.random.default_rng(0)
    policy = resolve_policy("FBA(IBM-BGP)")
    return sorted(elect(policy, units, window, situation, rng=rng).elected.tolist())


@pytest.mark.parametrize("stale_since", [90, 91, 100])
def test_a_unit_that_is_stale_now_is_no_reason_to_leave_budget_to_the_next_evaluation(stale_since):
    assert elected([stale_since, 90], saved=0) == [0, 1]


@pytest.mark.parametrize("stale_from", [101, 110])
def test_budget_is_left_to_a_better_unit_that_is_stale_at_the_next_evaluation(stale_from):
    assert elected([stale_from, 90], saved=-1) == []


@pytest.mark.parametrize("stale_from", [111, 120])
def test_budget_is_not_left_to_a_unit_that_the_window_has_lost_when_it_is_stale(stale_from):
    assert elected([stale_from, 90], saved=-1) == [1]


def test_a_price_saves_where_little_is_worth_and_spends_it_where_much_is():
    """Nothing is borrowed, and no more is spent than was there."""
    saved, price, spent = 0, None, []
    for step in range(40):
        rich = step % 4 == 3
        scores = np.array([10.0, 9.0, 8.0, 7.0, 6.0, 5.0] if rich else [1.0, 0.9, 0.8, 0.1])
        market = Market(2, saved, 4, price)
        price = market.after(scores)
        worth = market.worthwhile(scores, price)
        allowed = allowance(2, saved, MOMENT, Allocation.PRICE)
        spent.append(min(int((worth > -np.inf).sum()), allowed))
        assert spent[-1] <= 2 + saved
        saved = savings(2, saved, spent[-1], MOMENT)
        assert saved >= 0
    rich, poor = spent[7::4], [each for step, each in enumerate(spent[4:]) if step % 4 != 3]
    assert np.mean(rich) > 4
    assert np.mean(poor) < 2
    assert sum(spent) >= 2 * 40 * 0.8
