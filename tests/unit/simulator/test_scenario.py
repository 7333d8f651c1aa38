"""Traces made ready for runs: which evaluations there are, what is expected, what is told."""

import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.simulator.scenario import make_scenario
from bestbefore.traces import BackgroundTrace, Links, StreamTrace, Traces


def texts(values):
    return np.array(list(values), dtype=object)


def scenario(stream, background, *, links=None, intervals=None, told=None, width_ms=20):
    """A scenario of windows that slide by 10 ms, from (time, key) and (time, key, value)."""
    ts_ms, key = zip(*stream, strict=True)
    times, units, values = zip(*background, strict=True)
    traces = Traces(
        StreamTrace(np.array(ts_ms), texts(key)),
        BackgroundTrace(np.array(times), texts(units), texts(values)),
        None if links is None else Links(*map(texts, zip(*links, strict=True))),
    )
    notice = (told if told is not None else []).append
    return make_scenario(
        traces, width_ms=width_ms, slide_ms=10, interval_ms=intervals, notice=notice
    )


@pytest.mark.parametrize(("latest", "evaluations"), [(11, [1]), (20, [1]), (21, [1, 2])])
def test_windows_that_close_before_the_last_element_are_evaluated(latest, evaluations):
    made = scenario([(1, "a"), (latest, "a")], [(0, "a", "1")])
    assert list(made.evaluations) == evaluations
    assert [made.moment(each).t_ms for each in evaluations] == [10 * each for each in evaluations]


def test_a_stream_that_closes_no_window_is_refused():
    with pytest.raises(InputError, match="spans 9 ms and closes no window of slide 10 ms"):
        scenario([(1, "a"), (10, "a")], [(0, "a", "1")])


def test_intervals_are_the_time_watched_to_the_last_evaluation_per_change():
    stream = [(1, "a"), (1, "b"), (1, "c"), (45, "a")]
    background = [(0, "a", "1"), (9, "a", "2"), (0, "b", "1"), *periodic("c", 5, 10, 15, 20, 25)]
    made = scenario(stream, background)
    # The last evaluation is at 40.
    assert made.interval_ms.tolist() == [40, 80, 5]
    assert made.best_before_ms.tolist() == [10, 10, 10]
    given = scenario(stream, background, intervals={"a": 7, "x": 9})
    assert given.interval_ms.tolist() == [7, 80, 5]
    assert given.best_before_ms.tolist() == [10, 10, 10]


def test_the_first_change_of_a_periodic_unit_is_its_best_before_time():
    made = scenario([(1, "a"), (45, "a")], periodic("a", 0, 4, 14, 24, 34))
    assert made.interval_ms.tolist() == [10]
    assert made.best_before_ms.tolist() == [4]


def periodic(key, *times):
    return [(ts, key, str(ts)) for ts in times]


def test_nothing_is_told_where_everything_joins():
    told = []
    scenario([(1, "k"), (11, "k")], [(0, "a", "1")], links=[("k", "a")], told=told)
    assert told == []


def test_keys_without_links_and_units_without_values_are_told():
    told = []
    stream = [(1, "k"), (2, "l"), (3, "m"), (11, "k")]
    scenario(stream, [(0, "a", "1")], links=[("k", "a"), ("k", "b")], told=told)
    assert told == [
        "1 of 2 units have no background value: they join nothing",
        "2 keys of the stream have no link: they join nothing",
    ]


@pytest.mark.parametrize(
    ("first_ms", "after"), [(5, ""), (9, ""), (10, ", after the last evaluation at 10 ms")]
)
def test_units_whose_first_value_comes_late_are_told(first_ms, after):
    told = []
    scenario([(1, "a"), (11, "b")], [(0, "a", "1"), (first_ms, "b", "1")], told=told)
    said = "1 of 2 units had no value yet when the view was loaded, at 0 ms; the first value came"
    assert told == [f"{said} at {first_ms} ms{after}"]
