"""What every registered policy promises, whatever it prefers."""

from dataclasses import dataclass

import numpy as np
import pytest

from bestbefore.maintenance import (
    Moment,
    Situation,
    WindowUnits,
    elect,
    policy_names,
    resolve_policy,
)
from bestbefore.maintenance.allocation import allowance
from bestbefore.maintenance.window_units import units_of_keys, units_of_links
from bestbefore.view.links import link
from bestbefore.view.units import COLUMNS, Units, new_units

NAMES = [*policy_names(), "WSJ-WBM(fill=true)", "MP(CWSJ,LRU,LRU)", "MP(AW,WBM,FRP)"]
MOMENTS = [Moment(10_000, 4_000, 1_000), Moment(10_000, 1_000, 1_000)]
NOTHING = np.empty(0, dtype=np.int64)


@dataclass
class Knows:
    """An oracle over made-up truth."""

    is_stale: np.ndarray
    changes_ms: np.ndarray

    def stale(self, units):
        return self.is_stale[units]

    def next_change_ms(self, units):
        return self.changes_ms[units]

    def scheduled(self, units):
        return self.is_stale[units]


def some_units(size: int, seed: int) -> Units:
    rng = np.random.default_rng(seed)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    units.interval_ms[:] = rng.integers(100, 3_000, size)
    units.refreshed_ms[:] = rng.integers(0, 10_000, size)
    units.best_before_ms[:] = rng.integers(5_000, 15_000, size)
    units.used_ms[:] = rng.integers(0, 10_000, size)
    units.value[:] = rng.normal(1_000, 400, size)
    units.held[rng.random(size) < 0.2] = False
    return units


def an_oracle(size: int, seed: int) -> Knows:
    rng = np.random.default_rng(seed)
    return Knows(rng.random(size) < 0.5, rng.integers(10_001, 20_000, size))


def a_window(size: int, seed: int, *, many_to_many: bool) -> WindowUnits:
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.choice(size, 2 * size // 5, replace=False)).repeat(2)
    remaining = np.tile([1, 3], len(keys) // 2)
    mappings = rng.integers(1, 9, len(keys))
    if not many_to_many:
        return units_of_keys(keys, remaining, mappings)
    links, _ = link(rng.integers(0, size, 3 * size), rng.integers(0, size, 3 * size), keys=size)
    return units_of_links(links, keys, remaining, mappings)


def a_situation(name: str, size: int, budget: int, moment: Moment) -> Situation:
    return Situation(
        moment,
        budget,
        threshold=1_000.0,
        capacity=size,
        saved=3,
        oracle=an_oracle(size, 8) if resolve_policy(name).needs else None,
    )


def run(name, units, window, *, budget, moment=MOMENTS[0], seed=7):
    situation = a_situation(name, len(units), budget, moment)
    rng = np.random.default_rng(seed)
    return elect(resolve_policy(name), units, window, situation, rng=rng)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("moment", MOMENTS, ids=["sliding", "tumbling"])
@pytest.mark.parametrize("many_to_many", [False, True], ids=["1:1", "M:N"])
def test_elects_at_most_the_budget_only_candidates_none_twice(name, moment, many_to_many):
    units, window = some_units(100, 1), a_window(100, 2, many_to_many=many_to_many)
    allocation = resolve_policy(name).allocation
    for budget in (0, 1, 10, 40, 1_000):
        election = run(name, units, window, budget=budget, moment=moment)
        assert len(election.elected) <= allowance(budget, 3, moment, allocation)
        assert set(election.elected.tolist()) <= set(election.candidates.tolist())
        assert len(set(election.elected.tolist())) == len(election.elected)
        assert election.elected.dtype == np.int64


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_choice(name):
    units, window = some_units(100, 1), a_window(100, 2, many_to_many=False)
    first, second = (run(name, units, window, budget=10) for _ in range(2))
    assert first.elected.tolist() == second.elected.tolist()
    assert first.evicted.tolist() == second.evicted.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("many_to_many", [False, True], ids=["1:1", "M:N"])
def test_input_is_unchanged(name, many_to_many):
    units, window = some_units(50, 3), a_window(50, 4, many_to_many=many_to_many)
    columns = [getattr(units, name) for name in COLUMNS]
    columns += [window.unit, window.remaining, window.mappings]
    columns += [window.pairs.position, window.pairs.remaining, window.pairs.count]
    copies = [column.copy() for column in columns]
    for column in columns:
        column.flags.writeable = False
    run(name, units, window, budget=10)
    for column, copy in zip(columns, copies, strict=True):
        assert np.array_equal(column, copy, equal_nan=column.dtype == np.float64)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0, 10])
def test_empty_window_and_empty_view(name, size):
    election = run(name, some_units(size, 5), WindowUnits(NOTHING, NOTHING, NOTHING), budget=5)
    assert len(election.elected) <= min(5, size)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "WST" and ".F(" not in name])
def test_a_budget_above_the_candidates_refreshes_all_that_are_stale(name):
    """All are old, possibly and truly stale here; a band around the threshold leaves some out."""
    units, window = some_units(30, 5), a_window(30, 6, many_to_many=False)
    units.best_before_ms[:] = 0
    units.refreshed_ms[:] -= 86_400_000
    units.held[:] = True
    situation = Situation(MOMENTS[0], 1_000, threshold=1_000.0)
    if resolve_policy(name).needs:
        everything = Knows(np.ones(30, dtype=np.bool_), np.full(30, 20_000))
        situation = Situation(MOMENTS[0], 1_000, threshold=1_000.0, oracle=everything)
    rng = np.random.default_rng(1)
    election = elect(resolve_policy(name), units, window, situation, rng=rng)
    assert set(election.elected.tolist()) == set(election.candidates.tolist())
