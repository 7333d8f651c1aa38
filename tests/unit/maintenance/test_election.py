"""Elections, seen from who runs them: who may be elected, and who leaves."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.view.units import new_units


def some(held, *, moment=None, **more):
    """Units that became stale at 90, all needed once; and a situation at 100."""
    size = len(held)
    units = new_units(np.zeros(size, np.int64), np.ones(size, np.int64), 50)
    units.best_before_ms[:], units.held[:] = 90, held
    window = WindowUnits(np.arange(size), np.full(size, 2), np.ones(size, np.int64))
    return units, window, Situation(moment or Moment(100, 20, 10), **more)


def elected(name, units, window, situation):
    election = elect(resolve_policy(name), units, window, situation, rng=np.random.default_rng(0))
    return sorted(election.elected.tolist())


@pytest.mark.parametrize(
    ("policy", "fill", "found"),
    [
        ("WSJ-WBM", False, [0]),
        ("WSJ-WBM", True, [0, 1]),
        ("CWSJ-WBM", False, [0, 1]),
        ("CWSJ-WBM", True, [0, 1]),
    ],
)
def test_a_wanted_freshness_is_reached_with_units_that_the_policy_may_ask_for(policy, fill, found):
    drawn = some([True, False], budget=2, freshness=0.9, fill=fill)
    assert elected(policy, *drawn) == found


@pytest.mark.parametrize("freshness", [0.4, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("unknown", [0, 2, 4])
def test_what_the_view_does_not_know_is_not_fresh_whatever_is_refreshed(freshness, unknown):
    units, window, situation = some([False] * 4, budget=4, freshness=freshness, fill=True)
    window = replace(window, unknown=unknown)
    rng = np.random.default_rng(0)
    lift = elect(resolve_policy("WSJ-WBM"), units, window, situation, rng=rng).lift
    assert lift.at_best == 4 / (4 + unknown)
    assert lift.enough == (freshness <= lift.at_best)
    if lift.enough:
        assert len(lift.units) == ceil(freshness * (4 + unknown))


@pytest.mark.parametrize(("capacity", "found"), [(2, [2]), (3, [2, 3]), (4, [1, 2, 3])])
def test_where_room_is_short_those_enter_that_most_answers_wait_for(capacity, found):
    units, window, situation = some([True, False, False, False], budget=3, fill=True)
    # The one that is held is fresh, and as it is needed FRP does not let it go.
    units.best_before_ms[0] = 500
    window = replace(window, mappings=np.array([1, 2, 9, 5]))
    situation = replace(situation, capacity=capacity)
    assert elected("MP(CWSJ,WBM,FRP)", units, window, situation) == found
