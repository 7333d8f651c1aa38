"""Series that cross a threshold or stay clear of it: translated vertically, not bent."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers
from bestbefore.generators.changes import Changes, levels

# A series that stays clear does so by at most this share of the threshold.
_LARGEST_GAP = 0.5


@dataclass(frozen=True, eq=False)
class Extent:
    """How far each unit's series goes below and above its start."""

    lowest: Integers
    highest: Integers


def extent_of(changes: Changes, steps: Integers, *, units: int) -> Extent:
    """The extent of every unit's series; the start itself is part of it."""
    level = levels(changes, steps)
    lowest, highest = np.zeros(units, dtype=np.int64), np.zeros(units, dtype=np.int64)
    np.minimum.at(lowest, changes.unit, level)
    np.maximum.at(highest, changes.unit, level)
    return Extent(lowest, highest)


def choose_crossing(units: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Exactly round(share · units) units, at random."""
    crossing = np.zeros(units, dtype=np.bool_)
    crossing[rng.choice(units, round(share * units), replace=False)] = True
    return crossing


def translated_start(
    extent: Extent, crossing: NDArray[np.bool_], *, threshold: int, rng: np.random.Generator
) -> Integers:
    """Starts from which the chosen series cross the threshold, and the others do not.

    A crossing series has values below and values above the threshold; its extent must be 2 or
    more. The others keep a random gap, on a random side.
    """
    inside = rng.integers(extent.lowest + 1, np.maximum(extent.highest, extent.lowest + 2))
    largest = max(1, round(abs(threshold) * _LARGEST_GAP))
    gap = rng.integers(1, largest, len(crossing), endpoint=True)
    above = rng.random(len(crossing)) < 0.5
    clear = np.where(above, gap - extent.lowest, -gap - extent.highest)
    return np.asarray(threshold + np.where(crossing, -inside, clear), dtype=np.int64)
