"""The sets A to G into which an evaluation divides view and window (thesis section 6.2.2)."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers
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


def window_sets(held: Booleans, fresh: Booleans, window: WindowUnits) -> WindowSets:
    """The sets of an evaluation, from which units the view holds and which of these are fresh."""
    needed = window.unit
    needed_held, needed_fresh = held[needed], fresh[needed]
    c, all_fresh = np.count_nonzero(needed_fresh), np.count_nonzero(fresh)
    d = np.count_nonzero(needed_held) - c
    needed_stale = needed_held & ~needed_fresh
    mappings, served, e, f = _mappings(window, needed_held, needed_fresh, needed_stale)
    return WindowSets(
        a=int(all_fresh - c),
        b=int(np.count_nonzero(held) - all_fresh - d),
        c=int(c),
        d=int(d),
        e=e,
        f=f,
        g=window.unknown + mappings - served,
        mappings=window.unknown + mappings,
    )


def _mappings(
    window: WindowUnits, held: Booleans, fresh: Booleans, stale: Booleans
) -> tuple[int, int, int, int]:
    """All mappings of known join keys, and those compatible with a held, fresh and stale unit."""
    if window.keys is None:
        count = window.mappings
        return int(count.sum()), int(count @ held), int(count @ fresh), int(count @ stale)
    keys = window.keys
    served, e, f = (
        _compatible(keys.edge_key, keys.mappings, mask[keys.edge_place])
        for mask in (held, fresh, stale)
    )
    return int(keys.mappings.sum()), served, e, f


def _compatible(edge_key: Integers, mappings: Integers, edge: Booleans) -> int:
    """The mappings whose join key has one of these edges."""
    found = np.zeros(len(mappings), dtype=np.bool_)
    found[edge_key[edge]] = True
    return int(mappings[found].sum())
