"""The count of fresh units: right at every moment, and never larger than it need be."""

import numpy as np

from bestbefore.view.fresh_count import FreshCount
from bestbefore.view.units import new_units

LATER = 10**6


def some_units(size):
    units = new_units(np.zeros(size, np.int64), np.ones(size, np.int64), 1)
    units.best_before_ms[:] = LATER + np.arange(size)
    return units


def test_it_begins_anew_when_as_much_came_and_went_as_there_are_units_and_a_thousand():
    units = some_units(10)
    count = FreshCount(units, 0)
    for _ in range(505):
        count.change(np.array([3]))
        units.best_before_ms[3] += 1
        assert count.at(0) == (10, 10)
        assert not count.large
    count.change(np.array([3]))
    units.best_before_ms[3] += 1
    count.settle()
    assert count.large


def test_a_unit_is_fresh_until_its_best_before_time():
    units = some_units(3)
    count = FreshCount(units, 0)
    assert [count.at(LATER + ms) for ms in (-1, 0, 1)] == [(3, 3), (3, 2), (3, 1)]
    count.change(np.array([0, 2]))
    units.best_before_ms[0], units.held[2] = LATER + 5, False
    assert [count.at(LATER + ms) for ms in (1, 4, 5)] == [(2, 1), (2, 1), (2, 0)]
