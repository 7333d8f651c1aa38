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


# An estimate that misses by less is not worth an alert.
_TOLERANCE = 0.005

AlertListener = Callable[[int, Alert], None]
"""Hears of the evaluation and its alert."""


def freshness_alert(service: ServiceSettings, outcome: Outcome) -> Alert | None:
    """Why the estimate stays below the freshness that is wanted, if it does."""
    wanted = service.qos.freshness
    found = outcome.window.freshness(outcome.fresh, once=service.once)
    if wanted is None or found is None or found >= wanted - _TOLERANCE:
        return None
    why, remedy = _short_of(service, outcome, wanted)
    text = f"{found:.1%} of what {service.name} gives is fresh by the estimate, {wanted:.1%} wanted"
    return Alert("freshness", f"{text}: {why}", remedy)


def _short_of(service: ServiceSettings, outcome: Outcome, wanted: float) -> tuple[str, str]:
    """What kept an evaluation from the wanted freshness, and what would have helped."""
    reply, budget = outcome.reply, outcome.budget
    needed, at_best = outcome.lift or (0, 1.0)
    tight = service.qos.deadline_ms is not None and budget < service.budget
    limit, short = f"limits.{outcome.bound_by}", f"{budget} refreshes, {needed} are needed"
    causes = [
        (
            bool(reply.failed),
            f"{len(reply.failed)} refreshes failed ({next(iter(reply.failed.values()), '')})",
            "see to the service",
        ),
        (bool(outcome.bound_by), f"{limit} leaves {short}", f"raise {limit}"),
        (
            bool(len(reply.unsent)),
            f"{len(reply.unsent)} refreshes did not fit into the deadline",
            "raise qos.deadline",
        ),
        (
            at_best < wanted,
            f"the data change too fast: with everything refreshed it would be {at_best:.1%}",
            f"qos.freshness = {at_best:.2f} can be kept, or answer sooner",
        ),
        (
            tight and needed > budget,
            f"the deadline has time for {short}",
            "raise qos.deadline, services.….connections or units_per_request",
        ),
        (
            needed > budget,
            f"the budget is {short}",
            f"budget.refreshes = {needed} would keep it",
        ),
    ]
    late = "requests and writing took longer than for the answer before"
    found = next(((why, remedy) for holds, why, remedy in causes if holds), None)
    return found or (late, "the next one may keep it")


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
