"""Flexible budget allocation (planning-ahead section 5.3): what is saved, borrowed and left."""

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.allocation import allowance, savings
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
    borrowed = savings(2, 0, allowance(2, 0, MOMENT, flexible=True), MOMENT)
    assert borrowed == 2 - 8
    assert allowance(2, borrowed, MOMENT, flexible=True) == 2
    assert allowance(2, -8, MOMENT, flexible=True) == 0
    assert allowance(2, -9, MOMENT, flexible=True) == 0
    assert allowance(2, 8, MOMENT, flexible=True) == 16
    assert allowance(2, 8, MOMENT, flexible=False) == 2


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
