"""What a SERVICE clause asks of a view during a batch, and what it gets: slices and outcomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Integers, Scores
from bestbefore.engine.key_statistics import (
    KeyCounts,
    KeyStatistics,
    counts_of,
    read_statistics,
)
from bestbefore.job import ServiceSettings
from bestbefore.maintenance import Outcome, WindowUnits
from bestbefore.spark.columns import EVALUATION, FRESH, MAPPINGS, RANGE, REMAINING, column_of
from bestbefore.view import LocalView
from bestbefore.windows import Timeline


@dataclass
class Slices:
    """The view slices of the due evaluations, as row numbers until all of them are cut."""

    evaluations: list[Integers] = field(default_factory=list)
    rows: list[Integers] = field(default_factory=list)
    fresh: list[Scores] = field(default_factory=list)

    def cut(
        self, view: LocalView, join_keys: Integers, outcome: Outcome, *, evaluation: int
    ) -> None:
        """Keep the rows that an evaluation joins with, and the probability that each is fresh."""
        unit, rows = view.joined(join_keys)
        self.evaluations.append(np.full(len(rows), evaluation))
        self.rows.append(rows)
        self.fresh.append(outcome.fresh[np.searchsorted(outcome.window.unit, unit)])

    def table(self, view: LocalView, names: Sequence[str]) -> pa.Table:
        """All slices in one table with the columns of the data plane.

        The view's variables have these names there.
        """
        none: list[Integers] = [np.empty(0, dtype=np.int64)]
        mappings = view.columns(np.concatenate([*none, *self.rows]).astype(np.int64))
        renamed = zip(names, view.variables, strict=True)
        columns = {column_of(own): mappings[name] for own, name in renamed}
        evaluation = np.concatenate([*none, *self.evaluations]).astype(np.int64)
        fresh = np.concatenate([np.empty(0), *self.fresh])
        return pa.table({EVALUATION: evaluation, FRESH: fresh, **columns})


@dataclass
class Asking:
    """What one SERVICE clause asks of a view for the due evaluations of its query.

    What it needs is told by the `counts` of job A, or by another service that answers first.
    """

    clause: ServiceSettings
    view: LocalView
    timeline: Timeline
    counts: KeyCounts
    slices: Slices = field(default_factory=Slices)
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._needed = self._read(self.counts)

    def _read(self, counts: KeyCounts) -> KeyStatistics:
        return read_statistics(counts, self.view, learn=self.clause.fetches_missing)

    @property
    def names(self) -> tuple[str, ...]:
        """The view's variables as the clause calls them."""
        return tuple(variable.name for variable in self.clause.plan.variables)

    def need(self, counts: KeyCounts) -> None:
        """Take over what the answers of another service ask for."""
        self._needed = self._read(counts)

    def needs(self, evaluation: int) -> Callable[[], WindowUnits]:
        """The units that an evaluation needs, as the view is when this is called."""
        return self._needed.needs(evaluation)

    def take(self, evaluation: int, outcome: Outcome, own: Outcome) -> None:
        """Take what an evaluation gets: of what was done, and as its query sees it."""
        linked = self.view.linked
        join_keys = self._needed.join_keys(evaluation) if linked else own.window.unit
        self.slices.cut(self.view, join_keys, outcome, evaluation=evaluation)
        self.outcomes.append(own)

    def table(self) -> pa.Table:
        """The slices, as job B joins them."""
        return self.slices.table(self.view, self.names)

    def passed_on(self, evaluation: int, key: Sequence[str]) -> KeyCounts:
        """The counts of a service whose join key the rows for an evaluation bind.

        A row is needed by as many mappings, for as long, as its own join key is.
        """
        entry_key, remaining, mappings = self._needed.entries(evaluation)
        join_keys = self._needed.join_keys(evaluation)
        owner, rows = self.view.owned_rows(join_keys)
        first = np.searchsorted(entry_key, join_keys[owner])
        counts = np.searchsorted(entry_key, join_keys[owner], side="right") - first
        row = np.repeat(np.arange(len(rows)), counts)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        entry = np.repeat(first, counts) + offset
        told = dict(zip(self.names, self.view.variables, strict=True))
        columns = self.view.columns(rows[row].astype(np.int64))
        keys = {column_of(name): columns[told[name]] for name in key}
        figures = {REMAINING: remaining[entry], MAPPINGS: mappings[entry]}
        found = pa.table({**keys, **figures}).group_by([*keys, REMAINING])
        counted = found.aggregate([(MAPPINGS, "sum")]).rename_columns([*keys, REMAINING, MAPPINGS])
        number = pa.array(np.full(len(counted), evaluation, dtype=np.int64))
        for name in RANGE:
            counted = counted.append_column(name, number)
        return counts_of(counted, list(keys))
