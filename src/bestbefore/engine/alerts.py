"""Alerts: which promise of a job an answer does not keep, why, and what would keep it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from bestbefore.job import Qos, ServiceSettings
from bestbefore.maintenance import Outcome


@dataclass(frozen=True)
class Alert:
    """A promise (`freshness` or `deadline`) that an evaluation could not keep."""

    promise: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.why}; {self.remedy}"


AlertListener = Callable[[int, Alert], None]
"""Hears of the evaluation and its alert."""


def freshness_alert(service: ServiceSettings, outcome: Outcome) -> Alert | None:
    """Why the estimate stays below the freshness that is wanted, if it does."""
    wanted = service.qos.freshness
    found = outcome.window.freshness(outcome.fresh)
    if wanted is None or found is None or found >= wanted:
        return None
    why, remedy = _short_of(service, outcome, wanted)
    text = f"{found:.1%} of what {service.name} gives is fresh by the estimate, {wanted:.1%} wanted"
    return Alert("freshness", f"{text}: {why}", remedy)


def _short_of(service: ServiceSettings, outcome: Outcome, wanted: float) -> tuple[str, str]:
    """What kept an evaluation from the wanted freshness, and what would have helped."""
    needed, at_best = outcome.lift or (0, 1.0)
    if failed := len(outcome.reply.failed):
        reason = next(iter(outcome.reply.failed.values()))
        return f"{failed} refreshes failed ({reason})", "see to the service"
    if outcome.bound_by:
        limit = f"limits.{outcome.bound_by}"
        return f"{limit} leaves {outcome.budget} refreshes, {needed} are needed", f"raise {limit}"
    if len(outcome.reply.unsent):
        late = len(outcome.reply.unsent)
        return f"{late} refreshes did not fit into the deadline", "raise qos.deadline"
    if at_best < wanted:
        return (
            f"the data change too fast: with everything refreshed it would be {at_best:.1%}",
            f"qos.freshness = {at_best:.2f} can be kept, or answer sooner",
        )
    if service.qos.deadline_ms is not None and outcome.budget < service.budget:
        return (
            f"{outcome.budget} refreshes fit into the deadline, {needed} are needed",
            "raise qos.deadline, services.….connections or units_per_request",
        )
    return (
        f"the budget is {outcome.budget} refreshes, {needed} are needed",
        f"budget.refreshes = {needed} would keep it",
    )


def deadline_alert(qos: Qos, outcomes: Sequence[Outcome], took_ms: int) -> Alert | None:
    """Why an answer came later than promised, if it did."""
    if qos.deadline_ms is None or took_ms <= qos.deadline_ms:
        return None
    service_ms = round(1000 * sum(outcome.reply.seconds for outcome in outcomes))
    text = f"the answer took {took_ms} ms, {qos.deadline_ms} ms promised"
    remedy = f'qos.deadline = "{ceil(took_ms / 100) * 100}ms" would have been kept'
    if took_ms - service_ms <= qos.deadline_ms:
        why = f"{service_ms} ms went to requests: the service was slower than before"
    else:
        why = f"the query itself took {took_ms - service_ms} ms without any request"
        remedy += ", or slide less often"
    return Alert("deadline", f"{text}: {why}", remedy)
