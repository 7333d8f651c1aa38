"""Proposers: they select the candidate set C from the local view R."""

from typing import Protocol

import numpy as np

from bestbefore.maintenance.candidates import Integers, WindowUnits
from bestbefore.registry import Registry


class Proposer(Protocol):
    """A function from the view's size and the window's units to candidate unit numbers."""

    def __call__(self, view_size: int, window: WindowUnits) -> Integers:
        """Select unit numbers, each at most once."""
        ...


proposers: Registry[Proposer] = Registry("proposer")


@proposers.register("WST")
def worst(view_size: int, window: WindowUnits) -> Integers:  # noqa: ARG001
    """No candidates: the view is never refreshed (acqua section 5.1, the lower bound)."""
    return np.empty(0, dtype=np.int64)


@proposers.register("GNR")
def general(view_size: int, window: WindowUnits) -> Integers:  # noqa: ARG001
    """The whole view, whatever the window needs (acqua section 5.1)."""
    return np.arange(view_size, dtype=np.int64)


@proposers.register("WSJ")
def window_service_join(view_size: int, window: WindowUnits) -> Integers:  # noqa: ARG001
    """The units compatible with the window (acqua section 4.1, algorithm 1)."""
    return window.unit
