import numpy as np
import pytest

from bestbefore.generators.keys import (
    beta_intervals,
    correlate,
    lognormal_intervals,
    lognormal_quantiles,
    uniform_intervals,
)

from .columns import rank_correlation


def test_uniform(rng):
    drawn = uniform_intervals(20_000, low_ms=100, high_ms=3_000, rng=rng)
    assert (drawn.min(), drawn.max()) == (100, 3_000)
    assert drawn.mean() == pytest.approx(1_550, rel=0.02)


def test_bounds_may_be_one_number(rng):
    assert set(uniform_intervals(5, low_ms=7, high_ms=7, rng=rng).tolist()) == {7}
    assert set(beta_intervals(5, 7, 7, a=2.0, b=3.0, rng=rng).tolist()) == {7}


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (50.0, 1.0), (0.5, 2.0)])
def test_beta(rng, a, b):
    drawn = beta_intervals(20_000, 1_000, 2_000, a=a, b=b, rng=rng)
    assert drawn.min() >= 1_000
    assert drawn.max() <= 2_000
    assert drawn.mean() == pytest.approx(1_000 + 1_000 * a / (a + b), rel=0.01)


def test_lognormal(rng):
    drawn = lognormal_intervals(40_000, median_ms=1_000, p90_ms=4_000, rng=rng)
    assert np.median(drawn) == pytest.approx(1_000, rel=0.03)
    assert np.quantile(drawn, 0.9) == pytest.approx(4_000, rel=0.03)


def test_intervals_are_never_0(rng):
    assert lognormal_intervals(1_000, median_ms=1, p90_ms=50, rng=rng).min() == 1


def test_quantiles_leave_nothing_to_chance():
    values = lognormal_quantiles(400, median=0.034, p90=0.129)
    assert np.all(np.diff(values) > 0)
    assert np.median(values) == pytest.approx(0.034, rel=0.001)
    assert np.quantile(values, 0.9) == pytest.approx(0.129, rel=0.01)


@pytest.mark.parametrize("correlation", [-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0])
def test_the_rank_correlation_is_as_wanted_and_the_values_stay(rng, correlation):
    partner = rng.exponential(size=4_000)
    values = rng.lognormal(size=4_000)
    correlated = correlate(values, partner, correlation=correlation, rng=rng)
    assert rank_correlation(correlated, partner) == pytest.approx(correlation, abs=0.04)
    assert np.array_equal(np.sort(correlated), np.sort(values))


def test_full_correlation_is_the_same_or_the_opposite_order(rng):
    partner = np.array([3, 1, 2, 9])
    for sign, expected in ((1.0, [30, 10, 20, 40]), (-1.0, [20, 40, 30, 10])):
        ordered = correlate(np.array([10, 20, 30, 40]), partner, correlation=sign, rng=rng)
        assert ordered.tolist() == expected


def test_equal_partners_leave_a_random_order(rng):
    values = np.arange(2_000)
    shuffled = correlate(values, np.zeros(2_000), correlation=1.0, rng=rng)
    assert abs(rank_correlation(shuffled, values)) < 0.06
