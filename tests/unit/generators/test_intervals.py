import numpy as np
import pytest

from bestbefore.generators.intervals import (
    beta_intervals,
    lognormal_intervals,
    lognormal_quantiles,
    uniform_intervals,
)


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
