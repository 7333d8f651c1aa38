"""The times of a query's evaluations, and which of them became due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bestbefore.windows.instants import Instants

# A leap in event time may make millions of empty windows due; past this many they are counted, not
# answered one by one.
_MOST_EVALUATIONS = 10_000


@dataclass(frozen=True)
class Timeline:
    """The evaluations of a query and their times.

    Windows of so many elements close by their number, not by their time: then `closings` has the
    time of the element that closes an evaluation, `openings` that after which its window begins,
    and `slide_ms` what a step takes on average.
    """

    instants: Instants
    closings: Mapping[int, int] = field(default_factory=dict)
    openings: Mapping[int, int] = field(default_factory=dict)
    slide_ms: int | None = None

    @property
    def t0_ms(self) -> int:
        """The time that periods are counted from: of evaluation 0, or 1970 where none is known."""
        return self.instants.t0_ms if self.slide_ms is None else 0

    def at(self, evaluation: int) -> int:
        """The time of an evaluation."""
        if self.slide_ms is not None:
            return self.closings[evaluation]
        return self.instants.at(evaluation)

    def before(self, evaluation: int) -> int | None:
        """The time of the last evaluation before this one, None if there was none."""
        if self.slide_ms is not None:
            return self.closings.get(evaluation - 1)
        return self.instants.before_ms(evaluation)

    def window(self, evaluation: int) -> tuple[int, int]:
        """The span of time (o, c] that the windows of an evaluation cover."""
        if self.slide_ms is not None:
            return self.openings[evaluation], self.closings[evaluation]
        return self.instants.opening_ms(evaluation), self.at(evaluation)


@dataclass(frozen=True)
class Due:
    """The evaluations that became due, from first to last."""

    timeline: Timeline
    first: int
    last: int

    @property
    def instants(self) -> Instants:
        """The instants of the query."""
        return self.timeline.instants

    def answered(self, non_empty: Sequence[int]) -> list[int]:
        """Those to answer: all that take place, or the non-empty where there are too many."""
        if self.last - self.first < _MOST_EVALUATIONS:
            return list(self.instants.due(self.first, self.last))
        return [number for number in non_empty if self.instants.takes_place(number)]

    def skipped(self, answered: int) -> int:
        """How many evaluations are left out when so many are answered."""
        if self.last - self.first < _MOST_EVALUATIONS:
            return 0
        return self.last - self.first + 1 - answered

    @property
    def takes_place(self) -> bool:
        """Whether a window closes at one of them."""
        return any(map(self.instants.takes_place, range(self.first, self.last + 1)))

    def __len__(self) -> int:
        return max(0, self.last - self.first + 1)
