"""The time-based sliding window W(ω, β, t0)."""

from dataclasses import dataclass

from bestbefore.errors import InputError
from bestbefore.windows.symbols import Number


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """W(ω, β, t0): window i is (c − ω, c] and closes at c = t0 + i·β (acqua section 2).

    A width that is no multiple of the slide is fine; a slide above the width leaves gaps.

    >>> minute = SlidingWindow(width_ms=100_000, slide_ms=60_000, t0_ms=0)
    >>> minute.bounds(2), minute.first_with(60_001), minute.last_closed(180_000)
    ((20000, 120000), 2, 2)
    """

    width_ms: int
    slide_ms: int
    t0_ms: int = 0

    def __post_init__(self) -> None:
        if self.width_ms <= 0 or self.slide_ms <= 0:
            raise InputError(
                f"a window needs a positive width and slide, not {self.width_ms} ms "
                f"and {self.slide_ms} ms"
            )

    @classmethod
    def starting(cls, width_ms: int, slide_ms: int, *, earliest_ms: int) -> "SlidingWindow":
        """The window whose t0 is the last slide boundary before the first element."""
        if slide_ms <= 0:
            return cls(width_ms, slide_ms)
        return cls(width_ms, slide_ms, (earliest_ms - 1) // slide_ms * slide_ms)

    @property
    def overlap(self) -> int:
        """The largest number of windows that one element takes part in, ⌈ω/β⌉."""
        return -(-self.width_ms // self.slide_ms)

    def closing(self, index: Number) -> Number:
        """The closing time c of window `index`, at which it is evaluated."""
        return index * self.slide_ms + self.t0_ms

    def bounds(self, index: int) -> tuple[int, int]:
        """The pair (o, c): the window holds the elements with o < time ≤ c."""
        return self.closing(index) - self.width_ms, self.closing(index)

    def first_with(self, time_ms: Number) -> Number:
        """The first window that closes at `time_ms` or later."""
        return (time_ms - self.t0_ms + (self.slide_ms - 1)) // self.slide_ms

    def last_with(self, time_ms: Number) -> Number:
        """The last window that opens before `time_ms`."""
        return self.first_with(time_ms + self.width_ms) - 1

    def last_closed(self, watermark_ms: int) -> int:
        """The last window that closes before `watermark_ms`.

        Before, not at: an element with the time of the watermark itself may still come.
        """
        return self.first_with(watermark_ms) - 1

    def remaining(self, time_ms: Number, at_ms: Number | int) -> Number:
        """L = ⌈(t_i + ω − t)/β⌉: the evaluations, the one at t included, that still see t_i.

        This is equation 3 of acqua and equation 12 of planning-ahead.
        """
        return (time_ms + self.width_ms - at_ms + (self.slide_ms - 1)) // self.slide_ms
