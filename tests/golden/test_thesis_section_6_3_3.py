"""The example of thesis section 6.3.3: a cache of six users, a window of six, budget 4.

The cache holds a to f, the window mentions a to d and, not cached, x and y. Of the cached, a, c and
d are stale. Best-before times and scores are those of acqua section 4.2 (the figure itself is not
in the text); the order of refreshes, b before d before c before a, is that of table 6.1.
"""

import numpy as np
import pytest

from bestbefore.maintenance import (
    MemoryLedger,
    Moment,
    Reply,
    Situation,
    WindowUnits,
    maintain,
    resolve_policy,
)
from bestbefore.simulator.answers import Side, compare_rows
from bestbefore.view.units import new_units

NAMES = "abcdefxy"
T = 8
REFRESHED = {"b": 1, "d": 2, "c": 3, "a": 4, "e": 5, "f": 6, "x": 0, "y": 0}
BEST_BEFORE = {"a": 7, "b": 9, "c": 6, "d": 7, "e": 5, "f": 10, "x": 0, "y": 0}
INTERVAL = {"a": 5, "b": 5, "c": 5, "d": 2, "e": 5, "f": 5, "x": 5, "y": 5}
REMAINING = {"a": 1, "b": 2, "c": 3, "d": 3, "x": 4, "y": 4}
# The thesis lets replacement by LRU remove c, then a. Which come next it does not say; it counts
# one answer less for MP(FWSJ,WBM,LRU) than the window could have, which is so if b is next.
USED = {"c": 1, "a": 2, "b": 3, "e": 4, "f": 5, "d": 6, "x": 0, "y": 0}
STALE = "acd"


def numbers(letters):
    return np.array([NAMES.index(letter) for letter in letters], dtype=np.int64)


def a_cache():
    units = new_units(np.arange(8), np.ones(8, dtype=np.int64), 1)
    for column, values in [
        (units.refreshed_ms, REFRESHED),
        (units.best_before_ms, BEST_BEFORE),
        (units.interval_ms, INTERVAL),
        (units.used_ms, USED),
    ]:
        column[:] = [values[name] for name in NAMES]
    units.held[numbers("xy")] = False
    return units


def a_window():
    ones = np.ones(6, dtype=np.int64)
    return WindowUnits(numbers(REMAINING), np.array(list(REMAINING.values())), ones)


class Cache:
    """The cached users, and whether each is stale; also the service, which has them fresh."""

    rates = None

    def __init__(self):
        self.units = a_cache()
        self.stale = np.array([name in STALE for name in NAMES])

    def replace(self, units, content):
        changed, self.stale[units] = self.stale[units], content
        return changed

    def evict(self, units):
        self.units.held[units] = False

    def fresh(self, units, t_ms):
        return self.units.held[units] & ~self.stale[units]

    def sizes(self, t_ms):
        return self.units.held.sum(), (self.units.held & ~self.stale).sum()

    def fetch(self, units):
        return Reply(units, np.zeros(len(units), dtype=np.bool_))


def maintained_by(name, seed=0):
    """The cache after the maintenance of the evaluation, and what that did."""
    cache, window = Cache(), a_window()
    situation = Situation(Moment(T, width_ms=4, slide_ms=1), budget=4, capacity=6, seed=seed)
    outcome = maintain(
        resolve_policy(name),
        cache,
        lambda: window,
        situation,
        source=cache,
        ledger=MemoryLedger(),
    )
    return cache, outcome


def elected_by(name, seed=0):
    return maintained_by(name, seed)[1]


def letters(units):
    return "".join(NAMES[unit] for unit in units)


def quality(name, seed=0):
    """Freshness, completeness and consistency of the answer after the maintenance."""
    cache, outcome = maintained_by(name, seed)
    units, window, code = cache.units, outcome.window, cache.stale.astype(np.int64)
    assert units.held.sum() <= 6
    here = units.held[window.unit]
    ours, truth = (
        Side(present, code[window.unit] * wrong, np.zeros(6))
        for present, wrong in ((here, 1), (np.ones(6, dtype=np.bool_), 0))
    )
    tally = compare_rows(window, ours, truth, np.ones(6))
    given = tally.correct + tally.wrong
    return tally.correct / given, given / 6, tally.correct / 6


@pytest.mark.parametrize("seed", range(10))
class TestTable61:
    def test_fwsj_lru(self, seed):
        assert letters(elected_by("MP(FWSJ,LRU)", seed).elected) == "bdca"

    def test_cwsj_lru(self, seed):
        elected = letters(elected_by("MP(CWSJ,LRU)", seed).elected)
        assert sorted(elected[:2]) == ["x", "y"]
        assert elected[2:] == "bd"

    def test_fwsj_wbm_elects_all_expired_and_one_missing(self, seed):
        """The thesis names x; between x and y chance decides."""
        elected = letters(elected_by("MP(FWSJ,WBM)", seed).elected)
        assert elected[0] == "c"
        assert sorted(elected[1:3]) == ["a", "d"]
        assert elected[3] in "xy"

    def test_cwsj_wbm_elects_the_missing_and_the_highest_scores(self, seed):
        """The thesis names d; a and d both have the score 1, so chance decides."""
        elected = letters(elected_by("MP(CWSJ,WBM)", seed).elected)
        assert sorted(elected[:2]) == ["x", "y"]
        assert elected[2] == "c"
        assert elected[3] in "ad"


@pytest.mark.parametrize(
    ("name", "evicted"),
    [
        ("MP(CWSJ,LRU,FRP)", "ef"),
        ("MP(CWSJ,WBM,FRP)", "ef"),
        ("MP(FWSJ,WBM,FRP)", "e"),
        ("MP(FWSJ,LRU,FRP)", ""),
        ("MP(CWSJ,LRU,LRU)", "ca"),
    ],
)
def test_who_is_replaced(name, evicted):
    assert letters(elected_by(name).evicted) == evicted


@pytest.mark.parametrize(
    ("name", "freshness", "completeness", "consistency"),
    [
        # Two rows of table 6.2 agree with the definitions of section 6.2.3.
        ("MP(FWSJ,WBM,FRP)", 1, 5 / 6, 5 / 6),
        ("MP(FWSJ,WBM,LRU)", 1, 4 / 6, 4 / 6),
        # 75 % and 83.4 % in the table, but 66.7 % consistent: with four correct answers of six
        # given none can be wrong, so the consistency holds and the other two do not.
        ("MP(CWSJ,WBM,LRU)", 1, 4 / 6, 4 / 6),
        # 25 % and 50 % in the table, which counts d as stale although it was elected.
        ("MP(CWSJ,LRU,LRU)", 1, 4 / 6, 4 / 6),
        # 50 % and 83.4 % in the table: no answer can be more consistent than it is fresh. Of six
        # answers, those of a and c are stale.
        ("MP(CWSJ,LRU,FRP)", 4 / 6, 1, 4 / 6),
        # 100 % in the table, but with budget 4 only one of a and d can be refreshed beside c, x, y.
        ("MP(CWSJ,WBM,FRP)", 5 / 6, 1, 5 / 6),
    ],
)
def test_table_6_2_by_its_own_definitions(name, freshness, completeness, consistency):
    """Replacement by LRU never evicts what is refreshed now.

    The thesis evicts c although it was elected, gives it back its place, and has none left for x;
    both ways MP(FWSJ,WBM,LRU) and MP(CWSJ,WBM,LRU) are 66.7 % consistent.
    """
    seed = next(seed for seed in range(20) if letters(elected_by(name, seed).elected)[-1] != "a")
    found = quality(name, seed)
    assert found == pytest.approx((freshness, completeness, consistency))
