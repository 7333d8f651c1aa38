"""What a policy sees: columns over the candidate set at one moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moment:
    """The evaluation at time t of a window of width ω and slide β."""

    t_ms: int
    width_ms: int
    slide_ms: int

    @property
    def tumbling(self) -> bool:
        """Whether no unit is needed by more than one evaluation per element."""
        return self.width_ms <= self.slide_ms


@dataclass(frozen=True, slots=True)
class WindowUnits:
    """The units compatible with the window: each once, with what the stream says of it.

    `remaining` is L of the unit's latest mapping, `mappings` the number c of compatible mappings.
    """

    unit: Integers
    remaining: Integers
    mappings: Integers


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The candidate set C as columns of equal length; policies must not write to them."""

    unit: Integers
    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers
    remaining: Integers
    mappings: Integers

    def __len__(self) -> int:
        return len(self.unit)
