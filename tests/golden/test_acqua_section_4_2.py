"""The worked example of acqua section 4.2 (figure 2): the evaluation at t = 8 with budget 1."""

import numpy as np
import pytest

from bestbefore.maintenance import (
    MemoryLedger,
    Moment,
    Reply,
    Situation,
    WindowUnits,
    elect,
    maintain,
    resolve_policy,
)
from bestbefore.maintenance.best_before import fresh_evaluations, next_best_before
from bestbefore.maintenance.election import describe
from bestbefore.view import LocalView, view_of

T = 8
# The figure gives τ and τ_next, so I = τ_next − τ. It does not give τ of d, only that it is due at
# 8 and renewed to 9, nor those of e and f, which the window does not need.
BEST_BEFORE = {"a": 7, "b": 9, "c": 6, "d": 7, "e": 5, "f": 10}
INTERVAL = {"a": 5, "b": 5, "c": 5, "d": 2, "e": 5, "f": 5}
REMAINING = {"a": 1, "b": 2, "c": 3, "d": 3}
MOMENT = Moment(T, width_ms=4, slide_ms=1)
SITUATION = Situation(MOMENT, budget=1)


@pytest.fixture
def view() -> LocalView:
    rows = [(name, f'"{name}"') for name in BEST_BEFORE]
    view = view_of(rows, ["k", "v"], ["k"])
    view.units.best_before_ms[:] = list(BEST_BEFORE.values())
    view.units.interval_ms[:] = list(INTERVAL.values())
    return view


@pytest.fixture
def window(view: LocalView) -> WindowUnits:
    numbers = view.numbers((name,) for name in REMAINING)
    return WindowUnits(numbers, np.array(list(REMAINING.values())), np.ones(4, dtype=np.int64))


def test_candidates_are_the_compatible_units(view, window):
    election = elect(
        resolve_policy("WSJ-WBM"),
        view.units,
        window,
        SITUATION,
        rng=np.random.default_rng(0),
    )
    assert [view.keys[unit] for unit in election.candidates] == [("a",), ("b",), ("c",), ("d",)]


def test_renewed_best_before_times_and_fresh_evaluations(view):
    acd = view.numbers([("a",), ("c",), ("d",)])
    renewed = next_best_before(view.units.best_before_ms[acd], view.units.interval_ms[acd], T)
    assert renewed.tolist() == [12, 11, 9]
    assert fresh_evaluations(renewed, T, 1).tolist() == [4, 3, 1]


def test_scores_are_1_3_1_and_b_is_not_possibly_stale(view, window):
    policy = resolve_policy("WSJ-WBM")
    scores = policy.ranker.score(describe(view.units, window.unit, window, SITUATION), MOMENT)
    assert scores.tolist() == [1, -np.inf, 3, 1]


class NewValues:
    """A service that has a new value for every unit."""

    def __init__(self, view):
        self.view = view

    def fetch(self, units):
        return Reply(units, [[(self.view.keys[unit][0], '"new"')] for unit in units], requests=1)


@pytest.mark.parametrize("seed", range(5))
def test_c_is_elected_and_its_best_before_time_becomes_11(view, window, seed):
    outcome = maintain(
        resolve_policy("WSJ-WBM"),
        view,
        lambda: window,
        Situation(MOMENT, budget=1, seed=seed),
        source=NewValues(view),
        ledger=MemoryLedger(),
    )
    assert [view.keys[unit] for unit in outcome.elected] == [("c",)]
    after = dict(zip(view.keys, view.units.best_before_ms.tolist(), strict=True))
    assert after[("c",)] == 11
    assert after[("a",)] == 7
    assert view.rows_of(int(outcome.elected[0])) == [("c", '"new"')]
    # Expired: a, d and, not needed, e. Each unit of the window has one mapping.
    assert outcome.sets.sizes() == {"A": 1, "B": 1, "C": 2, "D": 2, "E": 2, "F": 2, "G": 0}
