"""A wanted freshness α: the cheapest set of units that lifts the estimate to it."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view.units import Units


@dataclass(frozen=True, slots=True)
class Wanted:
    """The freshness α that is wanted when the answer is written, and how long that takes.

    An answer that shows equal rows `once` does not count how many mappings there are of a key.
    """

    freshness: float
    written_ms: int
    writing_ms: int = 0
    once: bool = False


@dataclass(frozen=True, slots=True)
class Lift:
    """The units to refresh for the wanted freshness, and what refreshing all that can be gives.

    Where α cannot be reached, `units` are all that would help.
    """

    units: Integers
    at_best: float
    enough: bool


def cheapest_lift(units: Units, window: WindowUnits, ready: Booleans, wanted: Wanted) -> Lift:
    """The fewest of the window's `ready` units whose refresh lifts the estimate to α.

    The estimate is the mean over the answer rows of the probability that the row is fresh; what the
    view lacks is not. A refresh of unit i adds the rows of i times what it lifts their probability
    by, so the fewest units are those that add most.
    """
    unit, rows = window.unit, window.weights(once=wanted.once)
    before = units.fresh_probability(unit, wanted.written_ms)
    after = units.unchanged(unit, np.full(len(unit), float(wanted.writing_ms)))
    gain = np.where(ready, np.maximum(after - before, 0.0), 0.0) * rows
    whole = float(rows.sum() + window.unknown)
    lacking = wanted.freshness * whole - float(before @ rows)
    at_best = (float(before @ rows) + float(gain.sum())) / whole if whole else 1.0
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    if lacking <= 0:
        return Lift(unit[:0], at_best, enough=True)
    reached = np.cumsum(gain[order])
    count = int(np.searchsorted(reached, lacking * (1 - 1e-12))) + 1
    return Lift(unit[order[:count]], at_best, enough=count <= len(order))
