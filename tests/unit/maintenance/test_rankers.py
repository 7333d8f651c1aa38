import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bestbefore.maintenance.best_before import next_best_before
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers import NEVER
from bestbefore.maintenance.rankers.baselines import LeastRecentlyRefreshed, TimeToLive
from bestbefore.maintenance.rankers.ranker import elect_highest
from bestbefore.maintenance.rankers.window_based import WindowBasedMaintenance
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view.units import new_units

few = st.sampled_from([NEVER, -1.0, 0.0, 1.0, 2.0])


@given(arrays(np.float64, st.integers(0, 30), elements=few), st.integers(0, 35))
def test_the_elected_have_the_highest_scores(scores, budget):
    elected = elect_highest(scores, budget=budget, rng=np.random.default_rng(0))
    eligible = np.sort(scores[scores > NEVER])[::-1]
    assert scores[elected].tolist() == eligible[:budget].tolist()
    assert len(set(elected.tolist())) == len(elected)


def test_ties_are_broken_at_random_and_fairly():
    counts = np.zeros(10)
    for seed in range(2_000):
        elected = elect_highest(np.zeros(10), budget=3, rng=np.random.default_rng(seed))
        counts[elected] += 1
    assert counts.min() > 500
    assert counts.max() < 700


def columns(**given_columns):
    size = len(next(iter(given_columns.values())))
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    stream = {name: np.zeros(size, dtype=np.int64) for name in ("remaining", "mappings")}
    for name, column in given_columns.items():
        if name in stream:
            stream[name] = np.array(column)
        else:
            getattr(units, name)[:] = column
    window = WindowUnits(np.arange(size), **stream)
    return CandidateSet(window.unit, units, window, threshold=0.0)


def test_lru_prefers_the_longest_unrefreshed():
    candidates = columns(refreshed_ms=[50, 10, 90])
    scores = LeastRecentlyRefreshed().score(candidates, Moment(100, 10, 5))
    assert np.argsort(-scores).tolist() == [1, 0, 2]


def test_a_time_to_live_leaves_the_young_and_prefers_the_oldest():
    """At 100 the last refreshes are 30, 49, 50, 51 and 90 ago, and live for 50."""
    candidates = columns(refreshed_ms=[70, 51, 50, 49, 10])
    scores = TimeToLive(50).score(candidates, Moment(100, 10, 5))
    assert scores.tolist() == [NEVER, NEVER, 50, 51, 90]


def test_an_overdue_unit_is_renewed_past_now():
    renewed = next_best_before(np.array([0, 0, 0, 120]), np.array([30, 50, 200, 30]), 100)
    assert renewed.tolist() == [120, 150, 200, 120]


INSTANTS = st.integers(-(2**50), 2**50)


@given(INSTANTS, st.integers(1, 2**62), INSTANTS, st.integers(0, 2**20))
@example(0, 2**52 - 1, 2**50, 0)
@example(-(2**50), 3, 2**50, 0)
def test_a_best_before_time_is_the_first_after_now_to_the_millisecond(begin, interval, t, turns):
    for best_before in (begin, t - turns * interval, t - turns * interval + 1):
        if abs(best_before) <= 2**51:
            (renewed,) = next_best_before(np.array([best_before]), np.array([interval]), t)
            at_most = min(interval, 2**52)
            assert (renewed - best_before) % at_most == 0
            assert renewed > t
            assert renewed - at_most <= t or renewed == best_before


def test_with_a_tumbling_window_v_alone_decides():
    candidates = columns(
        best_before_ms=[90, 90], interval_ms=[100, 20], remaining=[1, 1], mappings=[1, 1]
    )
    sliding = WindowBasedMaintenance().score(candidates, Moment(100, 20, 10))
    tumbling = WindowBasedMaintenance().score(candidates, Moment(100, 10, 10))
    assert sliding.tolist() == [1, 1]
    assert tumbling.tolist() == [9, 1]


def test_fill_ranks_the_not_expired_behind_all_expired():
    candidates = columns(
        best_before_ms=[200, 90, 500], interval_ms=[10, 10, 10], remaining=[3, 0, 1]
    )
    moment = Moment(100, 40, 10)
    assert WindowBasedMaintenance().score(candidates, moment).tolist() == [NEVER, 0, NEVER]
    filled = WindowBasedMaintenance(fill=True).score(candidates, moment)
    assert np.argsort(-filled).tolist() == [1, 0, 2]


def test_freshness_falls_with_age_and_recovers_with_a_refresh():
    units = new_units(np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64), 10)
    units.refreshed_ms[:] = [100, 90, 0]
    fresh = units.fresh_probability(np.arange(3), 100)
    assert fresh[0] == 1
    assert fresh[1] == pytest.approx(np.exp(-1))
    assert fresh[2] < 1e-4
