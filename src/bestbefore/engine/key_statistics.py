"""What job A tells the control plane of the stream: per window and join key, counts by L."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Integers
from bestbefore.maintenance import WindowUnits
from bestbefore.maintenance.window_units import units_of_keys, units_of_links
from bestbefore.query import QueryPlan
from bestbefore.spark.columns import EVALUATION, MAPPINGS, REMAINING, column_of
from bestbefore.spark.window_mappings import NON_EMPTY, REPORTED, SERVICE, key_column
from bestbefore.view import LocalView
from bestbefore.view.keys import distinct_keys


@dataclass(frozen=True)
class WindowNeeds:
    """What one window needs of the view.

    `join_key` are the numbers of its join keys, each once, ascending; `units` those that the view
    links with them, whether it holds them or only knows their keys; `unknown` counts the mappings
    whose join key the view does not know.
    """

    join_key: Integers
    units: WindowUnits
    unknown: int


@dataclass(frozen=True)
class KeyStatistics:
    """Columns over (window, join key, L), sorted; −1 stands for join keys the view does not know.

    The view is asked for the units of the join keys when a window's turn comes, since refreshes
    for earlier windows may have changed them.
    """

    view: LocalView
    window: Integers
    join_key: Integers
    remaining: Integers
    mappings: Integers

    def windows(self) -> Integers:
        """The windows that have any mapping, ascending."""
        return np.unique(self.window)

    def of(self, window: int) -> WindowNeeds:
        """The needs of one window; an empty window needs nothing."""
        low, high = np.searchsorted(self.window, [window, window + 1])
        known = low + int(np.searchsorted(self.join_key[low:high], 0))
        columns = [each[known:high] for each in (self.join_key, self.remaining, self.mappings)]
        links = self.view.links()
        units = units_of_keys(*columns) if links is None else units_of_links(links, *columns)
        join_key = units.unit if links is None else np.unique(columns[0])
        return WindowNeeds(join_key, units, int(self.mappings[low:known].sum()))


@dataclass(frozen=True)
class Statistics:
    """What job A collected: evaluations with any mapping, those to report, counts per service."""

    non_empty: list[int]
    reported: list[int]
    services: list[pa.Table]


def split_statistics(table: pa.Table, plan: QueryPlan) -> Statistics:
    """The collected rows apart by service, with the join key's columns under their own names."""
    whose = table[SERVICE].to_numpy()
    windows = table[EVALUATION].to_numpy()
    services = []
    for number, each in enumerate(plan.services):
        rows = table.filter(pa.array(whose == number))
        names = {key_column(place): column_of(key.name) for place, key in enumerate(each.join_key)}
        columns = {
            EVALUATION: rows[EVALUATION],
            REMAINING: rows[REMAINING],
            MAPPINGS: rows[MAPPINGS],
        }
        columns |= {name: rows[column] for column, name in names.items()}
        services.append(pa.table(columns))
    non_empty, reported = (
        np.unique(windows[whose == kind]).tolist() for kind in (NON_EMPTY, REPORTED)
    )
    return Statistics(non_empty, reported, services)


def read_statistics(
    table: pa.Table, key: Sequence[str], view: LocalView, *, learn: bool = False
) -> KeyStatistics:
    """The statistics that Spark collected, with join keys turned into the view's numbers.

    With `learn` the view gets to know the join keys that it lacks. In an M:N join it always does:
    a refresh may bring rows of a join key that no row had when the batch began.
    """
    keys, place = distinct_keys([table[column_of(name)] for name in key])
    if learn or view.linked:
        view.learn_joins(keys)
    join_key = view.join_numbers(keys)[place]
    window = table[EVALUATION].to_numpy().astype(np.int64)
    order = np.lexsort((join_key, window))
    return KeyStatistics(
        view=view,
        window=window[order],
        join_key=join_key[order],
        remaining=table[REMAINING].to_numpy()[order].astype(np.int64),
        mappings=table[MAPPINGS].to_numpy()[order].astype(np.int64),
    )
