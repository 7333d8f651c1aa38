"""The control plane of a batch: walk the due windows, refresh the view, cut its slices."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa

from bestbefore.engine.key_statistics import KeyStatistics, WindowNeeds
from bestbefore.maintenance import Ledger, Moment, Policy, elect
from bestbefore.maintenance.best_before import fresh_probability
from bestbefore.maintenance.candidates import Integers, Scores
from bestbefore.maintenance.maintainer import apply_refreshes
from bestbefore.service import Service
from bestbefore.spark.columns import FRESH, WINDOW, column_of
from bestbefore.view import ChangeIntervals, Journal, LocalView, Refreshed
from bestbefore.windows import SlidingWindow


@dataclass(frozen=True)
class Maintained:
    """The maintenance of one evaluation: what was fetched, and what it did to the view."""

    refreshed: Refreshed
    completeness: float | None
    changed: int


@dataclass
class Slices:
    """The view slices of the due windows, as row numbers until all of them are cut."""

    windows: list[Integers] = field(default_factory=list)
    rows: list[Integers] = field(default_factory=list)
    fresh: list[Scores] = field(default_factory=list)

    def cut(self, view: LocalView, window: int, needs: WindowNeeds, t_ms: int) -> None:
        """Keep the rows that a window joins with, and the probability that each is fresh."""
        unit, units = needs.units.unit, view.units
        owner, rows = view.row_numbers(unit)
        fresh = fresh_probability(units.refreshed_ms[unit], units.interval_ms[unit], t_ms)
        self.windows.append(np.full(len(rows), window))
        self.rows.append(rows)
        self.fresh.append(fresh[owner])

    def table(self, view: LocalView) -> pa.Table:
        """All slices in one table with the columns of the data plane."""
        none: list[Integers] = [np.empty(0, dtype=np.int64)]
        mappings = view.columns(np.concatenate([*none, *self.rows]).astype(np.int64))
        columns = {column_of(name): mappings[name] for name in view.variables}
        window = np.concatenate([*none, *self.windows]).astype(np.int64)
        fresh = np.concatenate([np.empty(0), *self.fresh])
        return pa.table({WINDOW: window, FRESH: fresh, **columns})


@dataclass(frozen=True)
class Walk:
    """The maintenance process of a query, evaluation after evaluation.

    Each evaluation's requests are reserved in the ledger before they are sent, and their outcome
    is journalled before it is used: a repeated batch takes the outcome from the journal.
    """

    view: LocalView
    policy: Policy
    budget: int
    window: SlidingWindow
    service: Service
    intervals: ChangeIntervals
    ledger: Ledger
    journal: Journal
    seed: int

    def through(
        self, batch: int, due: Iterable[int], statistics: KeyStatistics
    ) -> tuple[pa.Table, list[Maintained]]:
        """Maintain the view for the due windows in order and cut the slice of each."""
        slices, outcomes = Slices(), []
        for evaluation in due:
            needs = statistics.of(evaluation)
            outcomes.append(self._maintain(batch, evaluation, needs))
            slices.cut(self.view, evaluation, needs, self.window.closing(evaluation))
        return slices.table(self.view), outcomes

    def _maintain(self, batch: int, evaluation: int, needs: WindowNeeds) -> Maintained:
        refreshed = self.journal.read(batch, evaluation)
        if refreshed is None:
            refreshed = self._refresh(evaluation, needs)
            if refreshed.elected:
                self.journal.write(batch, refreshed)
        changed = apply_refreshes(self.view, refreshed)
        return Maintained(refreshed, needs.completeness, changed)

    def _refresh(self, evaluation: int, needs: WindowNeeds) -> Refreshed:
        t_ms = self.window.closing(evaluation)
        election = elect(
            self.policy,
            self.view.units,
            needs.units,
            moment=Moment(t_ms, self.window.width_ms, self.window.slide_ms),
            budget=self.budget - self.ledger.spent(evaluation),
            rng=np.random.default_rng([self.seed, evaluation]),
        )
        counts = Refreshed(evaluation, t_ms, candidates=len(election.candidates))
        granted = self.ledger.reserve(evaluation, len(election.elected), limit=self.budget)
        if not granted:
            return counts
        fetched = self.service.fetch([self.view.keys[unit] for unit in election.elected[:granted]])
        found = chain.from_iterable(fetched.rows.values())
        return replace(
            counts,
            rows={key: self.intervals.view_rows(rows) for key, rows in fetched.rows.items()},
            intervals_ms=self.intervals.stated(found),
            failed=fetched.failed,
            elected=granted,
            requests=fetched.requests,
            seconds=fetched.seconds,
        )
