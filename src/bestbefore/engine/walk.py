"""The control plane of a batch: walk the due windows, refresh the view, cut its slices."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa

from bestbefore.arrays import Integers, Scores
from bestbefore.engine.key_statistics import KeyStatistics, WindowNeeds
from bestbefore.engine.window_sets import WindowSets, window_sets
from bestbefore.job.job import ServiceJob
from bestbefore.maintenance import Election, Ledger, Moment, Situation, allowance, elect, savings
from bestbefore.maintenance.best_before import fresh_probability
from bestbefore.maintenance.maintainer import apply_refreshes
from bestbefore.service import Service
from bestbefore.spark.columns import EVALUATION, FRESH, column_of
from bestbefore.view import ChangeIntervals, Journal, LocalView, Refreshed
from bestbefore.windows.timeline import Timeline


@dataclass(frozen=True)
class Maintained:
    """The maintenance of one evaluation: what was fetched, and what it did to view and budget.

    `saved` is what flexible allocation has left for later; negative, it was borrowed.
    """

    refreshed: Refreshed
    changed: int
    sets: WindowSets
    saved: int


@dataclass
class Slices:
    """The view slices of the due windows, as row numbers until all of them are cut."""

    windows: list[Integers] = field(default_factory=list)
    rows: list[Integers] = field(default_factory=list)
    fresh: list[Scores] = field(default_factory=list)

    def cut(self, view: LocalView, window: int, needs: WindowNeeds, t_ms: int) -> None:
        """Keep the rows that a window joins with, and the probability that each is fresh."""
        unit, rows = view.joined(needs.join_key)
        units = view.units
        self.windows.append(np.full(len(rows), window))
        self.rows.append(rows)
        self.fresh.append(
            fresh_probability(units.refreshed_ms[unit], units.interval_ms[unit], t_ms)
        )

    def table(self, view: LocalView) -> pa.Table:
        """All slices in one table with the columns of the data plane."""
        none: list[Integers] = [np.empty(0, dtype=np.int64)]
        mappings = view.columns(np.concatenate([*none, *self.rows]).astype(np.int64))
        columns = {column_of(name): mappings[name] for name in view.variables}
        window = np.concatenate([*none, *self.windows]).astype(np.int64)
        fresh = np.concatenate([np.empty(0), *self.fresh])
        return pa.table({EVALUATION: window, FRESH: fresh, **columns})


@dataclass(frozen=True)
class Walk:
    """The maintenance process of a query, evaluation after evaluation.

    Each evaluation's requests are reserved in the ledger before they are sent, and their outcome
    is journalled before it is used: a repeated batch takes the outcome from the journal.
    """

    job: ServiceJob
    view: LocalView
    timeline: Timeline
    service: Service
    intervals: ChangeIntervals
    ledger: Ledger
    journal: Journal

    def through(
        self, batch: int, due: Iterable[int], statistics: KeyStatistics, *, saved: int = 0
    ) -> tuple[pa.Table, list[Maintained]]:
        """Maintain the view for the due windows in order and cut the slice of each."""
        slices, outcomes = Slices(), list[Maintained]()
        for evaluation in due:
            t_ms, needs = self.timeline.at(evaluation), statistics.of(evaluation)
            refreshed = self._refreshed(batch, evaluation, needs, saved)
            changed = apply_refreshes(self.view, refreshed)
            # New rows may link the window's join keys with other units than before.
            needs = statistics.of(evaluation) if changed and self.view.linked else needs
            slices.cut(self.view, evaluation, needs, t_ms)
            saved = self._saved(evaluation, saved)
            sets = window_sets(self.view.units, needs, t_ms)
            outcomes.append(Maintained(refreshed, changed, sets, saved))
        return slices.table(self.view), outcomes

    def _moment(self, evaluation: int) -> Moment:
        t_ms, timeline = self.timeline.at(evaluation), self.timeline
        if timeline.slide_ms is None:
            return Moment(t_ms, self.job.window.width_ms, self.job.window.slide_ms)
        overlap = timeline.instants.windows[0].overlap
        return Moment(t_ms, timeline.slide_ms * overlap, timeline.slide_ms)

    def _saved(self, evaluation: int, saved: int) -> int:
        """The savings after an evaluation; what a crash wasted was spent all the same."""
        if not self.job.policy.flexible:
            return 0
        spent = self.ledger.spent(evaluation)
        return savings(self.job.budget, saved, spent, self._moment(evaluation))

    def _refreshed(self, batch: int, evaluation: int, needs: WindowNeeds, saved: int) -> Refreshed:
        refreshed = self.journal.read(batch, evaluation)
        if refreshed is None:
            refreshed = self._refresh(evaluation, needs, saved)
            if refreshed.elected or refreshed.used:
                self.journal.write(batch, refreshed)
        return refreshed

    def _refresh(self, evaluation: int, needs: WindowNeeds, saved: int) -> Refreshed:
        flexible = self.job.policy.flexible
        moment = self._moment(evaluation)
        limit = allowance(self.job.budget, saved, moment, flexible=flexible)
        election = self._elect(evaluation, needs, saved)
        granted = self.ledger.reserve(evaluation, len(election.elected), limit=limit)
        outcome = Refreshed(evaluation, moment.t_ms, candidates=len(election.candidates))
        if granted:
            outcome = self._fetch(election.elected[:granted], outcome)
        return outcome if self.job.view.capacity is None else self._room(outcome, election, needs)

    def _elect(self, evaluation: int, needs: WindowNeeds, saved: int) -> Election:
        """Elect with what earlier attempts at this evaluation have left of its budget."""
        job, spent = self.job, self.ledger.spent(evaluation)
        flexible, threshold = job.policy.flexible, job.threshold
        situation = Situation(
            self._moment(evaluation),
            budget=job.budget if flexible else job.budget - spent,
            threshold=threshold.number if threshold else None,
            capacity=job.view.capacity,
            saved=saved - spent if flexible else 0,
        )
        rng = np.random.default_rng([job.seed, evaluation])
        return elect(job.policy, self.view.units, needs.units, situation, rng=rng)

    def _fetch(self, elected: Integers, outcome: Refreshed) -> Refreshed:
        fetched = self.service.fetch([self.view.keys[unit] for unit in elected])
        found = chain.from_iterable(fetched.rows.values())
        return replace(
            outcome,
            rows={key: self.intervals.view_rows(rows) for key, rows in fetched.rows.items()},
            intervals_ms=self.intervals.stated(found),
            failed=fetched.failed,
            elected=len(elected),
            requests=fetched.requests,
            seconds=fetched.seconds,
        )

    def _room(self, outcome: Refreshed, election: Election, needs: WindowNeeds) -> Refreshed:
        """Let as many units leave as really came in; note those that the window uses."""
        held, keys = self.view.units.held.copy(), self.view.keys
        held[self.view.numbers(outcome.rows)] = True
        excess = int(held.sum()) - (self.job.view.capacity or 0)
        evicted = election.evicted[: max(0, excess)]
        held[evicted] = False
        used = needs.units.unit[held[needs.units.unit]]
        return replace(
            outcome,
            evicted=tuple(keys[unit] for unit in evicted),
            used=tuple(keys[unit] for unit in used),
        )
