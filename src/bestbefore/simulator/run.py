"""One run: a policy with a budget and a seed over a scenario."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance import (
    Election,
    Moment,
    Need,
    Policy,
    Situation,
    WindowUnits,
    elect,
    savings,
)
from bestbefore.maintenance.best_before import fresh_probability
from bestbefore.maintenance.change_rates import ChangeRates
from bestbefore.maintenance.maintainer import evict, renew
from bestbefore.simulator.answers import (
    AggregatedComparison,
    Comparison,
    FilteredComparison,
    Side,
    Tally,
    compare_rows,
)
from bestbefore.simulator.background import NO_ROW
from bestbefore.simulator.condition import Condition
from bestbefore.simulator.scenario import Scenario
from bestbefore.simulator.series import Series, empty_series
from bestbefore.view.units import Units, new_units


@dataclass(frozen=True, slots=True)
class Setting:
    """What a simulated query and its view are like, besides window and traces."""

    condition: Condition | None = None
    aggregate: str | None = None
    capacity: int | None = None
    learned: bool = False

    @property
    def given(self) -> frozenset[Need]:
        """What a policy may count on here."""
        given = {Need.ORACLE}
        if self.condition is not None:
            given.add(Need.FILTER)
        if self.aggregate is not None:
            given.add(Need.AGGREGATE)
        return frozenset(given)

    @property
    def comparison(self) -> Comparison:
        """How answers follow from rows."""
        if self.aggregate is not None:
            return AggregatedComparison(self.aggregate)
        return FilteredComparison(self.condition) if self.condition else compare_rows


PLAIN = Setting()


def run(
    scenario: Scenario, policy: Policy, *, budget: int, seed: int, setting: Setting = PLAIN
) -> Series:
    """Simulate every evaluation of the scenario, and tell of each what came of it."""
    series = empty_series(len(scenario.evaluations))
    state = _State(scenario, policy, setting)
    for position, evaluation in enumerate(scenario.evaluations):
        window = scenario.contents[position]
        state.advance(position, evaluation)
        situation = state.situation(budget)
        rng = np.random.default_rng([seed, evaluation])
        election = elect(policy, state.units, window, situation, rng=rng)
        state.maintain(election, window, budget)
        series.note(position, election, state.tally(window), state.saved)
        series.note_sets(position, state.sets(window))
    return series


class _State:
    """The view and the remote data as they are in the course of a run; also the oracle."""

    def __init__(self, scenario: Scenario, policy: Policy, setting: Setting) -> None:
        self.scenario, self.policy, self.setting = scenario, policy, setting
        self.background, self.saved, self.t_ms = scenario.background, 0, 0
        self.comparison = setting.comparison
        self.truth = scenario.initial.copy()
        self.true_code = self.background.code[self.truth]
        self.units = _loaded(scenario, empty=setting.capacity is not None)
        self.code = self.background.code[self.units.row_start]
        self.rates = _rates(scenario, self.units) if setting.learned else None

    def advance(self, position: int, evaluation: int) -> None:
        """Let time pass to an evaluation: remote data change, the view does not."""
        self.t_ms = self.scenario.window.closing(evaluation)
        versions = self.scenario.changes.of(position)
        units = self.background.unit[versions]
        self.truth[units] = versions
        self.true_code[units] = self.background.code[versions]

    def situation(self, budget: int) -> Situation:
        """What the policy is told."""
        window, condition = self.scenario.window, self.setting.condition
        return Situation(
            Moment(self.t_ms, window.width_ms, window.slide_ms),
            budget,
            threshold=condition.threshold if condition else None,
            capacity=self.setting.capacity,
            saved=self.saved,
            oracle=self if Need.ORACLE in self.policy.needs else None,
        )

    def stale(self, units: Integers) -> Booleans:
        """Which units of the view differ from the remote data."""
        return np.asarray(self.code[units] != self.true_code[units])

    def next_change_ms(self, units: Integers) -> Integers:
        """When the remote data of units change next."""
        return self.background.next_change_ms(self.truth[units], units)

    def maintain(self, election: Election, window: WindowUnits, budget: int) -> None:
        """Apply an election as the engine does, with the remote data's answers."""
        units, elected = self.units, election.elected
        if len(election.evicted):
            evict(units, election.evicted)
            units.row_start[election.evicted] = NO_ROW
            self.code[election.evicted] = NO_ROW
        if self.rates is not None:
            self._learn(self.rates, elected)
        renew(units, elected, self.t_ms)
        units.row_start[elected] = self.truth[elected]
        self.code[elected] = self.true_code[elected]
        units.value[elected] = self.background.number[self.truth[elected]]
        units.used_ms[window.unit[units.held[window.unit]]] = self.t_ms
        if self.policy.flexible:
            moment = self.situation(budget).moment
            self.saved = savings(budget, self.saved, len(elected), moment)

    def _learn(self, rates: ChangeRates, elected: Integers) -> None:
        known = elected[self.units.held[elected]]
        age_ms = self.t_ms - self.units.refreshed_ms[known]
        rates.observe(known, age_ms, self.stale(known))
        self.units.interval_ms[known] = rates.interval_ms(known)

    def tally(self, window: WindowUnits) -> Tally:
        """The answers of this evaluation against the true ones."""
        unit, number = window.unit, self.background.number
        ours = Side(self.code[unit] >= 0, self.code[unit], number[self.units.row_start[unit]])
        truth = Side(self.true_code[unit] >= 0, self.true_code[unit], number[self.truth[unit]])
        refreshed, interval = self.units.refreshed_ms[unit], self.units.interval_ms[unit]
        fresh = fresh_probability(refreshed, interval, self.t_ms)
        return self.comparison(window, ours, truth, fresh)

    def sets(self, window: WindowUnits) -> tuple[int, ...]:
        """The sizes of the sets A to G of the thesis (section 6.2.2)."""
        held = self.units.held
        fresh = held & (self.code == self.true_code)
        needed, mappings = window.unit, window.mappings
        needed_fresh, needed_held = fresh[needed], held[needed]
        c, all_fresh = int(np.count_nonzero(needed_fresh)), int(np.count_nonzero(fresh))
        d = int(np.count_nonzero(needed_held)) - c
        all_held = int(np.count_nonzero(held))
        e = int(mappings @ needed_fresh)
        f = int(mappings @ needed_held) - e
        g = int(mappings.sum()) - e - f
        return all_fresh - c, all_held - all_fresh - d, c, d, e, f, g


def _loaded(scenario: Scenario, *, empty: bool) -> Units:
    """The view as it is at the first evaluation: loaded before it, or of limited size and empty."""
    initial = np.full_like(scenario.initial, NO_ROW) if empty else scenario.initial.copy()
    units = new_units(initial, np.ones(len(initial), dtype=np.int64), 1)
    first_ms = scenario.window.closing(scenario.evaluations.start)
    units.interval_ms[:] = scenario.interval_ms
    units.refreshed_ms[:] = first_ms
    units.best_before_ms[:] = scenario.best_before_ms
    units.held[:] = initial >= 0
    units.value[:] = scenario.background.number[initial]
    return units


def _rates(scenario: Scenario, units: Units) -> ChangeRates:
    """Nothing is known of any rate before the first refresh."""
    window = scenario.window
    span_ms = len(scenario.evaluations) * window.slide_ms
    units.interval_ms[:] = max(window.width_ms, span_ms // 10)
    units.best_before_ms[:] = window.closing(scenario.evaluations.start)
    shortest, longest = max(1, window.slide_ms // 10), 10 * span_ms
    return ChangeRates(len(units), shortest_ms=shortest, longest_ms=longest)
