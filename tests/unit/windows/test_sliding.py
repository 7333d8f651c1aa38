"""Window arithmetic against its definition."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.errors import InputError
from bestbefore.windows import Instants, SlidingWindow, Symbol

windows = st.builds(
    SlidingWindow,
    width_ms=st.integers(1, 400),
    slide_ms=st.integers(1, 120),
    t0_ms=st.integers(-500, 500),
)
times = st.integers(-2_000, 2_000)


def holds(window: SlidingWindow, index: int, time: int) -> bool:
    opening, closing = window.bounds(index)
    return opening < time <= closing


@given(windows, times)
def test_first_with_is_the_first_window_that_closes_at_or_after(window, time):
    index = window.first_with(time)
    assert window.closing(index) >= time > window.closing(index - 1)


@given(windows, times)
def test_last_with_is_the_last_window_that_opens_before(window, time):
    index = window.last_with(time)
    assert window.bounds(index)[0] < time <= window.bounds(index + 1)[0]


@given(st.integers(1, 400), st.integers(1, 120), times)
def test_a_window_starts_at_the_last_boundary_before_the_first_element(width, slide, earliest):
    window = SlidingWindow.starting(width, slide, earliest_ms=earliest)
    assert (window.width_ms, window.slide_ms) == (width, slide)
    assert window.t0_ms % slide == 0
    assert window.t0_ms < earliest <= window.t0_ms + slide


def computed(symbol, **values):
    """What SQL would compute; `div` meets only quotients that are whole."""
    text = re.sub(r"(\d)L", r"\1", str(symbol))
    functions = {"pmod": lambda dividend, divisor: dividend % divisor, "div": whole_quotient}
    return eval(text, {**functions, **values})


def whole_quotient(dividend, divisor):
    assert dividend % divisor == 0
    return dividend // divisor


@given(windows, windows, times, st.integers(-20, 20))
def test_a_number_an_array_and_sql_give_the_same(window, other, time, number):
    t, n = Symbol("t"), Symbol("n")
    instants = Instants((window, other))
    for whole, array, symbol in [
        (window.first_with(time), window.first_with(np.array([time])), window.first_with(t)),
        (window.last_with(time), window.last_with(np.array([time])), window.last_with(t)),
        (window.remaining(time, window.closing(number)),
         window.remaining(np.array([time]), window.closing(number)),
         window.remaining(t, window.closing(n))),
        *((see(1, number), see(1, np.array([number])), see(1, n))
          for see in (instants.index, instants.first_seeing, instants.last_seeing)),
    ]:  # fmt: skip
        assert array.tolist() == [whole]
        assert computed(symbol, t=time, n=number) == whole


@given(windows, windows, st.integers(-20, 20))
def test_a_window_is_seen_until_the_next_one_closes(window, other, number):
    instants = Instants((window, other))
    seen = range(instants.first_seeing(1, number) - 1, instants.last_seeing(1, number) + 2)
    assert {instants.index(1, each) for each in seen[1:-1]} == {number}
    assert [instants.index(1, seen[at]) for at in (0, -1)] == [number - 1, number + 1]


@given(windows, times)
def test_last_closed_leaves_out_a_window_that_closes_at_the_watermark(window, watermark):
    index = window.last_closed(watermark)
    assert window.closing(index) < watermark <= window.closing(index + 1)


@given(windows, times)
def test_remaining_counts_the_windows_that_still_hold_an_element(window, time):
    at = window.first_with(time)
    expected = sum(holds(window, index, time) for index in range(at, at + window.overlap + 2))
    remaining = window.remaining(time, window.closing(at))
    assert max(0, remaining) == expected
    assert remaining <= window.overlap


@pytest.mark.parametrize(("width", "slide"), [(0, 1), (1, 0), (-5, 5)])
def test_refuses_a_width_or_slide_that_is_not_positive(width, slide):
    with pytest.raises(InputError, match="positive width and slide"):
        SlidingWindow(width, slide)
    with pytest.raises(InputError, match="positive width and slide"):
        SlidingWindow.starting(width, slide, earliest_ms=7)
