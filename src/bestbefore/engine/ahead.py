"""Refreshes ahead of time: what the next evaluation would elect is asked for before it is due.

The refreshes are those of the next evaluation in every respect but when they are made: they are
reserved in its name before they are sent, and are part of its outcome. A crash in between wastes
them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread

from bestbefore.checkpoint import DurableLedger
from bestbefore.engine.deadline import RequestPace
from bestbefore.job import ServiceSettings
from bestbefore.limits import Affordable
from bestbefore.rdf.terms import Key
from bestbefore.service import Fetched, Service
from bestbefore.service.kinds import fetch_within
from bestbefore.time import Clock

# Requests are sent so much earlier than they need to be by their times.
_MARGIN_MS = 50


@dataclass(frozen=True)
class Plan:
    """What an evaluation to come is expected to elect, and when it has to be there."""

    evaluation: int
    at_ms: int
    keys: tuple[Key, ...]
    candidates: int
    limit: int
    lift: tuple[int, float] | None = None


@dataclass(frozen=True)
class Made:
    """What came of a plan: the keys that were granted, what was fetched, and when it came."""

    plan: Plan
    keys: tuple[Key, ...]
    fetched: Fetched
    came_ms: int
    budget: int
    affordable: Affordable


class Ahead:
    """Asks for what the next evaluation needs, on a thread, as late as there is time for it."""

    def __init__(
        self,
        job: ServiceSettings,
        service: Service,
        pace: RequestPace,
        ledger: Callable[[], DurableLedger],
        clock: Clock,
    ) -> None:
        self._job, self._service, self._pace = job, service, pace
        self._ledger, self._clock = ledger, clock
        self._plan: Plan | None = None
        self._made: Made | BaseException | None = None
        self._thread: Thread | None = None
        self._hurry = Event()

    def plan(self, plan: Plan | None) -> None:
        """What to ask for once the present batch is committed."""
        self._plan = plan

    def start(self) -> None:
        """Begin to wait for the time to ask."""
        if self._plan is None or not self._plan.keys or self._thread is not None:
            return
        self._hurry.clear()
        self._thread = Thread(target=self._run, args=(self._plan,), name="ahead", daemon=True)
        self._thread.start()

    def take(self, evaluation: int) -> Made | None:
        """What was fetched for an evaluation; None if its time came before anything was asked."""
        made = self._ended()
        return made if made is not None and made.plan.evaluation <= evaluation else None

    def close(self) -> None:
        """Let go of what is waited for; requests under way are waited for."""
        self._ended()

    def _ended(self) -> Made | None:
        if self._thread is None:
            return None
        self._hurry.set()
        self._thread.join()
        self._thread = None
        made, self._made = self._made, None
        if isinstance(made, BaseException):
            raise made
        return made

    def _run(self, plan: Plan) -> None:
        try:
            self._ask(plan)
        except BaseException as error:
            self._made = error

    def _ask(self, plan: Plan) -> None:
        lead_ms = _MARGIN_MS + round(1000 * self._pace.seconds_for(len(plan.keys), self._job))
        if self._hurry.wait(max(0, plan.at_ms - lead_ms - self._clock()) / 1000):
            return
        left_s = (plan.at_ms - _MARGIN_MS - self._clock()) / 1000
        ledger = self._ledger()
        affordable = ledger.affordable(plan.evaluation, plan.limit)
        keys = plan.keys[: affordable.units]
        # What would not be back in time would be waited for.
        fitting = self._pace.fitting(max(0.0, left_s), self._job)
        keys = keys[:fitting]
        keys = keys[: ledger.reserve(plan.evaluation, len(keys), limit=plan.limit)]
        if keys:
            fetched = fetch_within(self._service, keys)
            self._pace.note(fetched)
            budget = min(plan.limit, affordable.units)
            budget = budget if fitting is None else min(budget, fitting)
            self._made = Made(plan, keys, fetched, self._clock(), budget, affordable)
