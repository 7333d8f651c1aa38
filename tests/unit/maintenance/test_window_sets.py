"""The sets A to G (thesis section 6.2.2)."""

import numpy as np

from bestbefore.maintenance import Outcome, WindowSets, WindowUnits, window_sets


def test_an_outcome_of_which_nothing_is_told_has_empty_sets():
    assert Outcome(1, 0).sets.sizes() == dict.fromkeys("ABCDEFG", 0)
    assert WindowSets().completeness is None


def test_a_1_1_join_counts_units_of_the_view_and_mappings_of_the_window():
    window = WindowUnits(np.arange(4), np.full(4, 2), np.array([5, 3, 2, 1]), unknown=7)
    held = np.array([True, True, True, False])
    fresh = np.array([True, False, False, False])
    found = window_sets(held, fresh, window, sizes=(10, 4))
    assert found.sizes() == {"A": 3, "B": 4, "C": 1, "D": 2, "E": 5, "F": 5, "G": 8}
    assert found.mappings == 18
    assert found.completeness == 10 / 18
