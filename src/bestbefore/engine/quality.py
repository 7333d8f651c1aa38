"""The quality record of an evaluation: how fresh its answer is and what that took."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bestbefore.engine.alerts import Alert, deadline_alert, freshness_alert
from bestbefore.job import ServiceSettings
from bestbefore.job.job import NO_QOS, UNLIMITED
from bestbefore.maintenance import Outcome, Reply

_STATES = ("ok", "degraded", "waiting", "failed", "open", "unreachable")


@dataclass(frozen=True)
class Quality:
    """What is known of one answer.

    `estimated_freshness` is the mean over the answer rows of the probability that the row is
    fresh; `completeness` the share of the window's mappings whose join key the view holds, and
    `missing` the number of the others. Of the window's units `waiting` are no candidates: their
    request failed lately, or can never be sent. `saved` is the budget left for later evaluations,
    negative if it was borrowed from them; `sets` are the sizes of the sets A to G (see
    `WindowSets`). `limits` has the limit that kept it from refreshing more (`bound`, None if none
    did) and the requests that each limit then leaves (`left`). `service_status` is `ok`, or says
    what failed; `service_state` how the worst service was found, `silenced` how many refreshes of
    services that are SILENT failed, `dropped` how many rows it sent unasked or that are no RDF,
    `not_modified` how many requests it answered by saying that nothing has changed. `budget` is the
    γ that deadline and limits left, `alerts` are the
    promises that the answer does not keep. `latency_ms` is the time from the close of the window to
    the written answer, where the stream is live. Counts of the stream are those since the record
    before, given with a batch's first evaluation. `query` is the name of the query.
    """

    evaluation: int
    at: int
    window: tuple[int, int]
    policy: str
    answers: int
    estimated_freshness: float | None
    completeness: float | None
    candidates: int
    budget: int
    elected: int
    refreshed: int
    changed: int
    failed: int
    requests: int
    service_status: str
    service_s: float
    answered_ms: int
    batch: int
    batch_evaluations: int
    batch_s: float
    silenced: int = 0
    evicted: int = 0
    waiting: int = 0
    missing: int = 0
    saved: int = 0
    sets: Mapping[str, int] = field(default_factory=dict)
    service_state: str = "ok"
    dropped: int = 0
    not_modified: int = 0
    alerts: tuple[Alert, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    skipped_empty: int = 0
    latency_ms: int | None = None
    query: str = ""

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({**vars(self), "alerts": [asdict(alert) for alert in self.alerts]})


@dataclass(frozen=True)
class Answer:
    """What is known of an evaluation's answer besides its services."""

    evaluation: int
    at: int
    window: tuple[int, int]
    rows: int
    fresh: float | None
    written_ms: int
    took_ms: int = 0


def quality_of(answer: Answer, services: Sequence[tuple[ServiceSettings, Outcome]]) -> Quality:
    """The record of an evaluation, from its answer and what it did to the view of each service.

    Counts are sums over the services, the completeness is that of the least complete.
    """
    outcomes = [outcome for _, outcome in services]
    replies = [outcome.reply for outcome in outcomes]
    heard = [outcome.reply for job, outcome in services if not job.plan.service.silent]
    failed = sum(len(reply.failed) for reply in heard)
    shares = [outcome.sets.completeness for outcome in outcomes]
    reasons = list(dict.fromkeys(why for reply in heard for why in reply.failed.values()))
    sets: Counter[str] = Counter()
    for outcome in outcomes:
        sets.update(outcome.sets.sizes())
    return Quality(
        evaluation=answer.evaluation,
        at=answer.at,
        window=answer.window,
        policy="; ".join(job.policy.name for job, _ in services) or "none",
        answers=answer.rows,
        estimated_freshness=None if answer.fresh is None else round(answer.fresh, 6),
        completeness=min((share for share in shares if share is not None), default=None),
        candidates=sum(outcome.candidates for outcome in outcomes),
        budget=sum(_budget(job, outcome) for job, outcome in services),
        elected=sum(len(outcome.elected) for outcome in outcomes),
        refreshed=sum(len(reply.answered) for reply in replies),
        changed=sum(outcome.changed for outcome in outcomes),
        failed=failed,
        silenced=sum(len(reply.failed) for reply in replies) - failed,
        requests=sum(reply.requests for reply in replies),
        service_status=f"failed: {'; '.join(reasons)}" if reasons else "ok",
        service_state=_worst(heard),
        dropped=sum(reply.dropped for reply in replies),
        not_modified=sum(reply.not_modified for reply in replies),
        alerts=tuple(_alerts(answer, services)),
        service_s=round(sum(reply.seconds for reply in replies), 4),
        answered_ms=answer.written_ms,
        batch=0,
        batch_evaluations=0,
        batch_s=0.0,
        evicted=sum(len(outcome.evicted) for outcome in outcomes),
        waiting=sum(outcome.waiting for outcome in outcomes),
        missing=sum(outcome.sets.g for outcome in outcomes),
        saved=sum(outcome.saved for outcome in outcomes),
        sets=dict(sets),
        limits=_limits(outcomes),
    )


def _budget(job: ServiceSettings, outcome: Outcome) -> int:
    """The γ of an evaluation; one without any limit has as much as it could spend."""
    return outcome.candidates if outcome.budget == job.budget == UNLIMITED else outcome.budget


def _worst(replies: Sequence[Reply]) -> str:
    """How the worst of the services was found."""
    return max((reply.state for reply in replies), key=_STATES.index, default=_STATES[0])


def _alerts(answer: Answer, services: Sequence[tuple[ServiceSettings, Outcome]]) -> Iterator[Alert]:
    """The promises that the answer does not keep."""
    for service, outcome in services:
        if alert := freshness_alert(service, outcome):
            yield alert
    qos = services[0][0].qos if services else NO_QOS
    if alert := deadline_alert(qos, [outcome for _, outcome in services], answer.took_ms):
        yield alert


def _limits(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What bound the services, and the least that each limit leaves; nothing without limits."""
    bound = list(dict.fromkeys(outcome.bound_by for outcome in outcomes if outcome.bound_by))
    left: dict[str, int] = {}
    for outcome in outcomes:
        for name, requests in outcome.left.items():
            left[name] = min(requests, left.get(name, requests))
    return {"bound": "; ".join(bound) or None, "left": left} if bound or left else {}
