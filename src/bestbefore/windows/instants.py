"""The evaluation instants of one or several windows: the union of their closing times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from math import gcd

from bestbefore.windows.sliding import SlidingWindow
from bestbefore.windows.symbols import Number


@dataclass(frozen=True, slots=True)
class Instants:
    """The times at which a query with these windows is evaluated.

    Evaluation n is at t0 + n·step, where step divides every slide; it takes place if a window
    closes then, and sees of each window the one that closed last. With one window, evaluation n is
    its window n.

    >>> both = Instants((SlidingWindow(10, 2), SlidingWindow(10, 3)))
    >>> list(both.due(0, 6)), [both.index(1, evaluation) for evaluation in both.due(0, 6)]
    ([0, 2, 3, 4, 6], [0, 0, 1, 1, 2])
    """

    windows: tuple[SlidingWindow, ...]

    @classmethod
    def starting(
        cls, shapes: Sequence[tuple[int, int]], *, earliest_ms: int, t0_ms: int | None = None
    ) -> "Instants":
        """The instants of windows of these widths and slides over a stream that begins then."""
        return cls(
            tuple(
                SlidingWindow.starting(width, slide, earliest_ms=earliest_ms)
                if t0_ms is None
                else SlidingWindow(width, slide, t0_ms)
                for width, slide in shapes
            )
        )

    @property
    def step_ms(self) -> int:
        """The longest step that reaches every closing time of every window."""
        steps = ((window.slide_ms, window.t0_ms - self.t0_ms) for window in self.windows)
        return gcd(*chain.from_iterable(steps))

    @property
    def t0_ms(self) -> int:
        """The time of evaluation 0."""
        return min(window.t0_ms for window in self.windows)

    def at(self, evaluation: int) -> int:
        """The time of an evaluation."""
        return self.t0_ms + evaluation * self.step_ms

    def takes_place(self, evaluation: int) -> bool:
        """Whether a window closes at that time."""
        time_ms = self.at(evaluation)
        return any((time_ms - window.t0_ms) % window.slide_ms == 0 for window in self.windows)

    def due(self, first: int, last: int) -> Iterator[int]:
        """The evaluations that take place from `first` to `last`."""
        return filter(self.takes_place, range(first, last + 1))

    def stride(self, window: int) -> int:
        """How many steps there are between two closings of a window."""
        return self.windows[window].slide_ms // self.step_ms

    def offset(self, window: int) -> int:
        """The evaluation at which a window's own number is 0."""
        return (self.windows[window].t0_ms - self.t0_ms) // self.step_ms

    def index(self, window: int, evaluation: Number) -> Number:
        """Which of its windows, the one that closed last, an evaluation sees."""
        return (evaluation - self.offset(window)) // self.stride(window)

    def first_seeing(self, window: int, index: Number) -> Number:
        """The first evaluation that sees the window of a number, the one at which it closes."""
        return index * self.stride(window) + self.offset(window)

    def last_seeing(self, window: int, index: Number) -> Number:
        """The last evaluation that sees the window of a number, before the next one closes."""
        return self.first_seeing(window, index) + (self.stride(window) - 1)

    def first_with(self, time_ms: int) -> int:
        """The first evaluation at `time_ms` or later that takes place."""
        found = -(-(time_ms - self.t0_ms) // self.step_ms)
        return next(filter(self.takes_place, count(found)))

    def last_with(self, time_ms: int) -> int:
        """The last evaluation that sees an element of that time in one of its windows."""
        return max(
            self.last_seeing(number, window.last_with(time_ms))
            for number, window in enumerate(self.windows)
        )

    def first_evaluation(self, earliest_ms: int, *, full_windows_only: bool) -> int:
        """The first evaluation that can see an element, or of windows that lie in the stream."""
        times = [earliest_ms, self.at(1)]
        if full_windows_only:
            times += [window.t0_ms + window.width_ms for window in self.windows]
        return self.first_with(max(times))

    def before_ms(self, evaluation: int) -> int:
        """The time of the last evaluation before this one that takes place."""
        last = self.at(evaluation) - 1
        return max(last - (last - window.t0_ms) % window.slide_ms for window in self.windows)

    def last_before(self, watermark_ms: int) -> int:
        """The last evaluation before a watermark, whether or not it takes place."""
        return -(-(watermark_ms - self.t0_ms) // self.step_ms) - 1

    def opening_ms(self, evaluation: int) -> int:
        """The earliest opening of the windows that an evaluation sees."""
        return min(
            window.bounds(self.index(number, evaluation))[0]
            for number, window in enumerate(self.windows)
        )
