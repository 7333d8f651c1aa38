"""The times of evaluations, and which of those that became due are answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.windows import Instants, SlidingWindow, Timeline
from bestbefore.windows.timeline import Due

shapes = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=3)
ONE = Instants((SlidingWindow(10, 2),))
BOTH = Instants((SlidingWindow(10, 4), SlidingWindow(10, 6)))


@given(shapes, st.integers(1, 200), st.integers(0, 60))
def test_an_evaluation_covers_its_windows_and_follows_the_one_before(windows, earliest, place):
    instants = Instants.starting(windows, earliest_ms=earliest)
    evaluation = list(instants.due(0, 200))[1 : 12 + place][-1]
    timeline = Timeline(instants)
    opened, closed = timeline.window(evaluation)
    assert closed == timeline.at(evaluation) == instants.at(evaluation)
    last = [
        window.bounds(max(n for n in range(-1, 250) if window.closing(n) <= closed))
        for window in instants.windows
    ]
    assert opened == min(opening for opening, _ in last)
    before = list(instants.due(-20, evaluation - 1))[-1]
    assert timeline.before(evaluation) == instants.at(before)
    assert timeline.t0_ms == instants.t0_ms


def test_windows_of_so_many_elements_have_the_times_of_their_elements():
    timeline = Timeline(ONE, {1: 3_000, 2: 9_000}, {1: 0, 2: 1_500}, slide_ms=6_000)
    assert [timeline.at(1), timeline.at(2)] == [3_000, 9_000]
    assert [timeline.before(1), timeline.before(2)] == [None, 3_000]
    assert timeline.window(2) == (1_500, 9_000)
    assert timeline.t0_ms == 0


@given(shapes, st.integers(1, 200), st.booleans())
def test_the_first_evaluation_sees_the_first_element_or_whole_windows(windows, earliest, full):
    instants = Instants.starting(windows, earliest_ms=earliest)
    first = instants.first_evaluation(earliest, full_windows_only=full)

    def fits(evaluation):
        at = instants.at(evaluation)
        whole = all(at >= window.t0_ms + window.width_ms for window in instants.windows)
        return at >= earliest and evaluation >= 1 and (whole or not full)

    assert first == next(each for each in instants.due(0, 400) if fits(each))


@given(shapes, st.integers(1, 200), st.integers(0, 40))
def test_the_last_evaluation_with_an_element_is_the_last_that_sees_it(windows, earliest, later):
    instants = Instants.starting(windows, earliest_ms=earliest)
    time_ms = earliest + later

    def sees(evaluation):
        bounds = [
            window.bounds(instants.index(place, evaluation))
            for place, window in enumerate(instants.windows)
        ]
        return any(opening < time_ms for opening, _ in bounds)

    last = instants.last_with(time_ms)
    assert sees(last)
    assert not any(map(sees, range(last + 1, last + 40)))


@pytest.mark.parametrize(
    ("first", "last", "count", "takes_place"),
    [(1, 3, 3, True), (5, 5, 1, False), (5, 4, 0, False), (7, 7, 1, False), (7, 8, 2, True)],
)
def test_due_evaluations_are_counted_and_may_not_take_place(first, last, count, takes_place):
    due = Due(Timeline(BOTH), first, last)
    assert len(due) == count
    assert due.takes_place == takes_place


def test_of_a_few_due_evaluations_all_that_take_place_are_answered():
    due = Due(Timeline(BOTH), 1, 10_000)
    assert due.answered([4]) == list(BOTH.due(1, 10_000))
    assert due.skipped(2) == 0


def test_of_too_many_due_evaluations_those_with_elements_are_answered_and_the_rest_counted():
    due = Due(Timeline(BOTH), 1, 10_001)
    assert due.answered([3, 4, 5, 9_999]) == [3, 4, 9_999]
    assert due.skipped(3) == 9_998
