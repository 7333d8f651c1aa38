import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import BipartiteTraces, make_traces
from bestbefore.generators.many_to_many import random_links, zipf_degrees

from .columns import changes_of, rank_correlation


def degrees(traces):
    names, counts = np.unique(traces.links.unit.astype(str), return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def test_the_defaults_of_planning_ahead():
    traces = make_traces("bipartite", 1)
    stream, links = traces.stream, traces.links
    assert len(links) == 1_000
    assert len(set(links.join_key)) == len(set(links.unit)) == 50
    assert set(stream.key) == set(links.join_key)
    assert len(set(stream.event)) == len(stream)
    assert 50_000 < stream.ts_ms.max() <= 51_000
    assert min(traces.interval_ms.values()) >= 100
    assert max(traces.interval_ms.values()) <= 3_000
    assert np.mean([*traces.interval_ms.values()]) == pytest.approx(1_550, rel=0.15)
    for unit, count in changes_of(traces).items():
        assert abs(count - 51_000 / traces.interval_ms[unit]) <= 1


def test_join_keys_arrive_every_1_to_2_seconds():
    stream = make_traces("bipartite", 1, join_keys=500, edges=10_000, duration_ms=510_000).stream
    # The mean of 1/x over the range of arrival intervals.
    assert len(stream) == pytest.approx(500 * 510 * np.log(2), rel=0.02)


def test_other_links_leave_the_stream_and_the_changes_alone():
    some, more = (make_traces("bipartite", 1, edges=edges) for edges in (500, 2_000))
    assert some.stream.ts_ms.tolist() == more.stream.ts_ms.tolist()
    assert sorted(some.interval_ms.values()) == sorted(more.interval_ms.values())


def test_skewed_degrees():
    even, skewed = (degrees(make_traces("bipartite", 1, skew=skew)) for skew in (0.0, 1.0))
    assert max(skewed.values()) == 50
    assert min(skewed.values()) < min(even.values())


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.9])
def test_units_of_high_degree_change_often_or_seldom(correlation):
    traces = make_traces("bipartite", 1, units=1_000, edges=20_000, correlation=correlation)
    degree = degrees(traces)
    rates = [1 / traces.interval_ms[unit] for unit in degree]
    assert rank_correlation([*degree.values()], rates) == pytest.approx(correlation, abs=0.07)


def test_arrivals_with_an_alternating_rate():
    stream = make_traces("bipartite", 1, arrival_factor=0.2, duration_ms=200_000).stream
    odd = (stream.ts_ms - 1) // 1_000 % 2 == 1
    assert odd.sum() / (~odd).sum() == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"edges": 2_501}, "edges = 2501: 50 join keys and 50 units have at most 2500 links"),
        ({"edges": 0}, "edges = 0"),
        ({"join_keys": 0}, "join_keys = 0"),
        ({"units": -1}, "units = -1"),
        ({"join_keys": 10**9, "units": 10**9, "edges": 10**10}, "links, more than"),
        ({"skew": float("nan")}, "skew = nan"),
        ({"duration_ms": 0}, "duration_ms = 0"),
        ({"arrival_high_ms": 999}, "arrival_low_ms = 1000 is above arrival_high_ms = 999"),
        ({"arrival_factor": -1.0}, "arrival_factor = -1.0"),
        ({"interval_low_ms": 0}, "interval_low_ms = 0"),
        ({"interval_high_ms": 99}, "interval_low_ms = 100 is above interval_high_ms = 99"),
        ({"beta_b": 0.0}, "beta_b = 0.0"),
        ({"correlation": -2.0}, "correlation = -2.0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        BipartiteTraces(**parameters)


@pytest.mark.parametrize("skew", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("edges", [1, 100, 1_000, 2_499, 2_500])
def test_there_are_as_many_links_as_wanted_and_none_twice(rng, skew, edges):
    join_key, unit = random_links(50, 50, edges=edges, skew=skew, rng=rng)
    assert len({*zip(join_key.tolist(), unit.tolist(), strict=True)}) == edges
    assert set(join_key) | set(unit) <= set(range(50))


def test_without_skew_every_unit_is_as_likely(rng):
    degrees = np.zeros(20)
    for _ in range(400):
        _, unit = random_links(30, 20, edges=60, skew=0.0, rng=rng)
        degrees += np.bincount(unit, minlength=20)
    assert degrees / 400 == pytest.approx(np.full(20, 3.0), rel=0.1)


def test_degrees_follow_zipf_s_law():
    degrees = zipf_degrees(50, 1_000, most=10_000, skew=1.0)
    assert degrees.sum() == 1_000
    assert degrees[0] / degrees[9] == pytest.approx(10, rel=0.05)
    assert np.all(np.diff(degrees) <= 0)


def test_no_degree_exceeds_the_join_keys():
    degrees = zipf_degrees(50, 1_000, most=50, skew=1.5)
    assert degrees.sum() == 1_000
    assert degrees.max() == 50
    assert (degrees == 50).sum() > 1


def test_more_skew_is_a_larger_spread(rng):
    spreads = []
    for skew in (0.0, 0.5, 1.0):
        _, unit = random_links(50, 50, edges=1_000, skew=skew, rng=rng)
        spreads.append(np.bincount(unit, minlength=50).std())
    assert spreads == sorted(spreads)


def test_more_links_than_pairs(rng):
    with pytest.raises(InputError, match="edges = 7: 2 join keys and 3 units have at most 6 links"):
        random_links(2, 3, edges=7, skew=0.0, rng=rng)


def test_no_links(rng):
    with pytest.raises(InputError, match="edges = 0: it must be 1 or more"):
        random_links(2, 3, edges=0, skew=0.0, rng=rng)
