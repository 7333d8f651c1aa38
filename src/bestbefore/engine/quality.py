"""The quality record of an evaluation: how fresh its answer is and what that took."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from bestbefore.job import ServiceSettings
from bestbefore.maintenance import Outcome


@dataclass(frozen=True)
class Quality:
    """What is known of one answer.

    `estimated_freshness` is the mean over the answer rows of the probability that the row is
    fresh; `completeness` the share of the window's mappings whose join key the view holds, and
    `missing` the number of the others. Of the window's units `waiting` are no candidates: their
    request failed lately, or can never be sent. `saved` is the budget left for later evaluations,
    negative if it was borrowed from them; `sets` are the sizes of the sets A to G (see
    `WindowSets`). `service_status` is `ok`, or says what failed. `latency_ms` is the time from the
    close of the window to the written answer, where the stream is live. Counts of the stream are
    those since the record before, given with a batch's first evaluation.
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
    evicted: int = 0
    waiting: int = 0
    missing: int = 0
    saved: int = 0
    sets: Mapping[str, int] = field(default_factory=dict)
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    skipped_empty: int = 0
    latency_ms: int | None = None

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({**asdict(self), "window": list(self.window)})


@dataclass(frozen=True)
class Answer:
    """What is known of an evaluation's answer besides its services."""

    evaluation: int
    at: int
    window: tuple[int, int]
    rows: int
    fresh: float | None
    written_ms: int


def quality_of(answer: Answer, services: Sequence[tuple[ServiceSettings, Outcome]]) -> Quality:
    """The record of an evaluation, from its answer and what it did to the view of each service.

    Counts are sums over the services, the completeness is that of the least complete.
    """
    outcomes = [outcome for _, outcome in services]
    replies = [outcome.reply for outcome in outcomes]
    shares = [outcome.sets.completeness for outcome in outcomes]
    reasons = list(dict.fromkeys(why for reply in replies for why in reply.failed.values()))
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
        budget=sum(job.budget for job, _ in services),
        elected=sum(len(outcome.elected) for outcome in outcomes),
        refreshed=sum(len(reply.answered) for reply in replies),
        changed=sum(outcome.changed for outcome in outcomes),
        failed=sum(len(reply.failed) for reply in replies),
        requests=sum(reply.requests for reply in replies),
        service_status=f"failed: {'; '.join(reasons)}" if reasons else "ok",
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
    )
