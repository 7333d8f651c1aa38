"""The local view R of one SERVICE pattern."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Booleans, Integers
from bestbefore.rdf.terms import Key, Row
from bestbefore.view.change_rates import ChangeRates
from bestbefore.view.links import Links, RowKeys, link
from bestbefore.view.units import NEVER_RETRY, Units, new_units

Measure = Callable[[Sequence[Row]], float]
"""The number that a FILTER compares, as found in the rows of a unit; NaN where there is none."""


@dataclass(frozen=True)
class UnitDefaults:
    """What is known of a unit that a view gets to know, before anything was fetched.

    `interval_ms` is for the units that `intervals_ms` does not name; `refusal` gives the reason why
    a key can never be sent to the service, `measure` finds the number of a unit's rows.
    """

    interval_ms: int = 1
    intervals_ms: Mapping[Key, int] = field(default_factory=dict)
    measure: Measure | None = None
    refusal: Callable[[Key], str | None] = lambda _: None


NO_DEFAULTS = UnitDefaults()


class LocalView:
    """Cached mappings of a SERVICE pattern, grouped into units by their refresh key.

    Rows are only ever appended: a refresh points its unit at new rows and leaves the old ones in
    place, so row numbers that an evaluation has cut stay valid until `compact` is called. So do the
    numbers of units and join keys. Where the join key is the refresh key a unit is a join key (1:1)
    and has its number; where it is another, the rows link join keys with units (M:N).
    """

    def __init__(
        self,
        key: Sequence[str],
        keys: Sequence[Key],
        *,
        units: Units,
        rows: pa.Table,
        join_key: Sequence[str] | None = None,
        defaults: UnitDefaults = NO_DEFAULTS,
    ) -> None:
        self.key, self.join_key = tuple(key), tuple(key if join_key is None else join_key)
        self.variables, self.defaults = tuple(rows.column_names), defaults
        self.rates: ChangeRates | None = None
        self.keys, self.units = list(keys), units
        self._number = {each: number for number, each in enumerate(self.keys)}
        self._settled = rows
        self._recent: list[Row] = []
        self._row_keys = RowKeys(self.join_key, rows) if self.join_key != self.key else None
        self._links: tuple[Links, Integers] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def begin(self, t_ms: int) -> None:
        """Take the view as loaded at the first evaluation time: age and τ count from there."""
        self.units.refreshed_ms[:] = t_ms
        self.units.best_before_ms[:] = t_ms

    def numbers(self, keys: Iterable[Key]) -> Integers:
        """The unit number of each refresh key, −1 where the view does not know it."""
        return np.fromiter((self._number.get(key, -1) for key in keys), np.int64)

    def join_numbers(self, keys: Iterable[Key]) -> Integers:
        """The number of each join key, −1 where the view does not know it."""
        return self.numbers(keys) if self._row_keys is None else self._row_keys.numbers(keys)

    def learn(self, keys: Iterable[Key]) -> None:
        """Give a number to units that the view does not know; it does not hold them yet."""
        # In an order of their own, so that the numbers do not depend on who met them first.
        new = sorted({key for key in keys if key not in self._number})
        if not new:
            return
        first = len(self.keys)
        self.units = self.units.extended(len(new), interval_ms=self.defaults.interval_ms)
        self.keys.extend(new)
        self._number.update(zip(new, range(first, len(self.keys)), strict=True))
        stated = self.defaults.intervals_ms
        self.set_intervals({key: stated[key] for key in new if key in stated})
        self.prepare(first)

    def learn_joins(self, keys: Iterable[Key]) -> None:
        """Give a number to join keys that no row has yet; in a 1:1 join these are units."""
        if self._row_keys is None:
            self.learn(keys)
        elif self._row_keys.learn(keys):
            self._links = None

    @property
    def linked(self) -> bool:
        """Whether rows link join keys with other units (M:N)."""
        return self._row_keys is not None

    def links(self) -> Links | None:
        """The units of each join key in an M:N join, as the rows are now; None in a 1:1 join."""
        return None if self._row_keys is None else self._linked(self._row_keys)[0]

    def joined(self, join_keys: Integers) -> tuple[Integers, Integers]:
        """The rows with these join keys: the unit of each, and its row number."""
        if self._row_keys is None:
            owner, rows = self.row_numbers(join_keys)
            return join_keys[owner], rows
        links, rows = self._linked(self._row_keys)
        _, edges = links.edges(join_keys)
        return links.unit[edges], rows[edges]

    def rows_of(self, unit: int) -> list[Row]:
        """The rows of one unit."""
        return self._take(self.row_numbers(np.array([unit]))[1])

    def row_numbers(self, units: Integers) -> tuple[Integers, Integers]:
        """For the rows of `units`: which of `units` each belongs to, and its row number."""
        counts = self.units.row_count[units]
        owner = np.repeat(np.arange(len(units)), counts)
        first = np.cumsum(counts) - counts
        offset = np.arange(len(owner)) - np.repeat(first, counts)
        return owner, np.repeat(self.units.row_start[units], counts) + offset

    def columns(self, row_numbers: Integers) -> pa.Table:
        """The mappings behind row numbers, one string column per variable."""
        whole = pa.concat_tables([self._settled, _table(self.variables, self._recent)])
        return whole.take(pa.array(row_numbers))

    def replace(self, units: Integers, content: Sequence[Sequence[Row]]) -> Booleans:
        """Let units have these rows from now on; tell of each whether it had others before."""
        pairs = zip(units.tolist(), content, strict=True)
        return np.array([self._replace(unit, rows) for unit, rows in pairs], dtype=np.bool_)

    def _replace(self, unit: int, rows: Sequence[Row]) -> bool:
        changed = Counter(self.rows_of(unit)) != Counter(rows)
        if changed:
            self.units.row_start[unit] = len(self._settled) + len(self._recent)
            self.units.row_count[unit] = len(rows)
            self._recent.extend(rows)
            self._note(unit, rows)
        return changed

    def evict(self, units: Integers) -> None:
        """Let units leave the view; their keys stay known."""
        self.units.held[units] = False
        self.units.row_count[units] = 0
        self.units.value[units] = np.nan

    def fresh(self, t_ms: int) -> Booleans:
        """Which of the held units are fresh, as far as best-before times tell."""
        return self.units.fresh(t_ms)

    def set_intervals(self, interval_ms: Mapping[Key, int]) -> None:
        """Take over the change intervals of some units; keys not in the view are ignored."""
        for key, interval in interval_ms.items():
            if (number := self._number.get(key)) is not None:
                self.units.interval_ms[number] = max(1, interval)

    def compact(self) -> None:
        """Drop what nothing points at: units that the view does not hold, and rows of no unit.

        A unit whose request failed is remembered. Numbers given out before are void afterwards.
        """
        self._forget(~self.units.held & (self.units.failures == 0))
        if len(self._recent) * 4 < len(self._settled) and not self._overgrown():
            return
        _, numbers = self.row_numbers(np.arange(len(self)))
        self._settled, self._recent = self.columns(numbers).combine_chunks(), []
        counts = self.units.row_count
        self.units.row_start = np.cumsum(counts) - counts
        if self._row_keys is not None:
            self._row_keys.settle(self._settled)
            self._links = None

    def forget_failed(self, evaluation: int) -> None:
        """Drop units that the view does not hold and that nobody asked for again in due time."""
        units = self.units
        overdue = units.retry_at + (1 << np.minimum(units.failures, 32)) <= evaluation
        self._forget(~units.held & overdue)

    def prepare(self, first: int = 0) -> None:
        """Mark the new units, from a number on, that can never be asked for; learn of all."""
        refused = [self.defaults.refusal(key) is not None for key in self.keys[first:]]
        self.units.retry_at[first:][refused] = NEVER_RETRY
        if self.rates is not None:
            self.rates.extend(len(self.keys) - first)
            new = np.arange(first, len(self.keys))
            self.units.interval_ms[new] = self.rates.interval_ms(new)

    def _note(self, unit: int, rows: Sequence[Row]) -> None:
        if self.defaults.measure is not None:
            self.units.value[unit] = self.defaults.measure(rows)
        if self._row_keys is not None:
            self._row_keys.append(rows)
            self._links = None

    def _linked(self, row_keys: RowKeys) -> tuple[Links, Integers]:
        """The links, and the number of the row behind each."""
        if self._links is None:
            unit, rows = self.row_numbers(np.arange(len(self)))
            links, order = link(row_keys.of_rows(rows), unit, keys=len(row_keys))
            self._links = links, rows[order]
        return self._links

    def _overgrown(self) -> bool:
        """Whether windows have brought more join keys than there are rows."""
        rows = len(self._settled) + len(self._recent)
        return self._row_keys is not None and len(self._row_keys) > rows

    def _forget(self, units: Booleans) -> None:
        """Drop the marked units; the others move up, in their order."""
        if not units.any():
            return
        first, kept = int(np.argmax(units)), ~units
        for key in self.keys[first:]:
            del self._number[key]
        self.keys[first:] = [self.keys[number] for number in np.flatnonzero(kept) if number > first]
        self._number.update(zip(self.keys[first:], range(first, len(self.keys)), strict=True))
        self.units, self._links = self.units.only(kept), None
        if self.rates is not None:
            self.rates.keep(kept)

    def _take(self, row_numbers: Integers) -> list[Row]:
        settled = len(self._settled)
        return [
            self._recent[number - settled]
            if number >= settled
            else tuple(column[int(number)].as_py() for column in self._settled.columns)
            for number in row_numbers
        ]


def view_of(
    rows: Iterable[Row],
    variables: Sequence[str],
    key: Sequence[str],
    *,
    join_key: Sequence[str] | None = None,
    defaults: UnitDefaults = NO_DEFAULTS,
    rates: ChangeRates | None = None,
) -> LocalView:
    """A view of rows as a service gave them, in units by the variables of the refresh key."""
    positions = [variables.index(name) for name in key]
    grouped: dict[Key, list[Row]] = {}
    for row in rows:
        grouped.setdefault(tuple(str(row[position]) for position in positions), []).append(row)
    counts = np.fromiter((len(unit) for unit in grouped.values()), np.int64, len(grouped))
    units = new_units(np.cumsum(counts) - counts, counts, defaults.interval_ms)
    if defaults.measure is not None:
        units.value[:] = [defaults.measure(unit) for unit in grouped.values()]
    table = _table(variables, [row for unit in grouped.values() for row in unit])
    view = LocalView(
        key,
        list(grouped),
        units=units,
        rows=table,
        join_key=join_key,
        defaults=defaults,
    )
    view.rates = rates
    view.prepare()
    return view


def _table(variables: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    columns = [[row[position] for row in rows] for position in range(len(variables))]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=list(variables))
