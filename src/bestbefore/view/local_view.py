"""The local view R of one SERVICE pattern."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Booleans, Integers
from bestbefore.rdf.terms import Key, Row
from bestbefore.time import LIVE_WITHIN_MS
from bestbefore.view.change_rates import ChangeRates
from bestbefore.view.fresh_count import FreshCount
from bestbefore.view.key_index import KeyIndex
from bestbefore.view.links import RowLinks
from bestbefore.view.rows import Rows, table_of
from bestbefore.view.units import CHANGED, NEVER_RETRY, Units, new_units

# So many units move up at once where others were dropped, and so many more for each of these.
_MOVED_AT_ONCE, _MOVED_PER_HOLE = 4_096, 16

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

    What an evaluation does costs what it touches; what costs as much as the view is large is put
    off until as much was touched. `refreshes` counts those tried since the last snapshot.
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
        self.refreshes = 0
        self.keys, self.units = list(keys), units
        self._number = KeyIndex(self.keys)
        self._rows = Rows(rows)
        self._missing, self._holes = set(np.flatnonzero(~units.held).tolist()), list[int]()
        self._learned = list[int]()
        self._count: FreshCount | None = None
        self._links: RowLinks | None = None
        if self.join_key != self.key:
            self._links = RowLinks(self.join_key, self.variables, units)
            self._links.settle(rows, *self._all_rows())

    def __len__(self) -> int:
        return len(self.keys)

    def begin(self, t_ms: int, *, slide_ms: int = 0) -> None:
        """Let τ of what was loaded be the first evaluation time.

        The age counts from when it was loaded, if that is known and the stream is live. A stream
        that is replayed is taken to have begun then: a slide before its first evaluation.
        """
        loaded_ms = self.units.refreshed_ms
        live = (loaded_ms > 0) & (np.abs(loaded_ms - t_ms) <= LIVE_WITHIN_MS)
        self.units.refreshed_ms[:] = np.where(
            live | (loaded_ms == CHANGED), loaded_ms, t_ms - slide_ms
        )
        self.units.best_before_ms[:] = t_ms
        self._count = None

    def numbers(self, keys: Iterable[Key]) -> Integers:
        """The unit number of each refresh key, −1 where the view does not know it."""
        return self._number.find(list(keys))

    def join_numbers(self, keys: Iterable[Key]) -> Integers:
        """The number of each join key, −1 where the view does not know it."""
        return self.numbers(keys) if self._links is None else self._links.numbers(list(keys))

    def learn(self, keys: Iterable[Key]) -> None:
        """Give a number to units that the view does not know; it does not hold them yet."""
        # In an order of their own, so that the numbers do not depend on who met them first.
        keys = list(keys)
        new = sorted({keys[place] for place in np.flatnonzero(self.numbers(keys) < 0)})
        if not new:
            return
        first = len(self.keys)
        self._learned.append(first)
        self.units.extend(len(new), interval_ms=self.defaults.interval_ms)
        self.keys.extend(new)
        self._number.append(new)
        self._missing.update(range(first, len(self.keys)))
        stated = self.defaults.intervals_ms
        self.set_intervals({key: stated[key] for key in new if key in stated})
        self.prepare(first)

    def learn_joins(self, keys: Iterable[Key]) -> None:
        """Give a number to join keys that no row has yet; in a 1:1 join these are units."""
        if self._links is None:
            self.learn(keys)
        else:
            self._links.learn(list(keys))

    @property
    def linked(self) -> bool:
        """Whether rows link join keys with other units (M:N)."""
        return self._links is not None

    def links(self) -> RowLinks | None:
        """The units of each join key in an M:N join, as the rows are now; None in a 1:1 join."""
        return self._links

    def joined(self, join_keys: Integers) -> tuple[Integers, Integers]:
        """The rows with these join keys: the unit of each, and its row number."""
        if self._links is None:
            owner, rows = self.row_numbers(join_keys)
            return join_keys[owner], rows
        _, unit, rows = self._links.rows(join_keys)
        return unit, rows

    def owned_rows(self, join_keys: Integers) -> tuple[Integers, Integers]:
        """The rows with these join keys: which of them each has, and its row number."""
        if self._links is None:
            return self.row_numbers(join_keys)
        owner, _, rows = self._links.rows(join_keys)
        return owner, rows

    def rows_of(self, unit: int) -> list[Row]:
        """The rows of one unit."""
        return self._rows_by(np.array([unit]))[0]

    def row_numbers(self, units: Integers) -> tuple[Integers, Integers]:
        """For the rows of `units`: which of `units` each belongs to, and its row number."""
        counts = self.units.row_count[units]
        if (counts == 1).all():
            return np.arange(len(units)), self.units.row_start[units]
        owner = np.repeat(np.arange(len(units)), counts)
        first = np.cumsum(counts) - counts
        offset = np.arange(len(owner)) - np.repeat(first, counts)
        return owner, np.repeat(self.units.row_start[units], counts) + offset

    def columns(self, row_numbers: Integers) -> pa.Table:
        """The mappings behind row numbers, one string column per variable."""
        return self._rows.table(row_numbers)

    def replace(self, units: Integers, content: Sequence[Sequence[Row]]) -> Booleans:
        """Let units have these rows from now on; tell of each whether it had others before."""
        self._change(units)
        self.refreshes += len(units)
        self._missing.difference_update(units.tolist())
        pairs = zip(self._rows_by(units), content, strict=True)
        changed = [old != list(new) and Counter(old) != Counter(new) for old, new in pairs]
        if any(changed):
            self._point(units[changed], list(compress(content, changed)))
        return np.array(changed, dtype=np.bool_)

    def _rows_by(self, units: Integers) -> list[list[Row]]:
        """The rows of each of some units."""
        found: list[list[Row]] = [[] for _ in units]
        owner, numbers = self.row_numbers(units)
        for place, row in zip(owner.tolist(), self._rows.tuples(numbers), strict=True):
            found[place].append(row)
        return found

    def _point(self, units: Integers, content: Sequence[Sequence[Row]]) -> None:
        """Append rows, and point units at them."""
        counts = np.array([len(rows) for rows in content], dtype=np.int64)
        first = self._rows.append(list(chain.from_iterable(content)))
        self.units.row_start[units] = first + np.cumsum(counts) - counts
        self.units.row_count[units] = counts
        if self.defaults.measure is not None:
            self.units.value[units] = [self.defaults.measure(rows) for rows in content]
        if self._links is not None:
            self._links.append(units.tolist(), content, first)

    def evict(self, units: Integers) -> None:
        """Let units leave the view; their keys stay known."""
        self._change(units)
        self._missing.update(units.tolist())
        self.units.held[units] = False
        self.units.row_count[units] = 0
        self.units.value[units] = np.nan

    def mark_changed(self, keys: Iterable[Key], t_ms: int) -> list[Key]:
        """Let held units be stale for certain, from a time on; return their keys."""
        number = self.numbers(known := list(keys))
        held = (number >= 0) & self.units.held[number]
        units = number[held]
        self._change(units)
        self.units.refreshed_ms[units] = CHANGED
        self.units.best_before_ms[units] = np.minimum(self.units.best_before_ms[units], t_ms)
        return list(compress(known, held))

    def fresh(self, units: Integers, t_ms: int) -> Booleans:
        """Which of some units are held and fresh, as far as best-before times tell."""
        return self.units.fresh(units, t_ms)

    def sizes(self, t_ms: int) -> tuple[int, int]:
        """How many units the view holds, and how many of these are fresh as far as is known."""
        if self._count is None or t_ms < self._count.t_ms or self._count.large:
            self._count = FreshCount(self.units, t_ms)
        return self._count.at(t_ms)

    def set_intervals(self, interval_ms: Mapping[Key, int]) -> None:
        """Take over the change intervals of some units; keys not in the view are ignored."""
        number = self.numbers(interval_ms)
        known, interval = number >= 0, np.array(list(interval_ms.values()), dtype=np.int64)
        self.units.interval_ms[number[known]] = np.maximum(1, interval[known])

    def compact(self, *, fully: bool = False) -> None:
        """Drop what nothing points at: units that the view does not hold, and rows of no unit.

        A unit whose request failed is remembered. Numbers given out before are void afterwards.
        Unless `fully`, what would take longer than it is worth by now is left for later.
        """
        failures = self.units.failures
        self._arrange()
        self._forget([unit for unit in self._missing if not failures[unit]])
        self._close_holes(fully=fully)
        if self._rows.unsettled or self._overgrown():
            self._settle_rows()

    def forget_failed(self, evaluation: int) -> None:
        """Drop units that the view does not hold and that nobody asked for again in due time."""
        units = self.units
        overdue = units.retry_at + (1 << np.minimum(units.failures, 32)) <= evaluation
        self._forget([unit for unit in self._missing if overdue[unit]])
        self._close_holes(fully=True)

    def known(self) -> Integers:
        """The units that were not dropped, in their order."""
        return np.delete(np.arange(len(self)), self._holes)

    def dropped(self) -> Integers:
        """The numbers of units that were dropped, where others have not moved up yet."""
        return np.sort(np.array(self._holes, dtype=np.int64))

    def ranks(self, units: Integers) -> tuple[Integers, int]:
        """The ranks of some units among those that were not dropped, and how many these are."""
        holes = self.dropped()
        return units - np.searchsorted(holes, units), len(self) - len(holes)

    def prepare(self, first: int = 0) -> None:
        """Mark the new units, from a number on, that can never be asked for; learn of all."""
        refused = [self.defaults.refusal(key) is not None for key in self.keys[first:]]
        self.units.retry_at[first:][refused] = NEVER_RETRY
        rates = self.units.rates
        if rates is not None and refused:
            rates.extend(len(refused))
            if not rates.stated:
                # Nothing is known of any of them.
                self.units.interval_ms[first:] = rates.interval_ms(np.array([first]))

    def _change(self, units: Integers) -> None:
        if self._count is not None:
            self._count.change(units)

    def _all_rows(self) -> tuple[Integers, Integers]:
        """The unit and the number of every row, in the order of units."""
        return self.row_numbers(np.arange(len(self)))

    def _settle_rows(self) -> None:
        unit, numbers = self._all_rows()
        rows, counts = self._rows.keep(numbers), self.units.row_count
        self.units.row_start[:] = np.cumsum(counts) - counts
        if self._links is not None:
            self._links.settle(rows, unit, np.arange(len(rows)))

    def _overgrown(self) -> bool:
        """Whether windows have brought more join keys than there are rows."""
        return self._links is not None and len(self._links) > len(self._rows)

    def _forget(self, units: list[int]) -> None:
        """Drop units: each leaves a hole in the columns."""
        self._number.remove(np.array(units, dtype=np.int64))
        self._missing.difference_update(units)
        self._holes += units

    def _close_holes(self, *, fully: bool) -> None:
        """Let units move up to where others were dropped, in their order, if that is worth it."""
        if not self._holes:
            return
        first, size = min(self._holes), len(self)
        if size - first > _MOVED_AT_ONCE + _MOVED_PER_HOLE * len(self._holes) and not fully:
            return
        kept = np.delete(np.arange(first, size), np.array(self._holes) - first)
        self._holes = []
        self._renumber(kept, first)

    def _arrange(self) -> None:
        """Let units that were met one after the other since then have the order of their keys.

        Whoever meets them all at once, from a journal, numbers them so.
        """
        if len(self._learned) > 1:
            first = self._learned[0]
            order = sorted(range(first, len(self)), key=self.keys.__getitem__)
            self._renumber(np.array(order), first)
        self._learned = []

    def _renumber(self, kept: Integers, first: int) -> None:
        """Number units anew from `first` on, in this order; all others from there are dropped."""
        if self._count is not None:
            self._count.settle()
        numbers = dict(zip(kept.tolist(), range(first, len(self)), strict=False))
        self._missing = {numbers.get(unit, unit) for unit in self._missing}
        self.keys[first:] = [self.keys[unit] for unit in numbers]
        for column in (self._number, self.units):
            column.move_up(kept, first)
        if self._links is not None:
            self._settle_rows()


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
    table = table_of(variables, chain.from_iterable(grouped.values()))
    view = LocalView(
        key,
        list(grouped),
        units=units,
        rows=table,
        join_key=join_key,
        defaults=defaults,
    )
    view.units.rates = rates
    view.prepare()
    return view
