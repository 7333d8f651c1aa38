"""Proposers: they select the candidate set C, as sets of which the first goes first."""

from typing import Protocol

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.registry import Registry

Tiers = tuple[Integers, ...]


class Proposer(Protocol):
    """A function from what the view holds and the window needs to sets of unit numbers.

    `held` tells of every unit whether the view holds it; `stale`, which only an oracle gives,
    whether it is stale. A later set is elected from when an earlier one leaves budget over.
    """

    def __call__(self, held: Booleans, window: WindowUnits, stale: Booleans | None) -> Tiers:
        """Select unit numbers, each at most once."""
        ...


proposers: Registry[Proposer] = Registry("proposer")


@proposers.register("WST")
def worst(held: Booleans, window: WindowUnits, stale: Booleans | None) -> Tiers:  # noqa: ARG001
    """No candidates: the view is never refreshed (acqua section 5.1, the lower bound)."""
    return ()


@proposers.register("GNR")
def general(held: Booleans, window: WindowUnits, stale: Booleans | None) -> Tiers:  # noqa: ARG001
    """The whole view, whatever the window needs (acqua section 5.1)."""
    return (np.flatnonzero(held),)


@proposers.register("WSJ")
def window_service_join(
    held: Booleans,
    window: WindowUnits,
    stale: Booleans | None,  # noqa: ARG001
) -> Tiers:
    """The units compatible with the window (acqua section 4.1, algorithm 1)."""
    cached, _ = _split(held, window)
    return (cached,)


@proposers.register("AW")
def all_of_window(
    held: Booleans,  # noqa: ARG001
    window: WindowUnits,
    stale: Booleans | None,  # noqa: ARG001
) -> Tiers:
    """All join keys of the window, cached or not (thesis section 6.3.1)."""
    return (window.unit,)


@proposers.register("FWSJ")
def freshness_first(
    held: Booleans,
    window: WindowUnits,
    stale: Booleans | None,  # noqa: ARG001
) -> Tiers:
    """The window's cached units first, then the missing ones (thesis section 6.3.1)."""
    return _split(held, window)


@proposers.register("CWSJ")
def completeness_first(
    held: Booleans,
    window: WindowUnits,
    stale: Booleans | None,  # noqa: ARG001
) -> Tiers:
    """The window's missing units first, then the cached ones (thesis section 6.3.1)."""
    cached, missing = _split(held, window)
    return missing, cached


@proposers.register("BST")
def best(held: Booleans, window: WindowUnits, stale: Booleans | None) -> Tiers:
    """The compatible units that are truly stale (acqua section 5.1, the upper bound)."""
    cached, _ = _split(held, window)
    return (cached[stale[cached]] if stale is not None else cached[:0],)


def _split(held: Booleans, window: WindowUnits) -> tuple[Integers, Integers]:
    cached = held if len(held) == len(window) else held[window.unit]
    if cached.all():
        return window.unit, window.unit[:0]
    return window.unit[cached], window.unit[~cached]
