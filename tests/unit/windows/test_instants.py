import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.windows import SlidingWindow
from bestbefore.windows.instants import Instants

shapes = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=3)


@given(shapes, st.integers(1, 200))
def test_they_are_the_union_of_the_closing_times(windows, earliest):
    instants = Instants.starting(windows, earliest_ms=earliest)
    end = instants.t0_ms + 60
    closings = {
        window.closing(index)
        for window in instants.windows
        for index in range(-100, 400)
        if instants.t0_ms <= window.closing(index) <= end
    }
    last = (end - instants.t0_ms) // instants.step_ms
    assert {instants.at(each) for each in instants.due(0, last)} == closings


@given(shapes, st.integers(1, 200), st.integers(0, 60))
def test_each_window_is_seen_as_it_closed_last(windows, earliest, evaluation):
    instants = Instants.starting(windows, earliest_ms=earliest)
    t_ms = instants.at(evaluation)
    for place, window in enumerate(instants.windows):
        index = instants.index(place, evaluation)
        assert window.closing(index) <= t_ms < window.closing(index + 1)


@given(shapes, st.integers(1, 200), st.integers(1, 300))
def test_first_with_and_last_before(windows, earliest, time_ms):
    instants = Instants.starting(windows, earliest_ms=earliest)
    first = instants.first_with(time_ms)
    assert instants.at(first) >= time_ms
    assert instants.takes_place(first)
    assert not any(
        instants.takes_place(each)
        for each in range(first - 13, first)
        if instants.at(each) >= time_ms
    )
    assert instants.at(instants.last_before(time_ms)) < time_ms
    assert instants.at(instants.last_before(time_ms) + 1) >= time_ms


def test_one_window_keeps_its_own_numbers():
    window = SlidingWindow(100, 60, 30)
    instants = Instants((window,))
    assert [instants.at(each) for each in instants.due(1, 3)] == [90, 150, 210]
    assert instants.opening_ms(2) == 50
    assert instants.index(0, 7) == 7


def test_a_time_zero_of_ones_own():
    assert Instants.starting([(10, 4), (10, 6)], earliest_ms=50, t0_ms=3).t0_ms == 3


@pytest.mark.parametrize(("slides", "due"), [((2, 3), [0, 2, 3, 4, 6]), ((2, 4), [0, 1, 2, 3])])
def test_examples(slides, due):
    instants = Instants(tuple(SlidingWindow(10, slide) for slide in slides))
    assert list(instants.due(0, due[-1])) == due
