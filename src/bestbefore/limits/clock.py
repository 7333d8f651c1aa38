"""The time that limits are counted in: as much of it as has really passed."""

from collections.abc import Callable

from bestbefore.time import Clock, monotonic_s, wall_clock_ms


def steady_clock(
    wall: Clock = wall_clock_ms, monotonic: Callable[[], float] = monotonic_s
) -> Clock:
    """A clock that begins with the wall clock's time and then takes no notice of its being set.

    While the machine sleeps it may stand still, which only makes it wait longer.
    """
    begun_ms, begun_s = wall(), monotonic()
    return lambda: begun_ms + round((monotonic() - begun_s) * 1000)
