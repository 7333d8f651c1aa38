"""The window example of planning-ahead section 5.2: ω = 150, β = 30, a mapping at 100."""

from bestbefore.windows import SlidingWindow

WINDOW = SlidingWindow(width_ms=150, slide_ms=30)


def test_remaining_life_time_is_5_at_100():
    assert WINDOW.remaining(100, 100) == 5


def test_remaining_life_time_is_3_at_160():
    assert WINDOW.remaining(100, 160) == 3
