"""The figures of a run, from columns by evaluation."""

from dataclasses import replace

import numpy as np
import pytest

from bestbefore.simulator.result import empty_series, summarise, with_gains


@pytest.fixture
def series():
    """Four evaluations: one without answers, then X = 3, Y = 1, Z = 4; all right; nothing due."""
    made = empty_series(4)
    made.correct[:], made.wrong[:], made.missing[:] = [0, 3, 2, 0], [0, 1, 0, 0], [5, 4, 0, 0]
    made.union[:], made.refreshes[:], made.evicted[:] = [5, 9, 2, 0], [7, 1, 2, 3], [9, 1, 0, 2]
    made.candidates[:], made.estimated[:] = [9, 4, 5, 6], [np.nan, 0.5, 0.75, np.nan]
    made.calibration[1, [2, 9]] = [[3, 0.75, 2], [1, 0.95, 1]]
    made.calibration[2, 9] = [4, 3.8, 3]
    made.sets[:, 0], made.sets[:, 6] = [9, 1, 2, 3], [9, 4, 5, 9]
    return made


def test_ratios_are_nan_without_answers_and_say_nothing_of_it(series):
    with np.errstate(all="raise"):
        assert np.nan_to_num(series.freshness, nan=-1).tolist() == [-1, 0.75, 1, -1]
        assert np.nan_to_num(series.completeness, nan=-1).tolist() == [0, 0.5, 1, -1]
        assert np.nan_to_num(series.consistency, nan=-1).tolist() == [0, 0.375, 1, -1]
        assert series.jaccard.tolist() == [1, pytest.approx(2 / 3), 0, 0]


def test_the_summary_is_of_the_evaluations_after_the_warm_up(series):
    result = summarise(series, "WBM", budget=3, seed=5, warmup=0.25)
    assert (result.policy, result.budget, result.seed, result.evaluations) == ("WBM", 3, 5, 3)
    assert (result.candidates, result.spent, result.refreshes, result.requests) == (5, 2, 6, 6)
    assert result.evictions == 3
    assert (result.freshness, result.completeness, result.consistency) == (0.875, 0.75, 0.6875)
    assert (result.estimated_freshness, result.estimate_error) == (0.625, 0.25)
    assert result.jaccard == pytest.approx(2 / 3)
    assert (result.sets["A"], result.sets["B"], result.sets["G"]) == (2, 0, 6)
    assert summarise(series.from_(3), "WBM", budget=3, seed=5, warmup=0).freshness is None


def test_the_calibration_error_is_the_mean_distance_by_tenth(series):
    result = summarise(series, "WBM", budget=3, seed=5, warmup=0.25)
    assert result.calibration["answers"] == [0, 0, 3, 0, 0, 0, 0, 0, 0, 5]
    assert result.calibration["correct"] == [0, 0, 2, 0, 0, 0, 0, 0, 0, 4]
    assert result.calibration_error == pytest.approx((abs(0.75 - 2) + abs(4.75 - 4)) / 8)
    after = summarise(series, "WBM", budget=3, seed=5, warmup=0.5)
    assert after.calibration_error == pytest.approx(abs(3.8 - 3) / 4)
    assert summarise(series.from_(3), "WBM", budget=3, seed=5, warmup=0).calibration_error is None


def test_a_gain_is_over_the_next_smaller_budget_of_the_same_run(series):
    one = summarise(series, "WBM", budget=1, seed=0, warmup=0)
    results = [
        replace(one, freshness=0.5),
        replace(one, budget=3, freshness=0.75),
        replace(one, budget=7, freshness=0.5),
        replace(one, budget=3, seed=1, freshness=0.75),
        replace(one, budget=7, seed=1, freshness=None),
    ]
    gains = [result.gain for result in with_gains(results)]
    assert gains == [None, 0.125, -0.0625, None, None]


def test_figures_are_rounded_to_six_places(series):
    told = summarise(series, "WBM", budget=1, seed=0, warmup=0.25).to_dict()
    assert told["jaccard"] == 0.666667
    assert told["sets"]["G"] == 6.0
    assert told["budget"] == 1
    assert told["calibration"]["predicted"][-1] == 4.75
