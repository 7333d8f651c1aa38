import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import PoissonTraces, make_traces

from .columns import changes_of, rank_correlation


def test_keys_arrive_at_their_rates():
    stream = make_traces("poisson", 1, keys=4_000, duration_ms=40_000_000).stream
    # The mean of the rates is that of 1/x over the range.
    rate = np.log(3) / 1_200_000
    assert len(stream) == pytest.approx(4_000 * 40_000_000 * rate, rel=0.02)


def test_keys_change_at_their_intervals():
    traces = make_traces("poisson", 1)
    assert len(set(traces.stream.key)) == 400
    assert traces.stream.event is None
    assert traces.links is None
    for key, count in changes_of(traces).items():
        assert abs(count - 9_480_000 / traces.interval_ms[key]) <= 1
    assert min(traces.interval_ms.values()) >= 300_000
    assert max(traces.interval_ms.values()) <= 3_600_000


def test_the_stream_stays_when_only_the_background_is_changed():
    streams = [
        make_traces("poisson", 1, interval_high_ms=high).stream for high in (400_000, 500_000)
    ]
    assert streams[0].key.tolist() == streams[1].key.tolist()


def test_skewed_arrivals():
    stream = make_traces("poisson", 1, skew=1.0, duration_ms=100_000_000).stream
    counts = np.sort(np.unique(stream.key.astype(str), return_counts=True)[1])[::-1]
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.25)
    assert len(stream) == pytest.approx(400 * 100 / 1.2, rel=0.03)


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.8])
@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_keys_that_arrive_often_change_often_or_seldom(correlation, skew):
    traces = make_traces("poisson", 1, correlation=correlation, skew=skew, duration_ms=400_000_000)
    names, counts = np.unique(traces.stream.key.astype(str), return_counts=True)
    rates = [1 / traces.interval_ms[name] for name in names]
    assert rank_correlation(counts, rates) == pytest.approx(correlation, abs=0.1)


def test_other_distributions_of_intervals():
    beta = make_traces("poisson", 1, intervals="beta", beta_a=50.0)
    assert np.mean([*beta.interval_ms.values()]) == pytest.approx(3_535_000, rel=0.01)
    lognormal = make_traces("poisson", 1, intervals="lognormal", keys=4_000)
    intervals = np.array([*lognormal.interval_ms.values()])
    assert np.median(intervals) == pytest.approx(1_800_000, rel=0.05)
    assert np.quantile(intervals, 0.9) == pytest.approx(3_600_000, rel=0.05)


def test_poisson_changes():
    traces = make_traces("poisson", 1, changes="poisson", duration_ms=100_000_000)
    expected = sum(100_000_000 / each for each in traces.interval_ms.values())
    assert sum(changes_of(traces).values()) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keys": 0}, "keys = 0: it must be 1 or more"),
        ({"keys": 10**12}, "keys, more than 100,000,000"),
        ({"duration_ms": 0}, "duration_ms = 0: it must be 1 or more"),
        ({"arrival_low_ms": 0}, "arrival_low_ms = 0"),
        ({"arrival_low_ms": 10, "arrival_high_ms": 9}, "arrival_low_ms = 10 is above arrival_high"),
        ({"skew": -0.1}, "skew = -0.1: it must be 0 or more"),
        ({"skew": float("inf")}, "skew = inf"),
        ({"arrival_factor": 0.0}, "arrival_factor = 0.0: it must be above 0"),
        ({"phase_ms": 0}, "phase_ms = 0"),
        ({"interval_low_ms": -5}, "interval_low_ms = -5"),
        ({"interval_low_ms": 9, "interval_high_ms": 8}, "interval_low_ms = 9 is above interval_hi"),
        ({"beta_a": 0.0}, "beta_a = 0.0: it must be above 0"),
        ({"interval_p90_ms": 1}, "interval_median_ms = 1800000 is above interval_p90_ms = 1"),
        ({"correlation": 1.01}, "correlation = 1.01: it must lie between -1 and 1"),
        ({"correlation": float("nan")}, "correlation = nan"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        PoissonTraces(**parameters)
