import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators.arrivals import Alternation, poisson_arrivals, zipf_means


def test_a_key_arrives_at_its_expected_interval(rng):
    mean_ms = np.array([1_000.0, 2_000.0, 8_000.0])
    arrivals = poisson_arrivals(mean_ms, duration_ms=8_000_000, rng=rng)
    counts = np.bincount(arrivals.key)
    assert counts == pytest.approx(8_000_000 / mean_ms, rel=0.06)
    gaps = np.diff(arrivals.ts_ms[arrivals.key == 0])
    assert gaps.mean() == pytest.approx(1_000, rel=0.03)
    # The deviation of an exponential distribution is its mean.
    assert gaps.std() == pytest.approx(1_000, rel=0.05)


def test_arrivals_lie_after_the_start_and_up_to_the_end(rng):
    arrivals = poisson_arrivals(np.array([1.5]), duration_ms=1_000, rng=rng)
    assert arrivals.ts_ms.min() >= 1
    assert arrivals.ts_ms.max() <= 1_000
    assert np.all(np.diff(arrivals.ts_ms) >= 0)


@pytest.mark.parametrize("factor", [0.95, 0.5, 2.0])
def test_the_rate_alternates_from_phase_to_phase(rng, factor):
    arrivals = poisson_arrivals(
        np.full(20, 10.0),
        duration_ms=100_000,
        rng=rng,
        alternation=Alternation(factor=factor, phase_ms=1_000),
    )
    odd = (arrivals.ts_ms - 1) // 1_000 % 2 == 1
    assert (~odd).sum() == pytest.approx(100_000, rel=0.02)
    assert odd.sum() == pytest.approx(100_000 / factor, rel=0.02)


def test_the_last_phase_may_be_cut_short(rng):
    arrivals = poisson_arrivals(
        np.array([1.0]), duration_ms=2_500, rng=rng, alternation=Alternation(0.25, 1_000)
    )
    counts = np.bincount((arrivals.ts_ms - 1) // 1_000)
    assert counts == pytest.approx([1_000, 4_000, 500], rel=0.15)


def test_zipf_rates_keep_the_total_rate(rng):
    steady, skewed = (1 / zipf_means(100, skew=skew, mean_ms=50.0, rng=rng) for skew in (0.0, 1.0))
    assert steady == pytest.approx(np.full(100, 1 / 50))
    assert skewed.sum() == pytest.approx(100 / 50)
    assert skewed.max() / skewed.min() == pytest.approx(100)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_factor_is_positive(factor):
    with pytest.raises(InputError, match="arrival_factor = .*: it must be above 0"):
        Alternation(factor=factor)


def test_a_phase_has_a_length():
    with pytest.raises(InputError, match="phase_ms = 0: it must be 1 or more"):
        Alternation(phase_ms=0)


def test_a_stream_without_elements_is_refused(rng):
    with pytest.raises(InputError, match="no key arrives within 5 ms"):
        poisson_arrivals(np.array([1e9]), duration_ms=5, rng=rng)


def test_a_stream_that_does_not_fit_into_memory_is_refused(rng):
    with pytest.raises(InputError, match=r"about 1e\+12 arrivals, more than 100,000,000; take"):
        poisson_arrivals(np.array([1.0]), duration_ms=10**12, rng=rng)
