"""Figure 1 of planning-ahead: three join keys, three units, six rows, for both query cases.

Join key 1 needs unit 1; join key 2 units 1 and 3; join key 3 all of them. Each join key has one
mapping in the window, and every unit is stale.
"""

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, elect, resolve_policy
from bestbefore.maintenance.window_units import units_of_links
from bestbefore.simulator.answers import AggregatedComparison, Side, compare_rows
from bestbefore.view.links import link
from bestbefore.view.units import new_units

EDGES = [(0, 0), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)]
MOMENT = Moment(100, width_ms=40, slide_ms=10)


@pytest.fixture
def window():
    keys, units = (np.array(side) for side in zip(*EDGES, strict=True))
    links, _ = link(keys, units, keys=3)
    return units_of_links(links, np.arange(3), np.full(3, 4), np.ones(3, dtype=np.int64))


@pytest.fixture
def units():
    units = new_units(np.arange(3), np.ones(3, dtype=np.int64), 1_000)
    units.best_before_ms[:] = 100
    return units


def fresh_after(elected, window, compare):
    """The answers that are correct if only the elected units are as the service has them."""
    current = np.array([10.0, 20.0, 30.0])
    cached = np.where(np.isin(np.arange(3), elected), current, current - 1)
    everywhere = np.ones(3, dtype=np.bool_)
    ours = Side(everywhere, cached.astype(np.int64), cached)
    truth = Side(everywhere, current.astype(np.int64), current)
    return compare(window, ours, truth, np.ones(3)).correct


def chosen(name, units, window, budget):
    rng = np.random.default_rng(0)
    return elect(resolve_policy(name), units, window, Situation(MOMENT, budget), rng=rng).elected


def test_case_1_updating_unit_1_makes_three_rows_fresh(window):
    assert [fresh_after([unit], window, compare_rows) for unit in range(3)] == [3, 1, 2]
    assert window.mappings.tolist() == [3, 1, 2]


def test_case_2_an_aggregate_is_fresh_only_if_all_its_units_are(window):
    total = AggregatedComparison("sum")
    assert [fresh_after([unit], window, total) for unit in range(3)] == [1, 0, 0]
    assert fresh_after([0, 2], window, total) == 2
    assert fresh_after([1, 2], window, total) == 0
    assert fresh_after([0, 1, 2], window, total) == 3


@pytest.mark.parametrize("name", ["SBM-BGP", "IBM-BGP"])
@pytest.mark.parametrize(("budget", "elected"), [(1, [0]), (2, [0, 2]), (3, [0, 2, 1])])
def test_case_1_elects_the_units_with_the_most_rows(units, window, name, budget, elected):
    assert chosen(name, units, window, budget).tolist() == elected


@pytest.mark.parametrize("name", ["SBM-Agg", "IBM-Agg"])
@pytest.mark.parametrize(
    ("budget", "elected"), [(1, [0]), (2, [0, 2]), (3, [0, 2, 1]), (9, [0, 2, 1])]
)
def test_case_2_completes_the_cheapest_join_keys(units, window, name, budget, elected):
    assert chosen(name, units, window, budget).tolist() == elected


def test_case_2_leaves_out_units_that_are_fresh_already(units, window):
    units.best_before_ms[0] = 1_100
    assert chosen("SBM-Agg", units, window, 1).tolist() == [2]
    assert sorted(chosen("SBM-Agg", units, window, 9).tolist()) == [1, 2]
