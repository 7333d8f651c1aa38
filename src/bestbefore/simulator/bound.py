"""BOUND: the refreshes of a whole run, scheduled with all arrivals known.

Of changes is known what a policy can know at best: how often each unit changes and, where changes
are periodic, when. A schedule is worth the expected number of fresh answers, Σ rows · P(no change
since the last refresh) over what every evaluation needs. In the refreshes that is submodular, and
γ per evaluation are a matroid: the greedy schedule is worth at least half of the best, and so is
any that no exchange improves (Fisher, Nemhauser and Wolsey, 1978).
"""

from bisect import bisect
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers
from bestbefore.maintenance.proposers import Offer, Proposer
from bestbefore.simulator.remote_data import RemoteData
from bestbefore.simulator.scenario import Scenario

# What gains less, in answers, is the rounding of numbers.
_LEAST = 1e-9


def offline_schedule(scenario: Scenario, proposer: Proposer, budget: int) -> tuple[Integers, ...]:
    """The units that each evaluation refreshes, at most `budget` of what the proposer offers."""
    schedule = _Schedule(_make_slots(scenario, proposer))
    schedule.fill(budget)
    while schedule.exchange(budget):
        pass
    return schedule.units()


@dataclass(frozen=True, eq=False)
class _Slots:
    """The refreshes that could be made, in the order of time; the last entry is for no refresh.

    First comes the loading of each unit, then what every evaluation could refresh, which begins at
    its entry of `start`. `rows` are those that the evaluation joins with the unit, `version` is the
    remote data's, which is foreseen where the unit is `periodic`.
    """

    start: Integers
    unit: Integers
    t_ms: Integers
    rows: Integers
    version: Integers
    interval_ms: Integers
    periodic: Booleans

    @property
    def none(self) -> int:
        """The last entry."""
        return len(self.unit) - 1

    def fresh(self, refreshed: Integers, at: Integers) -> Numbers:
        """The probability that units did not change between two slots of theirs."""
        unchanged = self.version[refreshed] == self.version[at]
        age_ms = self.t_ms[at] - self.t_ms[refreshed]
        likely = np.exp(-age_ms / self.interval_ms[refreshed])
        return np.where(self.periodic[refreshed], unchanged, likely)


def _make_slots(scenario: Scenario, proposer: Proposer) -> _Slots:
    remote, held = RemoteData(scenario), scenario.initial >= 0
    needed = np.zeros_like(scenario.initial)
    t_ms, columns = [scenario.window.t0_ms], [(np.arange(len(held)), needed, scenario.initial)]
    for position, window in enumerate(scenario.contents):
        remote.advance(position)
        needed = np.zeros_like(needed)
        needed[window.unit] = window.mappings
        (offered,) = proposer.select(Offer(held, window))
        t_ms.append(scenario.window.closing(scenario.evaluations[position]))
        columns.append((offered, needed[offered], remote.version[offered]))
    t_ms.append(t_ms[-1])
    columns.append((np.zeros(1, dtype=np.int64),) * 3)
    unit, rows, version = (np.concatenate(column) for column in zip(*columns, strict=True))
    sizes = [len(column) for column, _, _ in columns]
    return _Slots(
        start=np.cumsum(sizes)[:-1],
        unit=unit,
        t_ms=np.repeat(t_ms, sizes),
        rows=rows,
        version=version,
        interval_ms=scenario.interval_ms[unit],
        periodic=scenario.periodic[unit],
    )


class _Schedule:
    """Which slots are used, and what the use of each adds to that of the others.

    `before` and `after` are the used slots of its unit next to each slot: its loading and the last
    entry, if there are none. `lasting` is what a refresh is worth that no other follows.
    """

    def __init__(self, slots: _Slots) -> None:
        self.slots, self.used = slots, np.zeros_like(slots.periodic)
        self.before, self.after = slots.unit.copy(), np.full_like(slots.unit, slots.none)
        self.lasting = self._lasting()
        self.gain = self._gain(np.arange(len(slots.unit)))
        by_unit, counts = np.argsort(slots.unit[:-1], kind="stable"), np.bincount(slots.unit[:-1])
        self._own = np.split(by_unit, np.cumsum(counts))

    def _lasting(self) -> Numbers:
        slots = self.slots
        lasting, following = np.zeros(len(slots.unit)), np.full_like(slots.unit, slots.none)
        for low, high in reversed(list(pairwise(slots.start.tolist()))):
            here, unit = np.arange(low, high), slots.unit[low:high]
            after = following[unit]
            lasting[here] = slots.rows[here] + slots.fresh(here, after) * lasting[after]
            following[unit] = here
        return lasting

    def _gain(self, slot: Integers) -> Numbers:
        """What is won up to the slot after, by all that might have changed since the one before."""
        fresh, before, after = self.slots.fresh, self.before[slot], self.after[slot]
        served = self.lasting[slot] - fresh(slot, after) * self.lasting[after]
        return np.asarray((1 - fresh(before, slot)) * served)

    def use(self, slot: int, *, used: bool) -> None:
        """Use a slot from now on, or no longer."""
        unit, before, after = self.slots.unit[slot], self.before[slot], self.after[slot]
        own = self._own[unit]
        near = own[np.searchsorted(own, before) : np.searchsorted(own, after, side="right")]
        self.used[slot] = used
        self.after[near[near < slot]] = slot if used else after
        self.before[near[near > slot]] = slot if used else before
        self.gain[near] = self._gain(near)

    def fill(self, budget: int) -> None:
        """Use whatever slot gains most, one after the other, wherever there is budget."""
        start = self.slots.start.tolist()
        left = [budget] * len(start)
        queue = [(-gain, slot) for slot, gain in enumerate(self.gain.tolist())]
        heapify(queue)
        while queue:
            loss, slot = heappop(queue)
            gain, evaluation = float(self.gain[slot]), bisect(start, slot)
            if gain <= _LEAST or not left[evaluation]:
                continue
            if gain < -loss:
                # Gains only fall as others are used: who is first by its present one is first.
                heappush(queue, (-gain, slot))
            else:
                self.use(slot, used=True)
                left[evaluation] -= 1

    def exchange(self, budget: int) -> bool:
        """Use, at one evaluation after the other, the slots that gain most as all others are.

        Whether any of them were others than before is returned.
        """
        changed = False
        for low, high in pairwise(self.slots.start.tolist()):
            gain, used = self.gain[low:high], self.used[low:high]
            best = np.argsort(-gain - _LEAST * used)[:budget]
            wanted = np.zeros_like(used)
            wanted[best[gain[best] > _LEAST]] = True
            for slot in np.flatnonzero(wanted != used).tolist():
                self.use(low + slot, used=bool(wanted[slot]))
                changed = True
        return changed

    def units(self) -> tuple[Integers, ...]:
        """The units that each evaluation refreshes."""
        slots, used = self.slots, self.used
        bounds = pairwise(slots.start.tolist())
        return tuple(slots.unit[low:high][used[low:high]] for low, high in bounds)
