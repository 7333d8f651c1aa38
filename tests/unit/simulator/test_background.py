import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.simulator.background import (
    changes_between,
    make_background,
    true_change_times,
)
from bestbefore.traces import BackgroundTrace


def background(rows, keys="abc"):
    ts, key, value = zip(*rows, strict=True)
    trace = BackgroundTrace(
        np.array(ts, dtype=np.int64), np.array(key, dtype=object), np.array(value, dtype=object)
    )
    return make_background(trace, {name: number for number, name in enumerate(keys)})


def codes(made, t_ms):
    return made.code[made.versions(t_ms)].tolist()


def test_a_value_holds_until_the_next_row_of_its_key():
    made = background([(0, "a", "1"), (10, "a", "2"), (5, "b", "7")])
    assert codes(made, 4) == [codes(made, 0)[0], -1, -1]
    assert made.number[made.versions(9)][:2].tolist() == [1, 7]
    assert made.number[made.versions(10)][:2].tolist() == [2, 7]


def test_a_row_that_repeats_the_value_is_no_change():
    made = background([(0, "a", "1"), (10, "a", "1"), (20, "a", "2")])
    assert made.ts_ms.tolist() == [0, 20]
    assert made.next_change_ms(made.versions(5), np.arange(3))[0] == 20


@pytest.mark.parametrize("t_ms", [-1, 0, 5, 7, 10, 20, 25])
def test_the_next_change_of_each_unit_is_its_own(t_ms):
    rows = [(0, "a", "1"), (10, "a", "2"), (5, "b", "7"), (7, "d", "1"), (20, "d", "2")]
    made = background(rows, keys="abcd")
    found = made.next_change_ms(made.versions(t_ms), np.arange(4)).tolist()
    for key, change in zip("abcd", found, strict=True):
        assert change == min((ts for ts, of, _ in rows if of == key and ts > t_ms), default=2**62)


def test_a_value_that_comes_back_is_the_same_value():
    made = background([(0, "a", "1"), (10, "a", "2"), (20, "a", "1")])
    assert codes(made, 0)[0] == codes(made, 20)[0] != codes(made, 10)[0]


def test_an_empty_value_means_no_row():
    made = background([(0, "a", "1"), (10, "a", "")])
    assert codes(made, 10)[0] == -1
    assert np.isnan(made.number[made.versions(10)][0])


def test_changes_are_found_by_the_first_evaluation_after_them_and_only_the_latest():
    made = background([(0, "a", "1"), (3, "a", "2"), (4, "a", "3"), (10, "b", "1"), (30, "a", "4")])
    changes = changes_between(made, np.array([5, 10, 15]))
    found = [
        [(made.unit[each], made.number[each]) for each in changes.of(position)]
        for position in range(3)
    ]
    assert found == [[(0, 3)], [(1, 1)], []]


ROWS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from("abc"), st.sampled_from("123")), min_size=1
)


@given(ROWS, st.integers(1, 12), st.integers(1, 5))
def test_an_evaluation_finds_what_changed_since_the_one_before(rows, slide, count):
    made = background(rows)
    closings = np.arange(1, count + 1) * slide
    changes = changes_between(made, closings)
    before = made.versions(-1)
    for position, closing in enumerate(closings.tolist()):
        now = made.versions(closing)
        found = changes.of(position).tolist()
        assert found == now[now != before].tolist()
        before = now


@pytest.mark.parametrize(
    ("times", "interval", "change"),
    [
        ([0, 7, 17, 27, 37], 10, 7),
        ([0, 7, 17, 28, 37], 10, 7),
        ([0, 10, 20], 50, -1),
        ([0, 10, 90], 50, -1),
        ([0], 200, -1),
        ([98], 4, -1),
        ([99], 2, -1),
        ([100], 2, -1),
        ([97, 98, 99, 100], 1, -1),
        ([95, 96, 97, 98, 99], 1, 96),
        ([0, 1, 5, 100], 33, -1),
    ],
)
def test_the_interval_of_a_trace(times, interval, change):
    made = background([(ts, "a", str(ts)) for ts in times], keys="a")
    truth = true_change_times(made, 100)
    assert truth.interval_ms.tolist() == [interval]
    assert truth.change_ms.tolist() == [change]


def test_a_period_is_found_in_times_that_are_noted_by_the_minute():
    """Every 8 min 20 s, each noted at the first full minute after it; and as often, at random."""
    minute, period = 60_000, 500_000
    exact = 130_000 + period * np.arange(15)
    noted = -(-exact // minute) * minute
    drawn = np.sort(np.random.default_rng(0).choice(np.arange(2, 130), 15, replace=False)) * minute
    rows = [(0, "a", "0"), (0, "b", "0")]
    rows += [(int(ts), "a", str(n + 1)) for n, ts in enumerate(noted)]
    rows += [(int(ts), "b", str(n + 1)) for n, ts in enumerate(drawn)]
    truth = true_change_times(background(sorted(rows), keys="ab"), 8_000_000)
    assert truth.interval_ms[0] == pytest.approx(period, rel=0.01)
    foretold = truth.change_ms[0] + truth.interval_ms[0] * np.arange(15)
    assert np.abs(foretold - noted).max() < minute
    assert truth.change_ms[1] == -1
