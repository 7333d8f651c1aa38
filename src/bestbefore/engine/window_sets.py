"""The sets A to G into which an evaluation divides view and window."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans
from bestbefore.engine.key_statistics import WindowNeeds
from bestbefore.maintenance.window_units import JoinKeys
from bestbefore.view import Units


@dataclass(frozen=True)
class WindowSets:
    """The sizes of the sets of thesis section 6.2.2, fresh and stale being estimates from τ.

    A and B are the held units that the window does not need, not expired and expired; C and D those
    that it needs. E and F are the window's mappings with a compatible unit in C and in D (one with
    units in both is in both), G those with none.
    """

    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    mappings: int

    @property
    def completeness(self) -> float | None:
        """The share of the window's mappings whose join key the view holds."""
        return (self.mappings - self.g) / self.mappings if self.mappings else None

    def sizes(self) -> dict[str, int]:
        """The sizes by the thesis's letters."""
        return {letter.upper(): getattr(self, letter) for letter in "abcdefg"}


def window_sets(units: Units, needs: WindowNeeds, t_ms: int) -> WindowSets:
    """The sets of the evaluation at t, after its maintenance."""
    fresh = units.held & (units.best_before_ms > t_ms)
    needed, keys = needs.units.unit, needs.units.join_keys()
    held, c = int(units.held[needed].sum()), int(fresh[needed].sum())
    elsewhere, a = int(units.held.sum()) - held, int(fresh.sum()) - c
    edge_unit = needed[keys.edge_place]
    served, mappings = _compatible(keys, units.held[edge_unit]), int(keys.mappings.sum())
    return WindowSets(
        a=a,
        b=elsewhere - a,
        c=c,
        d=held - c,
        e=_compatible(keys, fresh[edge_unit]),
        f=_compatible(keys, (units.held & ~fresh)[edge_unit]),
        g=needs.unknown + mappings - served,
        mappings=needs.unknown + mappings,
    )


def _compatible(keys: JoinKeys, edge: Booleans) -> int:
    """The mappings whose join key has one of these edges."""
    found = np.zeros(len(keys.mappings), dtype=np.bool_)
    found[keys.edge_key[edge]] = True
    return int(keys.mappings[found].sum())
