"""The cheapest set for a wanted freshness, against trying every set."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.maintenance.wanted import Wanted, cheapest_lift
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view.units import new_units

T = 10_000
UNIT = st.tuples(
    st.integers(0, T), st.integers(500, 20_000), st.integers(1, 9), st.booleans(), st.booleans()
)


def estimate(age, interval, pairs, held, refreshed, writing):
    """The mean over pairs of e^(−age/I); refreshed units are as old as the writing takes."""
    ages = [writing if new else writing + old for old, new in zip(age, refreshed, strict=True)]
    there = [new or has for new, has in zip(refreshed, held, strict=True)]
    fresh = [np.exp(-a / i) * t for a, i, t in zip(ages, interval, there, strict=True)]
    return sum(f * p for f, p in zip(fresh, pairs, strict=True)) / sum(pairs)


@given(
    drawn=st.lists(UNIT, min_size=1, max_size=7),
    alpha=st.floats(0.05, 1.0),
    writing=st.sampled_from([0, 300]),
)
def test_no_smaller_set_reaches_what_is_wanted(drawn, alpha, writing):
    refreshed_ms, interval, pairs, held, ready = map(list, zip(*drawn, strict=True))
    count = len(drawn)
    units = new_units(np.zeros(count, np.int64), np.zeros(count, np.int64), 1)
    units.refreshed_ms[:], units.interval_ms[:], units.held[:] = refreshed_ms, interval, held
    window = WindowUnits(np.arange(count), np.ones(count, np.int64), np.array(pairs))
    lift = cheapest_lift(units, window, np.array(ready), Wanted(alpha, T + writing, writing))

    age = [T - moment for moment in refreshed_ms]

    def reaches(chosen):
        refreshed = [unit in chosen for unit in range(count)]
        return estimate(age, interval, pairs, held, refreshed, writing)

    can_be_asked = [unit for unit in range(count) if ready[unit]]
    sets = [set(each) for size in range(len(can_be_asked) + 1)
            for each in combinations(can_be_asked, size)]  # fmt: skip
    enough = [len(each) for each in sets if reaches(each) >= alpha - 1e-9]
    assert lift.at_best == pytest.approx(reaches(set(can_be_asked)))
    if lift.enough:
        assert reaches(set(lift.units.tolist())) >= alpha - 1e-6
        assert len(lift.units) <= min(enough, default=count + 1)
    else:
        assert all(reaches(each) < alpha + 1e-9 for each in sets)
