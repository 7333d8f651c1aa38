"""A view that puts off what would take as long as it is large tells what a plain one would."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.checkpoint import load_snapshot, save_snapshot
from bestbefore.maintenance import Moment, apply_outcome
from bestbefore.maintenance.replacement import FreshnessReplacement, LeastRecentlyUsed
from bestbefore.storage import LocalStorage
from bestbefore.view import UnitDefaults, local_view, view_of
from bestbefore.view.key_index import KeyIndex
from bestbefore.view.units import new_units
from tests.outcomes import outcome_of

INTERVAL = 1_000
seeds = st.integers(0, 2**32 - 1)


class PlainView:
    """Units in the order in which they became known; rows and best-before times of those held.

    Those that became known between two times that it was compacted are in the order of their keys.
    """

    def __init__(self, rows):
        self.known, self.rows, self.best_before = [], {}, {}
        for row in rows:
            self.rows.setdefault((row[1],), []).append(row)
        self.known, self.best_before = list(self.rows), dict.fromkeys(self.rows, 0)
        self.failing, self.new = set(), set()

    def learn(self, keys):
        new = sorted(set(keys) - set(self.known))
        self.known += new
        self.new.update(new)

    def replace(self, key, rows, t_ms):
        self.failing.discard(key)
        before = self.best_before.get(key)
        if before is None:
            self.best_before[key] = t_ms + INTERVAL
        elif before <= t_ms:
            self.best_before[key] += ((t_ms - before) // INTERVAL + 1) * INTERVAL
        # The same rows in another order are no others.
        if key not in self.rows or sorted(self.rows[key]) != sorted(rows):
            self.rows[key] = list(rows)

    def evict(self, key):
        del self.rows[key], self.best_before[key]

    def compact(self):
        old = [key for key in self.known if key not in self.new]
        self.known, self.new = old + sorted(self.new), set()
        self.known = [key for key in self.known if key in self.rows or key in self.failing]

    def held(self):
        return {key: self.rows[key] for key in self.known if key in self.rows}

    def joined(self, join_key):
        return [row for rows in self.held().values() for row in rows if row[0] == join_key]

    def sizes(self, t_ms):
        return len(self.rows), sum(time > t_ms for time in self.best_before.values())


def some_rows(key, rng):
    keys = rng.choice(8, rng.integers(0, 4), replace=False)
    return [(f"j{number}", key[0], f"v{rng.integers(3)}") for number in keys]


def told(view):
    """The units that the view holds, in their order, with their rows."""
    return {
        key: view.rows_of(unit)
        for unit, key in enumerate(view.keys)
        if view.units.held[unit] and view.numbers([key])[0] == unit
    }


def joined(view, join_key):
    """The rows of a join key, by its number as by its links."""
    (number,) = view.join_numbers([(join_key,)])
    if number < 0:
        return []
    unit, rows = view.joined(np.array([number]))
    _, linked = view.links().units(np.array([number]))
    assert linked.tolist() == unit.tolist()
    found = [tuple(row.values()) for row in view.columns(rows).to_pylist()]
    assert [view.keys[each] for each in unit] == [(row[1],) for row in found]
    return found


def a_step(view, plain, t_ms, rng):
    """An evaluation: units that the view knows or not are fetched, others leave."""
    known = list(plain.held())
    chosen = {(f"u{rng.integers(40)}",) for _ in range(rng.integers(0, 6))}
    chosen |= {known[place] for place in rng.integers(0, max(1, len(known)), 2) if known}
    fetched = {key: some_rows(key, rng) for key in sorted(chosen)}
    leaving = [key for key in known if key not in fetched and rng.random() < 0.15]
    met = [(f"u{number}",) for number in rng.integers(0, 40, 3)]
    view.learn(met)
    view.learn_joins((f"j{number}",) for number in rng.integers(0, 12, 2))
    plain.learn(met)
    plain.learn(fetched)
    failed = {key: "down" for key in met if key not in fetched and rng.random() < 0.3}
    plain.failing |= set(failed)
    apply_outcome(view, outcome_of(view, t_ms, fetched, evicted=leaving, failed=failed))
    for key in leaving:
        plain.evict(key)
    for key, rows in fetched.items():
        plain.replace(key, rows, t_ms)


@pytest.mark.parametrize("moved", [0, 4, 1_000], ids=["holes stay", "some close", "holes close"])
@given(seeds, st.integers(0, 12), st.integers(1, 12))
def test_a_view_is_as_a_plain_one_whatever_it_puts_off(moved, seed, size, steps):
    rng = np.random.default_rng(seed)
    rows = [row for number in range(size) for row in some_rows((f"u{number}",), rng)]
    plain = PlainView(rows)
    view = view_of(rows, ["j", "u", "v"], ["u"], join_key=["j"], defaults=UnitDefaults(INTERVAL))
    view.begin(0)
    with mock.patch.multiple(local_view, _MOVED_AT_ONCE=moved, _MOVED_PER_HOLE=0):
        for step in range(steps):
            t_ms = 100 * step + int(rng.integers(0, 100)) + 1
            a_step(view, plain, t_ms, rng)
            if rng.random() < 0.6:
                assert view.sizes(t_ms) == plain.sizes(t_ms)
            for number in range(8):
                assert joined(view, f"j{number}") == plain.joined(f"j{number}")
            if rng.random() < 0.7:
                view.compact()
                plain.compact()
            assert list(told(view).items()) == list(plain.held().items())
    view.compact(fully=True)
    plain.compact()
    assert view.keys == plain.known
    assert view.units.held.tolist() == [key in plain.rows for key in plain.known]
    assert view.sizes(t_ms) == plain.sizes(t_ms)


@given(seeds, st.integers(1, 9))
def test_a_snapshot_of_a_view_with_holes_is_one_without(tmp_path_factory, seed, steps):
    rng = np.random.default_rng(seed)
    rows = [row for number in range(9) for row in some_rows((f"u{number}",), rng)]
    plain = PlainView(rows)
    view = view_of(rows, ["j", "u", "v"], ["u"], join_key=["j"], defaults=UnitDefaults(INTERVAL))
    storage = LocalStorage(str(tmp_path_factory.mktemp("view")))
    with mock.patch.multiple(local_view, _MOVED_AT_ONCE=0, _MOVED_PER_HOLE=0):
        for step in range(steps):
            a_step(view, plain, 100 * step + 1, rng)
            view.compact()
            plain.compact()
        save_snapshot(view, storage, "s")
    again = load_snapshot(storage, "s", UnitDefaults(INTERVAL))
    assert told(again) == told(view) == plain.held()
    assert again.keys == view.keys == plain.known
    assert again.sizes(1_000) == view.sizes(1_000) == plain.sizes(1_000)


@given(seeds, st.integers(1, 40))
def test_keys_are_found_by_the_numbers_that_they_have(seed, steps):
    rng = np.random.default_rng(seed)
    index, numbers, size = KeyIndex(), {}, 0
    for _ in range(steps):
        names = [(f"{number}",) for number in rng.integers(0, 400, rng.integers(0, 60))]
        new = dict.fromkeys(name for name in names if name not in numbers)
        index.append(new)
        numbers |= {name: size + place for place, name in enumerate(new)}
        size += len(new)
        gone = [name for name in numbers if rng.random() < 0.2]
        index.remove(np.array([numbers.pop(name) for name in gone], dtype=np.int64))
        if rng.random() < 0.4:
            first = int(rng.integers(0, size + 1))
            kept = np.array(sorted(each for each in numbers.values() if each >= first), np.int64)
            moved = dict(zip(kept.tolist(), range(first, size), strict=False))
            numbers = {name: moved.get(each, each) for name, each in numbers.items()}
            index.move_up(kept, first)
            size = first + len(kept)
        wanted = [(f"{number}",) for number in range(400)]
        assert index.find(wanted).tolist() == [numbers.get(name, -1) for name in wanted]
        assert len(index) == size


@given(seeds, st.integers(0, 60), st.integers(0, 70), st.booleans())
def test_the_first_to_leave_are_those_of_the_sorted_list(seed, size, count, slowest):
    rng = np.random.default_rng(seed)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    for column in (units.used_ms, units.best_before_ms, units.interval_ms):
        column[:] = rng.integers(1, 6, size)
    movable, needed = rng.random(size) < 0.8, rng.random(size) < 0.3
    situation = {"moment": Moment(3, 2, 1), "count": count}
    used = sorted(np.flatnonzero(movable).tolist(), key=lambda unit: units.used_ms[unit])
    found = LeastRecentlyUsed().order(units, movable, needed, **situation)
    assert found[:count].tolist() == used[:count]

    def stale_first(unit):
        fresh = units.best_before_ms[unit] > 3
        interval = units.interval_ms[unit] * (-1 if slowest else 1)
        return fresh, interval if fresh else units.best_before_ms[unit]

    order = sorted(np.flatnonzero(movable & ~needed).tolist(), key=stale_first)
    found = FreshnessReplacement(slowest).order(units, movable, needed, **situation)
    assert found[:count].tolist() == order[:count]
