"""What every registered policy promises, whatever it prefers."""

import numpy as np
import pytest

from bestbefore.maintenance import Moment, WindowUnits, elect, policy_names, resolve_policy
from bestbefore.view import view_of

NAMES = [*policy_names(), "WSJ-WBM(fill=true)"]
MOMENTS = [Moment(10_000, 4_000, 1_000), Moment(10_000, 1_000, 1_000)]


def a_view(size: int, seed: int):
    rng = np.random.default_rng(seed)
    view = view_of([(f"<u:{i}>", f'"{i}"') for i in range(size)], ["k", "v"], ["k"], interval_ms=1)
    view.units.interval_ms[:] = rng.integers(100, 3_000, size)
    view.units.refreshed_ms[:] = rng.integers(0, 10_000, size)
    view.units.best_before_ms[:] = rng.integers(5_000, 15_000, size)
    return view


def a_window(size: int, needed: int, seed: int) -> WindowUnits:
    rng = np.random.default_rng(seed)
    units = np.sort(rng.choice(size, needed, replace=False)).astype(np.int64)
    return WindowUnits(units, rng.integers(1, 5, needed), rng.integers(1, 9, needed))


def run(name, view, window, *, budget, moment=MOMENTS[0], seed=7):
    return elect(
        resolve_policy(name),
        view.units,
        window,
        moment=moment,
        budget=budget,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("moment", MOMENTS, ids=["sliding", "tumbling"])
@pytest.mark.parametrize("budget", [0, 1, 10, 40, 1_000])
def test_elects_at_most_the_budget_only_candidates_none_twice(name, moment, budget):
    view, window = a_view(100, 1), a_window(100, 40, 2)
    election = run(name, view, window, budget=budget, moment=moment)
    assert len(election.elected) <= budget
    assert set(election.elected.tolist()) <= set(election.candidates.tolist())
    assert len(set(election.elected.tolist())) == len(election.elected)
    assert election.elected.dtype == np.int64


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_choice(name):
    view, window = a_view(100, 1), a_window(100, 40, 2)
    first, second = (run(name, view, window, budget=10).elected.tolist() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_input_is_unchanged(name):
    view, window = a_view(50, 3), a_window(50, 20, 4)
    columns = [
        view.units.refreshed_ms,
        view.units.best_before_ms,
        view.units.interval_ms,
        window.unit,
        window.remaining,
        window.mappings,
    ]
    copies = [column.copy() for column in columns]
    for column in columns:
        column.flags.writeable = False
    run(name, view, window, budget=10)
    for column, copy in zip(columns, copies, strict=True):
        assert np.array_equal(column, copy)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0, 10])
def test_empty_window_and_empty_view(name, size):
    view, nothing = a_view(size, 5), np.empty(0, dtype=np.int64)
    election = run(name, view, WindowUnits(nothing, nothing, nothing), budget=5)
    assert len(election.elected) <= min(5, size)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "WST"])
def test_budget_above_the_candidates_elects_every_possibly_stale_one(name):
    view, window = a_view(30, 5), a_window(30, 12, 6)
    view.units.best_before_ms[:] = 0
    election = run(name, view, window, budget=1_000)
    assert set(election.elected.tolist()) == set(election.candidates.tolist())
