"""Which units leave a view of limited size first."""

import numpy as np
import pytest

from bestbefore.maintenance import Moment
from bestbefore.maintenance.replacement import replacements
from bestbefore.view.units import new_units

T = 100
# Units 0 to 2 are stale, the others fresh; the last one is needed.
BEST_BEFORE = [100, 50, 99, 101, 200, 300, 101]
INTERVAL = [5, 5, 5, 20, 10, 30, 1]
USED = [7, 6, 5, 4, 3, 2, 1]


def order(replacement, *, count, movable=(True,) * 7):
    units = new_units(np.zeros(7, np.int64), np.ones(7, np.int64), 1)
    units.best_before_ms[:], units.interval_ms[:], units.used_ms[:] = BEST_BEFORE, INTERVAL, USED
    needed = np.arange(7) == 6
    found = replacement.order(units, np.array(movable), needed, moment=Moment(T, 2, 1), count=count)
    return found[:count].tolist()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7])
def test_frp_lets_the_stale_go_by_age_then_those_that_change_fastest(count):
    frp = replacements["FRP"]()
    assert order(frp, count=count) == [1, 2, 0, 4, 3, 5][:count]


@pytest.mark.parametrize("count", [2, 4, 6, 7])
def test_frp_can_let_those_go_first_that_change_slowest(count):
    frp = replacements["FRP"](slowest_first=True)
    assert order(frp, count=count) == [1, 2, 0, 5, 3, 4][:count]


@pytest.mark.parametrize("count", [1, 5, 7])
def test_lru_lets_those_go_first_that_no_window_needed_for_longest(count):
    lru = replacements["LRU"]()
    assert order(lru, count=count) == [6, 5, 4, 3, 2, 1, 0][:count]


def test_what_is_refreshed_now_stays():
    movable = [False, True, True, True, False, True, True]
    assert order(replacements["FRP"](), count=7, movable=movable) == [1, 2, 3, 5]
    assert order(replacements["LRU"](), count=7, movable=movable) == [6, 5, 3, 2, 1]


def test_by_expected_use_what_is_fresh_and_often_needed_stays():
    units = new_units(np.zeros(5, np.int64), np.ones(5, np.int64), 1)
    units.refreshed_ms[:], units.watched = T - 1, 40
    units.interval_ms[:] = [100, 100, 100, 2, 100]
    units.set_needed(np.arange(5), np.array([30.0, 3.0, 10.0, 30.0, 3.0]))
    needed = np.array([False, False, False, False, True])
    replacement = replacements["EFG"]()
    moment = Moment(T, 2, 1)
    found = replacement.order(units, np.ones(5, np.bool_), needed, moment=moment, count=5)
    # Rarely needed; needed at times; needed often, but perhaps changed; needed often; needed now.
    assert found.tolist() == [1, 2, 3, 0, 4]
    units.held[3], units.refreshed_ms[3] = True, T - 20
    found = replacement.order(units, np.ones(5, np.bool_), needed, moment=moment, count=5)
    # What has changed for certain spares nothing.
    assert found.tolist() == [3, 1, 2, 0, 4]
