"""One run: a policy with a budget and a seed over a scenario."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from bestbefore.arrays import Booleans, Integers
from bestbefore.maintenance import (
    MemoryLedger,
    Need,
    Outcome,
    Policy,
    Situation,
    maintain,
)
from bestbefore.simulator.answers import (
    AggregatedComparison,
    Comparison,
    Condition,
    FilteredComparison,
    Side,
    Tally,
    compare_rows,
)
from bestbefore.simulator.background import NO_ROW
from bestbefore.simulator.bound import offline_schedule
from bestbefore.simulator.remote_data import RemoteData
from bestbefore.simulator.result import Series, empty_series
from bestbefore.simulator.scenario import Scenario
from bestbefore.view import ChangeRates
from bestbefore.view.units import Units, new_units


@dataclass(frozen=True, slots=True)
class Setting:
    """What a simulated query and its view are like, besides window and traces.

    Change intervals are `learned` from nothing, learned from `stated` ones, or known.
    """

    condition: Condition | None = None
    aggregate: str | None = None
    capacity: int | None = None
    learned: bool = False
    stated: bool = False

    @property
    def threshold(self) -> float | None:
        """The threshold of the FILTER, if there is one."""
        return self.condition.threshold if self.condition else None

    @property
    def given(self) -> frozenset[Need]:
        """What a policy may count on here."""
        given = {Need.ORACLE}
        if self.condition is not None:
            given.add(Need.FILTER)
        if self.aggregate is not None:
            given.add(Need.AGGREGATE)
        if self.condition is None and self.aggregate is None and self.capacity is None:
            given.add(Need.FUTURE)
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
    remote, ledger = RemoteData(scenario), MemoryLedger()
    saved, price = 0, None
    view, comparison = TraceView(scenario, setting, remote), setting.comparison
    if Need.FUTURE in policy.needs:
        view.schedule = offline_schedule(scenario, policy.proposer, budget)
    for position, evaluation in enumerate(scenario.evaluations):
        remote.advance(position)
        situation = Situation(
            scenario.moment(evaluation),
            budget,
            threshold=setting.threshold,
            aggregated=setting.aggregate is not None,
            capacity=setting.capacity,
            saved=saved,
            price=price,
            oracle=view if policy.needs_oracle else None,
            evaluation=evaluation,
            seed=seed,
        )
        # No refresh changes what an evaluation needs: the links are part of the scenario.
        needs = partial(scenario.contents.__getitem__, position)
        outcome = maintain(policy, view, needs, situation, source=remote, ledger=ledger)
        saved, price = outcome.saved, outcome.price
        series.note(position, outcome, view.tally(outcome, comparison))
    return series


class TraceView:
    """The view of a simulation: which version of the background it has of each unit.

    It is loaded before the first evaluation; one of limited size starts empty. It knows the remote
    data, so it is also the oracle, and the judge of its own answers. `schedule` are the units that
    each evaluation refreshes, where that was settled beforehand.
    """

    def __init__(self, scenario: Scenario, setting: Setting, remote: RemoteData) -> None:
        self.background, self.remote = scenario.background, remote
        empty = setting.capacity is not None
        initial = np.full_like(scenario.initial, NO_ROW) if empty else scenario.initial.copy()
        self.version, self.code = initial, self.background.code[initial]
        self.schedule: tuple[Integers, ...] = ()
        self.units = self._loaded(scenario)
        if setting.learned or setting.stated:
            self._begin_learning(scenario, stated=setting.stated)

    def _loaded(self, scenario: Scenario) -> Units:
        zeros = np.zeros(len(self.version), dtype=np.int64)
        units = new_units(zeros, zeros, 1)
        units.interval_ms[:] = scenario.interval_ms
        units.refreshed_ms[:] = scenario.window.t0_ms
        units.best_before_ms[:] = scenario.best_before_ms
        units.periodic[:] = scenario.periodic
        units.held[:] = self.version >= 0
        units.value[:] = self.background.number[self.version]
        return units

    def _begin_learning(self, scenario: Scenario, *, stated: bool) -> None:
        """Nothing is known of any rate before the first refresh but what is stated."""
        window, units = scenario.window, self.units
        rates = ChangeRates(
            len(units), width_ms=window.width_ms, slide_ms=window.slide_ms, stated=stated
        )
        units.rates, units.periodic[:] = rates, False
        if not stated:
            units.interval_ms[:] = rates.interval_ms(np.arange(len(units)))
        units.best_before_ms[:] = window.closing(scenario.evaluations.start)

    def replace(self, units: Integers, content: Integers) -> Booleans:
        """Let units have these versions from now on."""
        code = self.background.code[content]
        changed = self.code[units] != code
        self.version[units], self.code[units] = content, code
        self.units.value[units] = self.background.number[content]
        return np.asarray(changed)

    def evict(self, units: Integers) -> None:
        """Let units leave."""
        self.units.held[units] = False
        self.units.value[units] = np.nan
        self.version[units] = self.code[units] = NO_ROW

    def fresh(self, units: Integers, t_ms: int) -> Booleans:  # noqa: ARG002 - the data are of now
        """Which of some units are held and truly fresh."""
        return self.units.held[units] & ~self.stale(units)

    def sizes(self, t_ms: int) -> tuple[int, int]:  # noqa: ARG002 - the data are of now
        """How many units are held, and how many of these are truly fresh."""
        held = self.units.held
        fresh = held & (self.code == self.remote.code)
        return int(np.count_nonzero(held)), int(np.count_nonzero(fresh))

    def stale(self, units: Integers) -> Booleans:
        """Which units differ from the remote data."""
        return np.asarray(self.code[units] != self.remote.code[units])

    def next_change_ms(self, units: Integers) -> Integers:
        """When the remote data of units change next."""
        return self.background.next_change_ms(self.remote.version[units], units)

    def scheduled(self, units: Integers) -> Booleans:
        """Which units the schedule refreshes now."""
        return np.isin(units, self.schedule[self.remote.position])

    def tally(self, outcome: Outcome, comparison: Comparison) -> Tally:
        """The answers of an evaluation against the true ones."""
        unit, number, remote = outcome.window.unit, self.background.number, self.remote
        ours, true = self.code[unit], remote.code[unit]
        return comparison(
            outcome.window,
            Side(ours >= 0, ours, number[self.version[unit]]),
            Side(true >= 0, true, number[remote.version[unit]]),
            outcome.fresh,
        )
