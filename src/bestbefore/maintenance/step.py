"""The maintenance step: what one evaluation does to a view, in the engine as in the simulator.

Propose, rank, elect, reserve, fetch, evict, apply, learn; then the sets A to G and the estimate.
Whoever runs it brings a view, a source that answers for units, and a ledger.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, Scores
from bestbefore.limits import Affordable
from bestbefore.maintenance.allocation import allowance, savings
from bestbefore.maintenance.best_before import next_best_before
from bestbefore.maintenance.election import Election, Situation, elect
from bestbefore.maintenance.outcome import NO_REPLY, NONE, Asked, Outcome, Reply
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.window_sets import WindowSets, window_sets
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view.units import CHANGED, LONGEST_STEP, Units

# A unit waits 2, 4, 8, … evaluations after each failure in a row, up to 2 to this power.
_LONGEST_WAIT = 4
_LEAST = 1e-9


class View(Protocol):
    """A view as the step sees it: its units in columns, and somewhere to keep their content."""

    units: Units

    def replace(self, units: Integers, content: Any) -> Booleans:  # noqa: ANN401 - the view's own
        """Let units have this content from now on; tell of each whether it had another before."""
        ...

    def evict(self, units: Integers) -> None:
        """Let units leave; their keys stay known."""
        ...

    def fresh(self, units: Integers, t_ms: int) -> Booleans:
        """Which of some units are held and fresh, as far as that is known."""
        ...

    def sizes(self, t_ms: int) -> tuple[int, int]:
        """How many units it holds, and how many of these are fresh as far as that is known."""
        ...


class Source(Protocol):
    """Whoever knows the remote data: a service behind its client, or a trace."""

    def fetch(self, units: Integers) -> Reply:
        """Ask for units; trouble never raises."""
        ...


class Ledger(Protocol):
    """Where refreshes are reserved before they are made, and noted before an answer uses them."""

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        ...

    def affordable(self, evaluation: int, units: int) -> Affordable:
        """How many of so many refreshes the limits of the source leave room for."""
        ...

    def left(self) -> Mapping[str, int]:
        """The requests that each limit of the source leaves."""
        ...

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes for an evaluation that may have `limit` in all."""
        ...

    def recall(self, evaluation: int) -> Outcome | None:
        """What an earlier attempt at this evaluation fetched, if it got so far."""
        ...

    def record(self, outcome: Outcome) -> None:
        """Note what an evaluation fetched."""
        ...


class MemoryLedger:
    """A ledger that nothing needs to survive."""

    def __init__(self) -> None:
        self._spent: dict[int, int] = {}

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        return self._spent.get(evaluation, 0)

    def affordable(self, evaluation: int, units: int) -> Affordable:  # noqa: ARG002
        """All of them: there are no limits."""
        return Affordable(units)

    def left(self) -> Mapping[str, int]:
        """There are no limits."""
        return {}

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes."""
        granted = max(0, min(units, limit - self.spent(evaluation)))
        self._spent[evaluation] = self.spent(evaluation) + granted
        return granted

    def recall(self, evaluation: int) -> None:
        """Nothing is repeated."""

    def record(self, outcome: Outcome) -> None:
        """Nothing is repeated."""


def maintain(
    policy: Policy,
    view: View,
    needs: Callable[[], WindowUnits],
    situation: Situation,
    *,
    source: Source,
    ledger: Ledger,
) -> Outcome:
    """Run the maintenance process for one evaluation.

    `needs` tells the units that the window needs as the view is then: refreshed rows may link its
    join keys with other units than before. What was asked ahead is all that is asked.
    """
    window, evaluation = needs(), situation.evaluation
    view.units.note_needed(window.unit)
    waiting = int(np.count_nonzero(view.units.retry_at[window.unit] > evaluation))
    outcome = ledger.recall(evaluation)
    if outcome is None:
        asked = situation.ahead
        asked = asked or _ask(policy, view, window, situation, source=source, ledger=ledger)
        outcome = _outcome(view.units, window, situation, asked)
        ledger.record(outcome)
    changed = apply_outcome(view, outcome)
    if changed:
        window = needs()
    if situation.keep_ms is not None:
        view.units.used_ms[window.unit] = outcome.t_ms
    view.units.forget_needed(window.unit[~view.units.held[window.unit]])
    return replace(
        _accounted(policy, outcome, situation, ledger),
        changed=changed,
        waiting=waiting,
        window=window,
        # The sets A to G, and the estimate for the moment the answer is written.
        sets=_sets(view, outcome, window),
        fresh=view.units.fresh_probability(window.unit, situation.written_ms),
    )


def apply_outcome(view: View, outcome: Outcome) -> int:
    """Apply what one evaluation fetched; return how many of the held units had changed.

    Who leaves goes first; then the answered units are replaced, those that are new enter, and
    best-before times are renewed. A unit that the source did not answer for stays as it is, and is
    no candidate for a while.
    """
    if len(outcome.evicted):
        view.evict(outcome.evicted)
        view.units.forget_needed(outcome.evicted)
    changed = _take_over(view, outcome) if len(outcome.reply.answered) else 0
    for unit in outcome.reply.failed:
        _back_off(view.units, unit, outcome.evaluation)
    view.units.used_ms[outcome.used] = outcome.t_ms
    return changed


def _take_over(view: View, outcome: Outcome) -> int:
    """Let answered units have what was fetched, and learn from it how often they change."""
    units, reply, t_ms = view.units, outcome.reply, outcome.t_ms
    answered, came_ms = reply.answered, t_ms if outcome.came_ms is None else outcome.came_ms
    known, value = units.held[answered], units.value[answered]
    changed = view.replace(answered, reply.content) & known
    for unit, interval in reply.stated_ms.items():
        units.interval_ms[unit] = interval
    hints = None if units.rates is None else units.hints(answered, outcome.need)
    # Of a unit that was known to have changed, a refresh tells nothing of how often it does.
    learned = known & (units.refreshed_ms[answered] != CHANGED)
    if units.rates is not None and hints is not None and learned.any():
        seen = answered[learned]
        age_ms = came_ms - units.refreshed_ms[seen]
        since_ms = _since_change(reply, seen, age_ms, came_ms)
        units.rates.observe(seen, hints[learned], age_ms, changed[learned], since_ms)
        if not units.rates.stated:
            units.interval_ms[seen] = units.rates.interval_ms(seen)
    if units.rates is not None and not learned.all():
        units.rates.regular.lose_track(answered[~learned])
    _note_moves(units, answered, value, came_ms, hints)
    _renew(units, answered, known, t_ms)
    units.refreshed_ms[answered] = came_ms
    return int(np.count_nonzero(changed))


def _since_change(reply: Reply, seen: Integers, age_ms: Integers, came_ms: int) -> Integers | None:
    """How long ago units have last changed, −1 where that is not known.

    A time before the last refresh, or in the future, is by another clock: it says nothing.
    """
    if not reply.modified_ms:
        return None
    modified = reply.modified_ms
    since = came_ms - np.array([modified.get(unit, came_ms + 1) for unit in seen.tolist()])
    return np.asarray(np.where((since >= 0) & (since < age_ms), since, -1), dtype=np.int64)


def _note_moves(
    units: Units, answered: Integers, before: Scores, came_ms: int, hints: Numbers | None
) -> None:
    """Note how far the values that a FILTER compares have moved since they were last fetched."""
    after = units.value[answered]
    moved = (after != before) & np.isfinite(after) & np.isfinite(before)
    there = (moved & (units.refreshed_ms[answered] != CHANGED)).nonzero()[0]
    if not len(there):
        return
    unit = answered[there]
    # The difference of halves is always a number.
    half = after[there] / 2 - before[there] / 2
    age_ms = np.maximum(came_ms - units.refreshed_ms[unit], 1).astype(np.float64)
    hint = None if hints is None else hints[there]
    unchanged = np.clip(units.unchanged(unit, age_ms, hint), _LEAST, 1 - _LEAST)
    units.squares[unit] += 4 * np.minimum(np.abs(half), LONGEST_STEP / 2) ** 2
    # So many changes are expected where there was one at least.
    units.moves[unit] += -np.log(unchanged) / (1 - unchanged)
    units.rises[unit] += half > 0
    units.falls[unit] += half < 0


def _renew(units: Units, answered: Integers, known: Booleans, t_ms: int) -> None:
    """Note that units were refreshed at t, and the best-before time that follows.

    A unit that enters the view is expected to change an interval from now.
    """
    interval = units.interval_ms[answered]
    renewed = next_best_before(units.best_before_ms[answered], interval, t_ms)
    expected = known | units.periodic[answered]
    units.best_before_ms[answered] = np.where(expected, renewed, t_ms + interval)
    units.held[answered] = True
    units.failures[answered] = 0


def _back_off(units: Units, unit: int, evaluation: int) -> None:
    units.failures[unit] += 1
    units.retry_at[unit] = evaluation + (1 << min(int(units.failures[unit]), _LONGEST_WAIT))


def _ask(
    policy: Policy,
    view: View,
    window: WindowUnits,
    situation: Situation,
    *,
    source: Source,
    ledger: Ledger,
) -> Asked:
    """Elect, and fetch as many of the best as limits and earlier attempts have left budget for."""
    moment, evaluation = situation.moment, situation.evaluation
    if situation.uncached:
        situation = replace(situation, budget=len(window))
    limit = allowance(situation.budget, situation.saved, moment, policy.allocation)
    limit += situation.start
    affordable = ledger.affordable(evaluation, limit)
    election = elect(policy, view.units, window, _within(situation, affordable, policy),
                     rng=situation.rng())  # fmt: skip
    elected = election.elected[: affordable.units]
    elected = elected[: ledger.reserve(evaluation, len(elected), limit=limit)]
    return Asked(
        candidates=len(election.candidates),
        elected=elected,
        reply=source.fetch(elected) if len(elected) else NO_REPLY,
        came_ms=situation.now_ms,
        room=election.evicted,
        bound_by=affordable.bound_by if _binds(affordable, election) else None,
        left=ledger.left(),
        budget=min(situation.budget, affordable.units),
        lift=lift_of(election),
        price=election.price,
    )


def _outcome(units: Units, window: WindowUnits, situation: Situation, asked: Asked) -> Outcome:
    """The outcome of what was asked for, with those that leave."""
    reply, moment = asked.reply, situation.moment
    evicted, used = NONE, NONE
    if situation.uncached:
        evicted = np.setdiff1d(np.flatnonzero(units.held), reply.answered)
    elif situation.capacity is not None:
        evicted, used = _room(units, window, asked, situation.capacity)
    elif situation.keep_ms is not None:
        needed = np.append(window.unit, asked.elected)
        evicted = _idle(units, needed, before_ms=moment.t_ms - situation.keep_ms)
    sent = asked.elected
    return Outcome(
        situation.evaluation,
        moment.t_ms,
        candidates=asked.candidates,
        elected=sent[~np.isin(sent, reply.unsent)] if len(reply.unsent) else sent,
        reply=reply,
        came_ms=asked.came_ms,
        need=None if units.rates is None else units.need(reply.answered),
        evicted=evicted,
        used=used,
        bound_by=asked.bound_by,
        left=asked.left,
        budget=asked.budget,
        lift=asked.lift,
        price=asked.price,
    )


def lift_of(election: Election) -> tuple[int, float] | None:
    """How many refreshes a wanted freshness takes, and the most that can be reached."""
    lift = election.lift
    return None if lift is None else (len(lift.units), round(lift.at_best, 6))


def _within(situation: Situation, affordable: Affordable, policy: Policy) -> Situation:
    """The situation with the γ that all limits allow; what saves budget plans with its own."""
    if policy.saves or affordable.units >= situation.budget + situation.start:
        return situation
    budget = min(situation.budget, affordable.units)
    return replace(situation, budget=budget, start=affordable.units - budget)


def _binds(affordable: Affordable, election: Election) -> bool:
    """Whether more would have been elected without limits, as far as can be told."""
    most = affordable.units
    return len(election.elected) >= most and len(election.candidates) > most


def _room(
    units: Units, window: WindowUnits, asked: Asked, capacity: int
) -> tuple[Integers, Integers]:
    """As many units leave as really came in; and the window's units that the view then holds."""
    held = units.held.copy()
    held[asked.reply.answered] = True
    excess = int(np.count_nonzero(held)) - capacity
    evicted = asked.room[: max(0, excess)]
    held[evicted] = False
    return evicted, window.unit[held[window.unit]]


def _idle(units: Units, needed: Integers, *, before_ms: int) -> Integers:
    """The held units that no evaluation has needed since a time, and that are not needed now."""
    idle = units.held & (units.used_ms < before_ms)
    idle[needed] = False
    return np.flatnonzero(idle)


def _accounted(policy: Policy, outcome: Outcome, situation: Situation, ledger: Ledger) -> Outcome:
    """The outcome with what is saved after it; what a crash wasted was spent all the same."""
    if not policy.saves and not situation.start:
        return outcome
    spent, budget = ledger.spent(situation.evaluation), situation.budget
    started = min(situation.start, max(0, spent - budget))
    if not policy.saves:
        return replace(outcome, started=started)
    saved = savings(budget, situation.saved, spent - started, situation.moment)
    return replace(outcome, started=started, saved=saved)


def seen_by(view: View, outcome: Outcome, window: WindowUnits, *, asked: bool) -> Outcome:
    """The outcome of what several queries needed as one of them sees it, who `asked` or did not."""
    place = np.searchsorted(outcome.window.unit, window.unit)
    own = replace(
        outcome, window=window, fresh=outcome.fresh[place], sets=_sets(view, outcome, window)
    )
    if asked:
        return own
    # What was spent, and what kept it from spending more, is told once.
    return replace(
        own,
        elected=NONE,
        reply=Reply(state=outcome.reply.state),
        evicted=NONE,
        changed=0,
        budget=0,
        candidates=0,
        bound_by=None,
        left={},
    )


def _sets(view: View, outcome: Outcome, window: WindowUnits) -> WindowSets:
    held, fresh = view.units.held[window.unit], view.fresh(window.unit, outcome.t_ms)
    return window_sets(held, fresh, window, sizes=view.sizes(outcome.t_ms))
