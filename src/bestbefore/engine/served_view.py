"""A SERVICE in the engine: its client, its local view, and what keeps both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.checkpoint import DurableLedger, Journal, Reservations, save_snapshot
from bestbefore.checkpoint.state import ViewState, batch_name
from bestbefore.engine.ahead import Ahead, Plan
from bestbefore.engine.asking import Asking
from bestbefore.engine.deadline import Deadline, RequestPace
from bestbefore.engine.found_state import Found
from bestbefore.engine.limited_service import LimitedService, load_requests
from bestbefore.engine.view_start import change_intervals, open_view, slide_of
from bestbefore.job import ServiceSettings
from bestbefore.limits import RequestAccount, RequestLedger
from bestbefore.maintenance import (
    Asked,
    EventClock,
    Moment,
    Outcome,
    Reply,
    Situation,
    elect,
    lift_of,
    maintain,
    seen_by,
    together,
)
from bestbefore.maintenance.election import worth_of
from bestbefore.rdf.terms import Key
from bestbefore.service import Fetched, Service
from bestbefore.service.kinds import fetch_within
from bestbefore.storage import Storage, StorageFolder
from bestbefore.time import Clock
from bestbefore.view import ChangeIntervals, LocalView
from bestbefore.windows import Timeline

# A snapshot is as large as the view: it is due when the journal names a share of the view's units.
_SNAPSHOT_EVERY, _SNAPSHOT_AT_LATEST, _SHARE = 32, 1_024, 16
_UNANSWERED = "the service said nothing of it"


@dataclass(frozen=True)
class ServiceSource:
    """A service as the maintenance step asks it: units by number, rows as the view keeps them."""

    view: LocalView
    service: Service
    intervals: ChangeIntervals
    pace: RequestPace
    deadline: Deadline

    def fetch(self, units: Integers) -> Reply:
        """Ask the service for units by their keys."""
        keys = {self.view.keys[unit]: unit for unit in units.tolist()}
        fetched = fetch_within(self.service, list(keys), deadline_s=self.deadline.left_s())
        self.pace.note(fetched)
        return self.reply_of(keys, fetched)

    def reply_of(self, keys: Mapping[Key, int], fetched: Fetched) -> Reply:
        """What was fetched for keys, as the view keeps it under their numbers."""
        rows = {key: rows for key, rows in fetched.rows.items() if key in keys}
        stated = self.intervals.stated(chain.from_iterable(rows.values()))
        modified = self.intervals.last_changes(chain.from_iterable(rows.values()))
        unsent = [unit for key, unit in keys.items() if key in fetched.unsent]
        failed = {
            unit: fetched.failed.get(key, _UNANSWERED)
            for key, unit in keys.items()
            if key not in rows and key not in fetched.unsent
        }
        return Reply(
            answered=np.array([keys[key] for key in rows], dtype=np.int64),
            content=[self.intervals.view_rows(unit_rows) for unit_rows in rows.values()],
            stated_ms={keys[key]: max(1, interval) for key, interval in stated.items()
                       if key in keys},
            modified_ms={keys[key]: moment for key, moment in modified.items() if key in keys},
            failed=failed,
            unsent=np.array(unsent, dtype=np.int64),
            requests=fetched.requests,
            seconds=fetched.seconds,
            state=fetched.state,
            dropped=fetched.unasked + fetched.invalid,
            not_modified=fetched.not_modified,
        )  # fmt: skip


@dataclass
class ServedView:
    """The view of one SERVICE with its own budget, ledger and journal.

    `opened` is the state in which the view was found when the engine started. It is kept in the
    folder of its `owner`, a query, may be `shared` by others, and has `begun` when one of them had
    an evaluation.
    """

    job: ServiceSettings
    service: Service
    view: LocalView
    storage: Storage
    opened: ViewState
    reservations: Reservations
    account: RequestAccount = field(default_factory=RequestAccount)
    pace: RequestPace = field(default_factory=RequestPace)
    ahead: Ahead | None = None
    owner: str = ""
    shared: bool = False
    begun: bool = False

    def begin_at(self, t_ms: int) -> None:
        """Let the age of what was loaded count, now that an evaluation needs any of it."""
        if not self.begun:
            self.view.begin(t_ms, slide_ms=slide_of(self.job))
            self.begun = True

    def begin(self, batch: int, state: ViewState) -> "ViewBatch":
        """Begin to maintain the view for the evaluations that a batch made due."""
        return ViewBatch(self, state, change_intervals(self.job), self.ledger_of(batch))

    def ledger_of(self, batch: int) -> DurableLedger:
        """Where the refreshes of a batch are reserved and noted."""
        journal = Journal(self.storage)
        return DurableLedger(self.reservations, journal, batch, self.view, self.account)

    def plan_after(
        self, last: Outcome, timeline: Timeline, state: ViewState, clock: EventClock
    ) -> Plan:
        """What the evaluation after the last one will elect, as far as its window is known now."""
        evaluation = last.evaluation + 1
        nobody_waits = self.deadline_of(None, evaluation, timeline, clock)
        situation = self.situation_at(evaluation, timeline, state, nobody_waits)
        situation = replace(situation, clock=None)
        election = elect(
            self.job.policy, self.view.units, last.window.later(1), situation, rng=situation.rng()
        )
        # Nothing is waited for that is back when maintenance begins.
        return Plan(
            evaluation,
            situation.moment.t_ms + max(0, clock.busy_ms - clock.writing_ms),
            keys=tuple(self.view.keys[unit] for unit in election.elected.tolist()),
            candidates=len(election.candidates),
            limit=situation.budget + situation.start,
            lift=lift_of(election),
        )

    def asked_ahead(self, evaluation: int, source: ServiceSource) -> Asked | None:
        """What was asked for before the evaluation was due."""
        made = self.ahead.take(evaluation) if self.ahead is not None else None
        if made is None:
            return None
        self.view.learn(made.keys)
        numbers = self.view.numbers(made.keys)
        reply = source.reply_of(dict(zip(made.keys, numbers.tolist(), strict=True)), made.fetched)
        bound = made.affordable.units < len(made.plan.keys)
        return Asked(
            candidates=made.plan.candidates,
            elected=numbers,
            # The answer does not wait for it.
            reply=replace(reply, seconds=0.0),
            came_ms=made.came_ms,
            bound_by=made.affordable.bound_by if bound else None,
            left=self.account.left(),
            budget=made.budget,
            lift=made.plan.lift,
        )

    def close(self) -> None:
        """End what is being asked ahead of time."""
        if self.ahead is not None:
            self.ahead.close()

    def note_changes(self, batch: int, keys: Sequence[Key], t_ms: int) -> None:
        """Let units be stale that are known to have changed, whatever crashes until a refresh."""
        if marked := self.view.mark_changed(keys, t_ms):
            Journal(self.storage).write_changed(batch, marked, t_ms)

    def deadline_of(
        self, deadline_ms: int | None, evaluation: int, timeline: Timeline, clock: EventClock
    ) -> Deadline:
        """When an evaluation has to be answered, if a deadline says so."""
        moment = _moment(evaluation, timeline, self.job)
        return Deadline(deadline_ms, clock, moment.t_ms, moment.slide_ms)

    def situation_at(
        self, evaluation: int, timeline: Timeline, state: ViewState, deadline: Deadline
    ) -> Situation:
        """What an evaluation knows besides the view and its window."""
        job, threshold = self.job, self.job.threshold
        moment = _moment(evaluation, timeline, job)
        left_s = deadline.left_s()
        fitting = None if left_s is None else self.pace.fitting(left_s, job)
        bounded = job.view.capacity is not None or not job.view.fill
        return Situation(
            moment,
            job.budget if fitting is None else min(job.budget, fitting),
            threshold=threshold.number if threshold else None,
            shown_above=threshold.op.startswith(">") if threshold and job.shown else None,
            aggregated=job.plan.aggregated,
            capacity=job.view.capacity,
            saved=state.saved,
            price=state.price,
            evaluation=evaluation,
            seed=job.seed,
            fill=job.fills_first,
            start=max(0, job.start - state.started),
            keep_ms=None if bounded else job.view.keep_windows * moment.slide_ms,
            uncached=job.view.mode == "none",
            freshness=job.qos.freshness,
            once=job.once,
            clock=deadline.clock,
        )

    def settle(self, batch: int, maintained: "ViewBatch") -> ViewState:
        """The view's state after a batch that had evaluations, with a snapshot every so often."""
        self.view.compact()
        self.view.refreshes += sum(len(outcome.reply.failed) for outcome in maintained.outcomes)
        written = self.reservations.written
        state = replace(maintained.state, ledger=written, limits=self.account.written)
        if not self._snapshot_due(batch - state.snapshot_batch):
            Journal(self.storage).write_needed(batch, self.view)
            return state
        if maintained.outcomes:
            self.view.forget_failed(maintained.outcomes[-1].evaluation)
        self.view.units.noted[:] = False
        name = batch_name(batch)
        save_snapshot(self.view, self.storage, name)
        return replace(state, snapshot=name, snapshot_batch=batch, unused=False)

    def _snapshot_due(self, batches: int) -> bool:
        """Whether to write a snapshot so many batches after the last one."""
        grown = self.view.refreshes >= len(self.view) // _SHARE
        return batches >= _SNAPSHOT_EVERY and (grown or batches >= _SNAPSHOT_AT_LATEST)

    def committed(self, following: int) -> None:
        """A batch is committed, and this evaluation is the next: what comes then may begin."""
        self.reservations.close(following)
        if self.ahead is not None:
            self.ahead.start()


@dataclass
class ViewBatch:
    """A view while it is maintained for the evaluations of a batch, in the order of their times.

    `state` is what of the budgets is spent so far.
    """

    served: ServedView
    state: ViewState
    intervals: ChangeIntervals
    ledger: DurableLedger
    outcomes: list[Outcome] = field(default_factory=list)

    def expect(self, evaluations: Sequence[int]) -> None:
        """Tell the ledger which evaluations the view is going to be maintained for, in order.

        Where one may spend what others leave, each is noted before the next: else one that is
        repeated after a crash could spend again what a later one had spent already.
        """
        job, first = self.served.job, self.state.steps
        if job.policy.saves or self.state.started < job.start:
            return
        self.ledger.coming = (
            range(first, first + len(evaluations)) if self.served.shared else evaluations
        )

    def step(
        self,
        askings: Sequence[tuple[Asking, int]],
        clock: EventClock,
        *,
        budget: int | None = None,
    ) -> None:
        """Maintain the view for evaluations at one time, of those who ask it, with one budget."""
        served, (asking, evaluation) = self.served, askings[0]
        timeline = asking.timeline
        deadline = served.deadline_of(served.job.qos.deadline_ms, evaluation, timeline, clock)
        source = ServiceSource(served.view, served.service, self.intervals, served.pace, deadline)
        situation = served.situation_at(evaluation, timeline, self.state, deadline)
        if served.shared:
            # Evaluations of several queries have numbers of their own.
            situation = replace(situation, evaluation=self.state.steps)
        if budget is not None:
            situation = replace(situation, budget=min(situation.budget, budget))
        if (ahead := served.asked_ahead(evaluation, source)) is not None:
            situation = replace(situation, ahead=ahead)
        needs = [asking.needs(evaluation) for asking, evaluation in askings]
        outcome = maintain(
            served.job.policy,
            served.view,
            lambda: together([each() for each in needs]),
            situation,
            source=source,
            ledger=self.ledger,
        )
        self.outcomes.append(outcome)
        self.state = _after(self.state, outcome)
        for number, (asking, evaluation) in enumerate(askings):
            own = outcome
            if len(askings) > 1:
                own = seen_by(served.view, outcome, needs[number](), asked=number == 0)
            asking.take(evaluation, outcome, own)

    def spent(self, evaluation: int) -> int:
        """The refreshes that the evaluation that was last maintained for has reserved so far."""
        return self.ledger.spent(self.state.steps - 1 if self.served.shared else evaluation)

    def worth(self, asking: Asking, evaluation: int, clock: EventClock) -> Scores:
        """What each unit that an evaluation needs would be worth, if it were refreshed."""
        nobody_waits = self.served.deadline_of(None, evaluation, asking.timeline, clock)
        situation = self.served.situation_at(evaluation, asking.timeline, self.state, nobody_waits)
        return worth_of(self.served.view.units, asking.needs(evaluation)(), situation)

    def plan_ahead(self, asking: Asking, clock: EventClock) -> None:
        """Tell what is asked ahead of time, if anything is, what the next evaluation will need."""
        served = self.served
        if self.outcomes and served.ahead is not None and clock.live:
            plan = served.plan_after(self.outcomes[-1], asking.timeline, self.state, clock)
            served.ahead.plan(plan)


def _after(state: ViewState, outcome: Outcome) -> ViewState:
    """What of the budgets is spent after an evaluation."""
    started, steps = state.started + outcome.started, state.steps + 1
    return replace(state, saved=outcome.saved, price=outcome.price, started=started, steps=steps)


def _moment(evaluation: int, timeline: Timeline, job: ServiceSettings) -> Moment:
    """What a policy is told of the time; windows of elements have their mean step for a slide."""
    t_ms, slide_ms = timeline.at(evaluation), timeline.slide_ms
    if slide_ms is None:
        return Moment(t_ms, job.window.width_ms, job.window.slide_ms)
    return Moment(t_ms, slide_ms * timeline.instants.windows[0].overlap, slide_ms)


def open_served(
    service: ServiceSettings,
    client: Service,
    storage: Storage,
    found: Found,
    *,
    clock: Clock,
    requests: RequestLedger | None = None,
) -> ServedView:
    """The view of a service as the last committed batch left it; `requests` keeps its limits."""
    account = RequestAccount(service.limits, requests, service.units_per_request)
    if account.counts_requests:
        client = LimitedService(client, account, service.address, load_requests(service.client))
    folder = StorageFolder(storage, f"services/{service.name}")
    changed = found.changed_of(service.name)
    view, opened = open_view(service, folder, client, found.state, clock=clock, changed=changed)
    served = ServedView(service, client, view, folder, opened, Reservations(folder), account)
    served.begun = found.state.begun_ms is not None
    if service.ahead:
        # No batch has this number: what is fetched ahead is recorded by the batch that uses it.
        served.ahead = Ahead(service, client, served.pace, lambda: served.ledger_of(-1), clock)
    return served
