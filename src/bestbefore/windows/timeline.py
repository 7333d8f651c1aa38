"""The times of a query's evaluations."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bestbefore.windows.instants import Instants


@dataclass(frozen=True)
class Timeline:
    """The evaluations of a query and their times.

    Windows of so many elements close by their number, not by their time: then `closings` has the
    time of the element that closes an evaluation, and `slide_ms` what a step takes on average.
    """

    instants: Instants
    closings: Mapping[int, int] = field(default_factory=dict)
    openings: Mapping[int, int] = field(default_factory=dict)
    slide_ms: int | None = None

    def at(self, evaluation: int) -> int:
        """The time of an evaluation."""
        if self.slide_ms is not None:
            return self.closings[evaluation]
        return self.instants.at(evaluation)

    def window(self, evaluation: int) -> tuple[int, int]:
        """The span of time (o, c] that the windows of an evaluation cover."""
        at = self.at(evaluation)
        if self.slide_ms is not None:
            return self.openings.get(evaluation, at), at
        return self.instants.opening_ms(evaluation), at
