"""Snapshots keep what was learned of the units' changes, unit by unit."""

import numpy as np

from bestbefore.checkpoint import load_snapshot, save_snapshot
from bestbefore.storage import LocalStorage
from bestbefore.view import ChangeRates, view_of

MANY = 70_000


def rates_of(units):
    return ChangeRates(units, width_ms=10_000, slide_ms=1_000)


def test_what_was_learned_of_some_of_many_units_is_theirs_afterwards(tmp_path):
    view = view_of([(f'"{n:05}"',) for n in range(MANY)], ["k"], ["k"])
    view.units.rates = rates_of(MANY)
    # After an hour any fast rate explains a change alike: nothing is learned of these.
    seen, age_ms = np.array([3, 5, MANY - 1]), np.array([2_000, 3_600_000, 5_000])
    view.units.rates.observe(
        seen, np.array([0.5, 0.0, -1.25]), age_ms, np.array([False, True, False])
    )
    learned = view.units.rates.interval_ms(np.arange(MANY))
    assert len(set(learned[[0, *seen]].tolist())) == 4
    storage = LocalStorage(str(tmp_path))
    view.refreshes = 7
    save_snapshot(view, storage, "s")
    assert view.refreshes == 0
    again = load_snapshot(storage, "s", rates=rates_of(0))
    assert again.units.rates.interval_ms(np.arange(MANY)).tolist() == learned.tolist()
    assert again.units.rates.need[seen].tolist() == [0.5, 0.0, -1.25]
    assert again.units.rates.population == view.units.rates.population
