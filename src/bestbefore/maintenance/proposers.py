"""Proposers: they select the candidate set C, as sets of which the first goes first."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.registry import Registry

Tiers = tuple[Integers, ...]
"""Unit numbers, each at most once; a later set is elected from when an earlier leaves budget."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a proposer selects from.

    `held` tells of every unit whether the view holds it; `stale`, which only an oracle gives,
    whether it is stale.
    """

    held: Booleans
    window: WindowUnits
    stale: Booleans | None = None

    def split(self) -> tuple[Integers, Integers]:
        """The units of the window that the view holds, and those that it does not."""
        unit = self.window.unit
        cached = self.held if len(self.held) == len(unit) else self.held[unit]
        return (unit, unit[:0]) if cached.all() else (unit[cached], unit[~cached])


@dataclass(frozen=True, slots=True)
class Proposer:
    """A function that selects from an offer, and what it does beyond that.

    `fetches_missing` says that it proposes units that the view does not hold, `needs_oracle` that
    it looks at `stale`, so that only the simulator can run it.
    """

    select: Callable[[Offer], Tiers]
    fetches_missing: bool = False
    needs_oracle: bool = False

    @property
    def __wrapped__(self) -> Callable[[Offer], Tiers]:
        """What it is made of, as `inspect.unwrap` finds it."""
        return self.select


proposers: Registry[Proposer] = Registry("proposer")


def proposer(
    name: str, *, fetches_missing: bool = False, needs_oracle: bool = False
) -> Callable[[Callable[[Offer], Tiers]], Proposer]:
    """Return a decorator that registers a function as a proposer."""

    def enter(select: Callable[[Offer], Tiers]) -> Proposer:
        return proposers.register(name)(Proposer(select, fetches_missing, needs_oracle))

    return enter


@proposer("WST")
def worst(_: Offer) -> Tiers:
    """No candidates: the view is never refreshed (acqua section 5.1, the lower bound)."""
    return ()


@proposer("GNR")
def general(offer: Offer) -> Tiers:
    """The whole view, whatever the window needs (acqua section 5.1)."""
    return (np.flatnonzero(offer.held),)


@proposer("WSJ")
def window_service_join(offer: Offer) -> Tiers:
    """The units compatible with the window (acqua section 4.1, algorithm 1)."""
    cached, _ = offer.split()
    return (cached,)


@proposer("AW", fetches_missing=True)
def all_of_window(offer: Offer) -> Tiers:
    """All join keys of the window, cached or not (thesis section 6.3.1)."""
    return (offer.window.unit,)


@proposer("FWSJ", fetches_missing=True)
def freshness_first(offer: Offer) -> Tiers:
    """The window's cached units first, then the missing ones (thesis section 6.3.1)."""
    return offer.split()


@proposer("CWSJ", fetches_missing=True)
def completeness_first(offer: Offer) -> Tiers:
    """The window's missing units first, then the cached ones (thesis section 6.3.1)."""
    cached, missing = offer.split()
    return missing, cached


@proposer("BST", needs_oracle=True)
def best(offer: Offer) -> Tiers:
    """The compatible units that are truly stale (acqua section 5.1, the upper bound)."""
    cached, _ = offer.split()
    return (cached[offer.stale[cached]] if offer.stale is not None else cached[:0],)
