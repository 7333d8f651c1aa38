import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import TwitterLike, make_traces

from .columns import changes_of, rank_correlation

MINUTES = 158


@pytest.fixture(scope="module", params=[0, 1, 2])
def traces(request):
    return make_traces("twitter-like", request.param)


def distinct_keys(stream, low_ms, high_ms):
    return len(set(stream.key[(stream.ts_ms > low_ms) & (stream.ts_ms <= high_ms)]))


def test_283_of_400_keys_are_mentioned(traces):
    assert len(changes_of(traces)) == 400
    assert len(set(traces.stream.key)) == 283
    assert traces.stream.event is None
    assert traces.links is None


def test_every_minute_mentions_between_12_and_33_keys(traces):
    ends = [60_000 * (minute + 1) for minute in range(MINUTES)]
    counts = [distinct_keys(traces.stream, end - 60_000, end) for end in ends]
    assert 12 <= min(counts) <= 14
    assert 30 <= max(counts) <= 33
    assert traces.stream.ts_ms.max() < 60_000 * MINUTES
    # Whichever end of a minute is taken for part of it.
    assert not np.any(traces.stream.ts_ms % 60_000 == 0)


def test_a_window_of_100_s_has_about_33_keys(traces):
    ends = range(120_000, 60_000 * MINUTES + 1, 60_000)
    counts = [distinct_keys(traces.stream, end - 100_000, end) for end in ends]
    assert np.mean(counts) == pytest.approx(33, rel=0.05)


def test_some_keys_are_mentioned_much_more_often(traces):
    counts = np.sort(np.unique(traces.stream.key.astype(str), return_counts=True)[1])
    assert counts[-1] > 20 * np.median(counts)


@pytest.mark.parametrize("regular", [False, True])
def test_the_frequency_of_changes_per_minute(regular):
    traces = make_traces("twitter-like", 3, regular=regular)
    frequency = np.array([*changes_of(traces).values()]) / (MINUTES - 1)
    assert np.median(frequency) == pytest.approx(0.034, rel=0.1)
    assert np.quantile(frequency, 0.9) == pytest.approx(0.129, rel=0.1)
    expected = 60_000 / np.array([*traces.interval_ms.values()])
    assert np.median(expected) == pytest.approx(0.034, rel=0.01)
    assert np.quantile(expected, 0.9) == pytest.approx(0.129, rel=0.01)


def test_values_change_at_whole_minutes_only(traces):
    ts_ms = traces.background.ts_ms
    assert np.all(ts_ms % 60_000 == 0)
    assert len(np.unique(ts_ms)) == MINUTES
    assert ts_ms.max() == 60_000 * (MINUTES - 1)


def test_regular_changes_keep_their_distance():
    traces = make_traces("twitter-like", 3, regular=True)
    background = traces.background
    for key, interval_ms in traces.interval_ms.items():
        gaps = np.diff(background.ts_ms[background.key == key][1:])
        assert np.all(np.abs(gaps - interval_ms) <= 60_000)


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.8])
def test_popular_keys_change_often_or_seldom(rng, correlation):
    crowd = TwitterLike(correlation=correlation, active=400).crowd(rng)
    found = rank_correlation(crowd.popularity, crowd.frequency)
    assert found == pytest.approx(correlation, abs=0.1)


def test_every_minute_may_have_as_many_keys():
    stream = make_traces("twitter-like", 1, fewest_keys=20, most_keys=20, mean_keys=20).stream
    counts = [distinct_keys(stream, end - 60_000, end) for end in range(60_000, 9_480_001, 60_000)]
    assert set(counts) == {20}
    assert len(set(stream.key)) == 283


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"active": 401}, "active = 401 is above keys = 400"),
        ({"active": 0}, "active = 0"),
        ({"active": 20}, "most_keys = 33 is above active = 20"),
        ({"minutes": 1}, "minutes = 1: it must be 2 or more"),
        ({"minutes": 20}, "active = 283: it must be at most fewest_keys · minutes = 240"),
        ({"fewest_keys": 0}, "fewest_keys = 0"),
        ({"mean_keys": 34.0}, "mean_keys = 34.0 is above most_keys = 33"),
        ({"mean_keys": 11.0}, "fewest_keys = 12 is above mean_keys = 11.0"),
        ({"skew": -1.0}, "skew = -1.0"),
        ({"median_frequency": 0.0}, "median_frequency = 0.0: it must be above 0"),
        ({"p90_frequency": 0.01}, "median_frequency = 0.034 is above p90_frequency = 0.01"),
        ({"p90_frequency": 1.5}, "p90_frequency = 1.5: it must lie between 0 and 1"),
        ({"correlation": 3.0}, "correlation = 3.0"),
        ({"keys": 10**9}, "values, more than 100,000,000"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        TwitterLike(**parameters)
