import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import BipartiteTraces, make_traces

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
