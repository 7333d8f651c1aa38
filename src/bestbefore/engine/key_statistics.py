"""What job A tells the control plane of the stream: per window and join key, counts by L."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.arrays import Integers
from bestbefore.maintenance import WindowUnits
from bestbefore.maintenance.window_units import run_starts, units_of_keys, units_of_links
from bestbefore.query import QueryPlan
from bestbefore.spark.columns import (
    EVALUATION,
    FROM_EVALUATION,
    MAPPINGS,
    RANGE,
    REMAINING,
    column_of,
)
from bestbefore.spark.window_mappings import FINGERPRINTS, REPORTED, SERVICE, key_column
from bestbefore.view import LocalView
from bestbefore.view.links import distinct_keys


@dataclass(frozen=True)
class KeyStatistics:
    """Columns over (evaluation, join key, L), sorted; −1 stands for join keys that nobody knows.

    The view is asked for the units of the join keys when an evaluation's turn comes, since
    refreshes for earlier ones may have changed them.
    """

    view: LocalView
    evaluation: Integers
    join_key: Integers
    remaining: Integers
    mappings: Integers

    def needs(self, evaluation: int) -> Callable[[], WindowUnits]:
        """What an evaluation needs of the view, as the view is when this is called."""
        if self.view.linked:
            return lambda: self.units_of(evaluation)
        units = self.units_of(evaluation)
        return lambda: units

    def units_of(self, evaluation: int) -> WindowUnits:
        """The units that an evaluation needs, whether the view holds them or knows their keys."""
        low, known, _ = self._bounds(evaluation)
        columns, links = self.entries(evaluation), self.view.links()
        units = units_of_keys(*columns) if links is None else units_of_links(links, *columns)
        return replace(units, unknown=int(self.mappings[low:known].sum()))

    def join_keys(self, evaluation: int) -> Integers:
        """The join keys of an evaluation that the view knows, each once, ascending."""
        _, known, high = self._bounds(evaluation)
        join_key = self.join_key[known:high]
        return join_key[run_starts(join_key)]

    def entries(self, evaluation: int) -> tuple[Integers, Integers, Integers]:
        """The known join keys of an evaluation, ascending, with L and how many mappings have it."""
        _, known, high = self._bounds(evaluation)
        return self.join_key[known:high], self.remaining[known:high], self.mappings[known:high]

    def _bounds(self, evaluation: int) -> tuple[int, int, int]:
        """Where the rows of an evaluation begin, those of known join keys begin, and both end."""
        low, high = np.searchsorted(self.evaluation, [evaluation, evaluation + 1])
        known = low + np.searchsorted(self.join_key[low:high], 0)
        return int(low), int(known), int(high)


@dataclass(frozen=True)
class Statistics:
    """What job A collected: evaluations with any mapping, those to report, counts per service."""

    non_empty: list[int]
    reported: list[int]
    services: list[pa.Table]


def split_statistics(table: pa.Table, plan: QueryPlan) -> Statistics:
    """The collected rows apart by service, with the join key's columns under their own names."""
    whose = table[SERVICE].to_numpy()
    services = []
    for service in plan.services:
        rows = table.filter(pa.array(whose == service.number))
        columns = {name: rows[name] for name in (*RANGE, REMAINING, MAPPINGS)}
        for position, variable in enumerate(service.join_key):
            columns[column_of(variable.name)] = rows[key_column(position)]
        services.append(pa.table(columns))
    first, last = (table[name].to_numpy() for name in RANGE)
    found = [whose != REPORTED, whose == REPORTED]
    non_empty, reported = (
        np.unique(_spread(first[rows], last[rows])[0]).tolist() for rows in found
    )
    return Statistics(non_empty, reported, services)


def without_fingerprints(table: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
    """The collected rows less the fingerprints of new elements, and those."""
    is_one = pc.equal(table[SERVICE], FINGERPRINTS)
    return table.filter(pc.invert(is_one)), table[FROM_EVALUATION].filter(is_one)


def told_mappings(table: pa.Table, evaluations: Sequence[int]) -> pa.Table:
    """The mappings that a service's statistics tell, counted by evaluation and join key."""
    keys = [column for column in table.column_names if column not in (*RANGE, REMAINING, MAPPINGS)]
    _, row_key = distinct_keys([table[column] for column in keys])
    _, sample = np.unique(row_key, return_index=True)
    evaluation, row, _ = _spread(*(table[name].to_numpy() for name in RANGE))
    answered = np.isin(evaluation, np.asarray(evaluations, dtype=np.int64))
    evaluation, row = evaluation[answered], row[answered]
    code = evaluation * len(sample) + row_key[row]
    spread = pa.table({"code": code, MAPPINGS: table[MAPPINGS].to_numpy()[row]})
    counted = spread.group_by("code").aggregate([(MAPPINGS, "sum")]).sort_by("code")
    number, key = np.divmod(counted["code"].to_numpy(), max(1, len(sample)))
    return pa.table(
        {
            EVALUATION: number,
            MAPPINGS: counted[f"{MAPPINGS}_sum"],
            **{column: table[column].take(pa.array(sample[key])) for column in keys},
        }
    )


def _spread(first: Integers, last: Integers) -> tuple[Integers, Integers, Integers]:
    """Ranges as single numbers: each number, the range it is of, and its distance to the first."""
    length = last - first + 1
    row = np.repeat(np.arange(len(first)), length)
    ahead = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
    return first[row] + ahead, row, ahead


def read_statistics(
    table: pa.Table, key: Sequence[str], view: LocalView, *, learn: bool = False
) -> KeyStatistics:
    """The statistics that Spark collected, with join keys turned into the view's numbers.

    With `learn` the view gets to know the join keys that it lacks. In an M:N join it always does:
    a refresh may bring rows of a join key that no row had when the batch began.
    """
    keys, row_key = distinct_keys([table[column_of(name)] for name in key])
    if learn or view.linked:
        view.learn_joins(keys)
    number = view.join_numbers(keys)[row_key]
    first, last, remaining, mappings = (
        table[name].to_numpy().astype(np.int64) for name in (*RANGE, REMAINING, MAPPINGS)
    )
    # In every evaluation of a range L and the evaluation add up to the same.
    end = first + remaining
    ordered = np.lexsort((end, number))
    evaluation, row, _ = _spread(first[ordered], last[ordered])
    by_evaluation = _order(evaluation)
    evaluation, row = evaluation[by_evaluation], ordered[row[by_evaluation]]
    join_key, left, counted = number[row], end[row] - evaluation, mappings[row]
    starts = run_starts(evaluation, join_key, left)
    if len(starts) < len(row):
        # What was told in several parts is one row.
        counted = np.add.reduceat(counted, starts)
        evaluation, join_key, left = evaluation[starts], join_key[starts], left[starts]
    return KeyStatistics(view, evaluation, join_key, left, counted)


def _order(evaluation: Integers) -> Integers:
    """The order by evaluation of rows that else stay in theirs; few numbers are sorted fast."""
    if len(evaluation) and np.ptp(evaluation) <= np.iinfo(np.int16).max:
        evaluation = (evaluation - evaluation.min()).astype(np.int16)
    return np.argsort(evaluation, kind="stable")
