"""The sets A to G into which an evaluation divides view and window (thesis section 6.2.2)."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans
from bestbefore.maintenance.window_units import WindowUnits


@dataclass(frozen=True, slots=True)
class WindowSets:
    """The sizes of the sets.

    A and B are the held units that the window does not need, fresh and stale; C and D those that it
    needs. E and F are the window's mappings with a compatible unit in C and in D (one with units in
    both is in both), G those with none.
    """

    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    e: int = 0
    f: int = 0
    g: int = 0
    mappings: int = 0

    @property
    def completeness(self) -> float | None:
        """The share of the window's mappings whose join key the view holds."""
        return (self.mappings - self.g) / self.mappings if self.mappings else None

    def sizes(self) -> dict[str, int]:
        """The sizes by the thesis's letters."""
        return {letter.upper(): getattr(self, letter) for letter in "abcdefg"}


def window_sets(
    held: Booleans, fresh: Booleans, window: WindowUnits, *, sizes: tuple[int, int]
) -> WindowSets:
    """The sets of an evaluation: which units of the window are held, and which of these are fresh.

    `sizes` are how many units the whole view holds, and how many of these are fresh.
    """
    all_held, all_fresh = sizes
    c = int(np.count_nonzero(fresh))
    d = int(np.count_nonzero(held)) - c
    mappings, served, e, f = _mappings(window, held, fresh)
    return WindowSets(
        a=all_fresh - c,
        b=all_held - all_fresh - d,
        c=c,
        d=d,
        e=e,
        f=f,
        g=window.unknown + mappings - served,
        mappings=window.unknown + mappings,
    )


def _mappings(window: WindowUnits, held: Booleans, fresh: Booleans) -> tuple[int, int, int, int]:
    """All mappings of known join keys, and those compatible with a held, fresh and stale unit."""
    if window.keys is None:
        count = window.mappings
        served, e = int(count @ held), int(count @ fresh)
        return int(count.sum()), served, e, served - e
    keys, count = window.keys, window.keys.mappings
    with_fresh, with_stale = (
        np.bincount(keys.edge_key, unit[keys.edge_position], len(count)) > 0
        for unit in (fresh, held & ~fresh)
    )
    served = int(count @ (with_fresh | with_stale))
    return int(count.sum()), served, int(count @ with_fresh), int(count @ with_stale)
