"""The maintainer: it applies what was fetched to the local view."""

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.maintenance.best_before import next_best_before
from bestbefore.view import LocalView, Refreshed
from bestbefore.view.units import Units


def renew(units: Units, refreshed: Integers, t_ms: int) -> None:
    """Note that units were refreshed at t: age 0, and the best-before time that follows.

    A unit that enters the view is expected to change an interval from now.
    """
    known = units.held[refreshed]
    interval = units.interval_ms[refreshed]
    renewed = next_best_before(units.best_before_ms[refreshed], interval, t_ms)
    units.best_before_ms[refreshed] = np.where(known, renewed, t_ms + interval)
    units.refreshed_ms[refreshed] = t_ms
    units.held[refreshed] = True


def evict(units: Units, evicted: Integers) -> None:
    """Let units leave the view; their keys stay known."""
    units.held[evicted] = False
    units.row_count[evicted] = 0
    units.value[evicted] = np.nan


def apply_refreshes(view: LocalView, refreshed: Refreshed) -> int:
    """Apply what one evaluation fetched, and return how many of the held units had changed.

    Who leaves goes first; then the fetched units are replaced, those that are new enter, and
    best-before times are renewed. A unit that the service did not answer for stays as it is and
    is a candidate again next time.
    """
    evict(view.units, view.numbers(refreshed.evicted))
    view.learn(refreshed.rows)
    view.set_intervals(refreshed.intervals_ms)
    numbers = view.numbers(refreshed.rows)
    known = view.units.held[numbers]
    changed = [
        view.replace(int(number), rows)
        for number, rows in zip(numbers, refreshed.rows.values(), strict=True)
    ]
    renew(view.units, numbers, refreshed.t_ms)
    view.units.used_ms[view.numbers(refreshed.used)] = refreshed.t_ms
    return int(np.count_nonzero(known & np.array(changed, dtype=np.bool_)))
