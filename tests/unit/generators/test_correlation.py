import numpy as np
import pytest

from bestbefore.generators.correlation import correlate

from .columns import rank_correlation


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
