"""What job A tells the control plane of the stream: per window and join key, counts by L."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.arrays import Integers
from bestbefore.maintenance import WindowUnits
from bestbefore.maintenance.window_units import run_starts, units_of_keys, units_of_links
from bestbefore.query import QueryPlan, ServicePlan
from bestbefore.rdf.terms import Key
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

# Numbers up to so many times as many as there are of them are added up in a table of all.
_DENSE = 4


@dataclass(frozen=True)
class KeyCounts:
    """How many mappings of join keys there are, in rows that each count in a range of evaluations.

    Rows are in the order of `key`, which is a place among `keys`, and of `end`: that is what L and
    the evaluation add up to, in every evaluation of the range.
    """

    keys: Sequence[Key]
    key: Integers
    first: Integers
    last: Integers
    end: Integers
    mappings: Integers

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: Integers) -> "KeyCounts":
        """Some of the rows, with all keys."""
        columns = (self.key, self.first, self.last, self.end, self.mappings)
        return KeyCounts(self.keys, *(column[rows] for column in columns))

    @property
    def evaluations(self) -> Integers:
        """The evaluations that any row counts in.

        They may be few and far from each other, as after a leap in time.
        """
        if not len(self):
            return self.first
        order = _order(self.first)
        first, last = self.first, self.last
        if order is not None:
            first, last = first[order], last[order]
        last = np.maximum.accumulate(last)
        gaps = np.flatnonzero(first[1:] > last[:-1])
        begins, ends = np.append(0, gaps + 1), np.append(gaps, len(last) - 1)
        return _spread(first[begins], last[ends])[0]


def counts_of(table: pa.Table, key: Sequence[str]) -> KeyCounts:
    """The counts in the columns that Spark collects, by the columns of a join key."""
    keys, row_key = distinct_keys([table[column] for column in key])
    first, last, remaining, mappings = (
        table[name].to_numpy().astype(np.int64) for name in (*RANGE, REMAINING, MAPPINGS)
    )
    found = KeyCounts(keys, row_key, first, last, first + remaining, mappings)
    return found.take(np.lexsort((found.end, found.key)))


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
        low, known, high = self._bounds(evaluation)
        columns, links = self._between(known, high), self.view.links()
        units = units_of_keys(*columns) if links is None else units_of_links(links, *columns)
        unknown = int(self.mappings[low:known].sum())
        return replace(units, unknown=unknown) if unknown else units

    def join_keys(self, evaluation: int) -> Integers:
        """The join keys of an evaluation that the view knows, each once, ascending."""
        _, known, high = self._bounds(evaluation)
        join_key = self.join_key[known:high]
        return join_key[run_starts(join_key)]

    def entries(self, evaluation: int) -> tuple[Integers, Integers, Integers]:
        """The known join keys of an evaluation, ascending, with L and how many mappings have it."""
        _, known, high = self._bounds(evaluation)
        return self._between(known, high)

    def _between(self, low: int, high: int) -> tuple[Integers, Integers, Integers]:
        return self.join_key[low:high], self.remaining[low:high], self.mappings[low:high]

    def _bounds(self, evaluation: int) -> tuple[int, int, int]:
        """Where the rows of an evaluation begin, those of known join keys begin, and both end."""
        low = int(self.evaluation.searchsorted(evaluation))
        high = int(self.evaluation.searchsorted(evaluation, side="right"))
        return low, low + int(self.join_key[low:high].searchsorted(0)), high


@dataclass(frozen=True)
class Statistics:
    """What job A told: counts per service, and the evaluations that are to be reported."""

    services: Sequence[KeyCounts]
    reported: Sequence[int] = ()

    @property
    def non_empty(self) -> list[int]:
        """The evaluations with any mapping."""
        return sorted({one for counts in self.services for one in counts.evaluations.tolist()})

    def told(self, service: ServicePlan, evaluations: Sequence[int]) -> pa.Table:
        """The mappings of evaluations that the counts of a service tell."""
        key = [column_of(variable.name) for variable in service.join_key]
        return told_mappings(self.services[service.number], key, evaluations)


def split_statistics(table: pa.Table, plan: QueryPlan) -> Statistics:
    """The collected rows apart by service."""
    whose = table[SERVICE].to_numpy()
    services = []
    for service in plan.services:
        key = [key_column(position) for position in range(len(service.join_key))]
        services.append(counts_of(table.filter(pa.array(whose == service.number)), key))
    reported = table.filter(pa.array(whose == REPORTED))
    first, last = (reported[name].to_numpy() for name in RANGE)
    return Statistics(services, np.unique(_spread(first, last)[0]).tolist())


def without_fingerprints(table: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
    """The collected rows less the fingerprints of new elements, and those."""
    is_one = pc.equal(table[SERVICE], FINGERPRINTS)
    return table.filter(pc.invert(is_one)), table[FROM_EVALUATION].filter(is_one)


def told_mappings(counts: KeyCounts, key: Sequence[str], evaluations: Sequence[int]) -> pa.Table:
    """The mappings that counts tell, by evaluation and join key, whose columns are called so."""
    evaluation, row = _spread(counts.first, counts.last)
    wanted = np.asarray(evaluations, dtype=np.int64)
    if not np.isin(counts.evaluations, wanted).all():
        answered = np.flatnonzero(np.isin(evaluation, wanted))
        evaluation, row = evaluation[answered], np.arange(len(counts))[row][answered]
    first = int(evaluation.min()) if len(evaluation) else 0
    code = (evaluation - first) * len(counts.keys)
    code += counts.key[row]
    code, mappings = _summed(code, counts.mappings[row])
    number, place = np.divmod(code, max(1, len(counts.keys)))
    # A variable that is not bound is no term.
    parts = zip(*counts.keys, strict=True) if counts.keys else ([] for _ in key)
    columns = [pa.array([term or None for term in part], pa.string()) for part in parts]
    return pa.table(
        {
            EVALUATION: number + first,
            MAPPINGS: mappings,
            **{name: one.take(pa.array(place)) for name, one in zip(key, columns, strict=True)},
        }
    )


def _summed(code: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """The codes that there are, ascending, and for each the sum of its counts."""
    if len(code) and code.max() < _DENSE * len(code):
        number, place = np.arange(int(code.max()) + 1), code
    else:
        number, place = np.unique(code, return_inverse=True)
    sums = np.bincount(place, counts, len(number)).astype(np.int64)
    there = np.flatnonzero(sums)
    return number[there], sums[there]


def _spread(first: Integers, last: Integers) -> tuple[Integers, Integers | slice]:
    """Ranges as single numbers: each number, and the range it is of."""
    if (first == last).all():
        return first, slice(None)
    length = last - first + 1
    row = np.repeat(np.arange(len(first)), length)
    return first[row] + np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length), row


def read_statistics(counts: KeyCounts, view: LocalView, *, learn: bool = False) -> KeyStatistics:
    """The counts with join keys turned into the view's numbers, evaluation by evaluation.

    With `learn` the view gets to know the join keys that it lacks. In an M:N join it always does:
    a refresh may bring rows of a join key that no row had when the batch began.
    """
    if learn or view.linked:
        view.learn_joins(counts.keys)
    number = view.join_numbers(counts.keys)
    ordered = _by_number(counts.key, number)
    evaluation, spread = _spread(counts.first[ordered], counts.last[ordered])
    row = ordered[spread]
    by_evaluation = _order(evaluation)
    if by_evaluation is not None:
        evaluation, row = evaluation[by_evaluation], row[by_evaluation]
    join_key, left = number[counts.key[row]], counts.end[row] - evaluation
    counted, starts = counts.mappings[row], run_starts(evaluation, join_key, left)
    if len(starts) < len(row):
        # What was told in several parts is one row.
        counted = np.add.reduceat(counted, starts)
        evaluation, join_key, left = evaluation[starts], join_key[starts], left[starts]
    return KeyStatistics(view, evaluation, join_key, left, counted)


def _by_number(key: Integers, number: Integers) -> Integers:
    """The order of rows that are in that of their keys by the numbers of these."""
    by_number = np.argsort(number, kind="stable")
    start = np.searchsorted(key, np.arange(len(number) + 1))
    length = np.diff(start)[by_number]
    offset = start[:-1][by_number] - (np.cumsum(length) - length)
    return np.asarray(np.repeat(offset, length) + np.arange(len(key)))


def _order(evaluation: Integers) -> Integers | None:
    """The order by evaluation of rows that else stay in theirs; few numbers are sorted fast.

    None if they are in that order.
    """
    if not len(evaluation) or (evaluation == evaluation[0]).all():
        return None
    if np.ptp(evaluation) <= np.iinfo(np.int16).max:
        evaluation = (evaluation - evaluation.min()).astype(np.int16)
    return np.argsort(evaluation, kind="stable")
