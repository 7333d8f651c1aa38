"""The maintainer: it applies what was fetched to the local view."""

from bestbefore.maintenance.best_before import next_best_before
from bestbefore.view import LocalView, Refreshed


def apply_refreshes(view: LocalView, refreshed: Refreshed) -> int:
    """Replace the refreshed units, renew their best-before times; return how many had changed.

    A unit that the service did not answer for stays as it is and is a candidate again next time.
    """
    view.set_intervals(refreshed.intervals_ms)
    numbers = view.numbers(refreshed.rows)
    changed = sum(
        view.replace(int(number), rows)
        for number, rows in zip(numbers, refreshed.rows.values(), strict=True)
    )
    units = view.units
    units.best_before_ms[numbers] = next_best_before(
        units.best_before_ms[numbers], units.interval_ms[numbers], refreshed.t_ms
    )
    units.refreshed_ms[numbers] = refreshed.t_ms
    return changed
