from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.engine.key_statistics import (
    KeyCounts,
    counts_of,
    read_statistics,
    told_mappings,
)
from bestbefore.maintenance import window_sets
from bestbefore.view import view_of


def table_of(rows, key=("k",)):
    columns = list(zip(*rows, strict=True)) or [[] for _ in range(3 + len(key))]
    names = ["from_evaluation", *(f"?{name}" for name in key), "remaining", "mappings"]
    kinds = [pa.int64(), *(pa.string() for _ in key), pa.int64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays([*arrays, arrays[0]], names=[*names, "to_evaluation"])


def statistics(rows, *, key=("k",), learn=False):
    units = [tuple(f"{name}{i}" for name in key) for i in range(4)]
    view = view_of(units, list(key), list(key))
    counts = counts_of(table_of(rows, key), [f"?{name}" for name in key])
    return read_statistics(counts, view, learn=learn)


def linked(rows):
    """Join keys a (units x, y), b (unit x twice) and c (unit z) of a view of edges."""
    edges = [("a", "x", "1"), ("a", "y", "1"), ("b", "x", "1"), ("b", "x", "2"), ("c", "z", "1")]
    view = view_of(edges, ["k", "u", "v"], ["u"], join_key=["k"])
    return view, read_statistics(counts_of(table_of(rows), ["?k"]), view)


def sets_at(units, window, t_ms):
    fresh = units.held & (units.best_before_ms > t_ms)
    sizes = int(units.held.sum()), int(fresh.sum())
    return window_sets(units.held[window.unit], fresh[window.unit], window, sizes=sizes)


def test_counts_by_l_are_kept_and_the_latest_mapping_decides_l():
    found = statistics([(7, "k2", 1, 5), (7, "k2", 3, 2), (7, "k0", 2, 1), (8, "k2", 2, 2)])
    needs = found.units_of(7)
    assert needs.unit.tolist() == [0, 2]
    assert needs.remaining.tolist() == [2, 3]
    assert needs.mappings.tolist() == [1, 7]
    # Σ min(L, B): k0 min(2, 2); k2 five times min(1, 2) and twice min(3, 2).
    assert needs.results(np.array([2, 2])).tolist() == [2.0, 9.0]
    assert np.unique(found.evaluation).tolist() == [7, 8]


RANGES = pa.table(
    {
        "from_evaluation": [7, 8, 7],
        "to_evaluation": [9, 8, 7],
        "remaining": [3, 1, 1],
        "mappings": [2, 5, 4],
        "?k": ["k1", "k1", "k3"],
    }
)


def test_a_range_of_evaluations_counts_in_each_with_an_l_that_goes_down():
    view = view_of([(f"k{i}",) for i in range(4)], ["k"], ["k"])
    counts = counts_of(RANGES, ["?k"])
    assert counts.evaluations.tolist() == [7, 8, 9]
    found = read_statistics(counts, view)
    listed = [found.evaluation, found.join_key, found.remaining, found.mappings]
    assert sorted(zip(*(column.tolist() for column in listed), strict=True)) == [
        (7, 1, 3, 2), (7, 3, 1, 4), (8, 1, 1, 5), (8, 1, 2, 2), (9, 1, 1, 2)
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 30) | st.just(10**12), st.integers(0, 9)), min_size=1))
def test_the_evaluations_of_ranges_are_those_in_any_however_far_they_are_apart(ranges):
    first, length = map(np.array, zip(*ranges, strict=True))
    same = np.zeros_like(first)
    counts = KeyCounts([("k",)], same, first, first + length, same, same)
    expected = {one for low, more in ranges for one in range(low, low + more + 1)}
    assert counts.evaluations.tolist() == sorted(expected)


def test_statistics_tell_the_mappings_of_the_evaluations_that_are_answered():
    told = told_mappings(counts_of(RANGES, ["?k"]), ["?k"], [7, 8]).to_pylist()
    assert told == [
        {"evaluation": 7, "mappings": 2, "?k": "k1"},
        {"evaluation": 7, "mappings": 4, "?k": "k3"},
        {"evaluation": 8, "mappings": 7, "?k": "k1"},
    ]
    nothing = counts_of(RANGES.slice(0, 0), ["?k"])
    assert told_mappings(nothing, ["?k"], [7]).num_rows == 0
    assert nothing.evaluations.tolist() == []


@given(
    st.sampled_from([0, 10**9]),
    st.sampled_from([3, 10**6]),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(1, 3)), min_size=1),
)
def test_mappings_are_told_however_late_and_far_apart_their_evaluations_are(late, apart, found):
    rows = [(late + apart * number, f"k{key}", 1, count) for number, key, count in found]
    evaluations, counts = sorted({row[0] for row in rows})[:-1], Counter()
    for number, key, _, count in rows:
        if number in evaluations:
            counts[number, key] += count
    told = told_mappings(counts_of(table_of(rows), ["?k"]), ["?k"], evaluations).to_pylist()
    assert {(one["evaluation"], one["?k"]): one["mappings"] for one in told} == counts
    assert [one["evaluation"] for one in told] == sorted(one["evaluation"] for one in told)


def test_a_variable_of_the_join_key_that_is_not_bound_is_told_as_such():
    rows = [(7, "a1", None, 1, 2), (7, "a1", "b1", 1, 3)]
    told = told_mappings(counts_of(table_of(rows, ("a", "b")), ["?a", "?b"]), ["?a", "?b"], [7])
    assert sorted(row["mappings"] for row in told.to_pylist() if row["?b"] is None) == [2]
    assert sorted(row["mappings"] for row in told.to_pylist() if row["?b"] == "b1") == [3]


def test_keys_that_the_view_does_not_know_are_counted():
    found = statistics([(7, "x", 1, 3), (7, "y", 1, 2), (7, "k1", 1, 5)])
    needs = found.units_of(7)
    assert needs.unit.tolist() == [1]
    assert needs.unknown == 5
    assert sets_at(found.view.units, needs, 0).completeness == 0.5


def test_keys_that_the_view_gets_to_know_are_units_it_does_not_hold():
    found = statistics([(7, "y", 1, 3), (7, "x", 1, 2), (7, "k1", 1, 5)], learn=True)
    needs = found.units_of(7)
    assert (needs.unit.tolist(), needs.unknown) == ([1, 4, 5], 0)
    assert found.view.keys[4:] == [("x",), ("y",)]
    assert found.view.units.held.tolist() == [True] * 4 + [False] * 2
    assert sets_at(found.view.units, needs, 0).completeness == 0.5


def test_a_window_without_mappings_needs_nothing():
    found = statistics([(7, "k1", 1, 5)])
    needs = found.units_of(9)
    assert needs.unit.tolist() == []
    assert sets_at(found.view.units, needs, 0).completeness is None
    assert statistics([]).evaluation.tolist() == []


def test_join_keys_of_several_variables():
    found = statistics([(1, "a1", "b1", 1, 2), (1, "a1", "b2", 1, 4)], key=("a", "b"))
    assert found.units_of(1).unit.tolist() == [1]
    assert found.units_of(1).unknown == 4


def test_linked_units_serve_all_their_join_keys():
    view, found = linked([(1, "b", 2, 3), (1, "a", 1, 1), (1, "stranger", 1, 7)])
    needs = found.units_of(1)
    assert [view.keys[unit] for unit in needs.unit] == [("x",), ("y",)]
    # x: one row for a's mapping, two rows for each of b's three.
    assert needs.mappings.tolist() == [7, 1]
    assert needs.remaining.tolist() == [2, 1]
    assert needs.results(np.array([2, 2])).tolist() == [1 + 2 * 3 * 2, 1]
    unit, rows = view.joined(found.join_keys(1))
    assert sorted(view.columns(rows)["k"].to_pylist()) == ["a", "a", "b", "b"]
    assert sorted(view.keys[each][0] for each in unit) == ["x", "x", "x", "y"]


def test_links_are_looked_up_when_a_window_s_turn_comes():
    view, found = linked([(1, "a", 1, 1), (2, "stranger", 1, 1), (2, "c", 1, 1)])
    assert [view.keys[unit] for unit in found.units_of(2).unit] == [("z",)]
    view.replace(np.array([1]), [[("stranger", "y", "5")]])
    assert [view.keys[unit] for unit in found.units_of(1).unit] == [("x",)]
    assert [view.keys[unit] for unit in found.units_of(2).unit] == [("y",), ("z",)]


def test_a_linked_window_without_mappings_or_without_rows_needs_nothing():
    view, found = linked([(1, "stranger", 1, 4)])
    for window, mappings in ((1, 4), (2, 0)):
        needs = found.units_of(window)
        assert len(needs) == 0
        sets = sets_at(view.units, needs, 0)
        assert (sets.g, sets.mappings) == (mappings, mappings)
        assert len(view.joined(found.join_keys(window))[1]) == 0


def test_the_sets_a_to_g_of_a_1_to_1_join():
    found = statistics(
        [(1, "k0", 1, 2), (1, "k1", 1, 3), (1, "x", 1, 5), (1, "y", 1, 1)], learn=True
    )
    units = found.view.units
    units.best_before_ms[:4] = [5, 20, 5, 20]
    units.held[4] = True  # x was fetched
    units.best_before_ms[4] = 20
    sets = sets_at(units, found.units_of(1), 10)
    # k3 | k2 | k1, x | k0; mappings of k1 and x | of k0 | of y.
    assert sets.sizes() == {"A": 1, "B": 1, "C": 2, "D": 1, "E": 8, "F": 2, "G": 1}
    assert sets.completeness == 10 / 11


def test_the_sets_of_an_m_to_n_join_count_a_mapping_with_fresh_and_stale_units_twice():
    view, found = linked([(1, "a", 1, 2), (1, "b", 1, 3), (1, "stranger", 1, 4)])
    view.units.best_before_ms[:] = [20, 5, 5]
    sets = sets_at(view.units, found.units_of(1), 10)
    assert sets.sizes() == {"A": 0, "B": 1, "C": 1, "D": 1, "E": 5, "F": 2, "G": 4}
    assert sets.completeness == 5 / 9


def test_what_is_told_in_several_parts_is_one_count():
    parts = [(7, "k2", 3, 5), (7, "k0", 2, 1), (7, "k2", 3, 2), (8, "k2", 2, 2)]
    found = statistics(parts)
    assert [column.tolist() for column in found.entries(7)] == [[0, 2], [2, 3], [1, 7]]
    assert [column.tolist() for column in found.entries(8)] == [[2], [2], [2]]
