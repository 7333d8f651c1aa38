"""The quality record of an evaluation, from what became of each of its services."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from bestbefore.engine.quality import Quality
from bestbefore.engine.walk import Maintained
from bestbefore.job.job import ServiceSettings


@dataclass(frozen=True)
class MaintainedService:
    """What a batch did for one service: the slices of its view, and an outcome per evaluation."""

    job: ServiceSettings
    slices: pa.Table
    outcomes: Sequence[Maintained]


@dataclass(frozen=True)
class Answered:
    """What is known of an evaluation's answer besides its services."""

    evaluation: int
    at: int
    window: tuple[int, int]
    answers: int
    estimated_freshness: float | None
    answered_ms: int
    batch: int
    batch_evaluations: int


def quality_of(answered: Answered, services: Sequence[MaintainedService], place: int) -> Quality:
    """The record of the evaluation at a place among those of the batch.

    Counts are sums over the services, the completeness is that of the least complete.
    """
    outcomes = [each.outcomes[place] for each in services]
    done = [each.refreshed for each in outcomes]
    fresh = answered.estimated_freshness
    shares = [each.sets.completeness for each in outcomes if each.sets.completeness is not None]
    reasons = list(dict.fromkeys(why for each in done for why in each.failed.values()))
    return Quality(
        evaluation=answered.evaluation,
        at=answered.at,
        window=answered.window,
        policy="; ".join(each.job.policy.name for each in services) or "none",
        answers=answered.answers,
        estimated_freshness=None if fresh is None else round(fresh, 6),
        completeness=min(shares, default=None),
        candidates=sum(each.candidates for each in done),
        budget=sum(each.job.budget for each in services),
        elected=sum(each.elected for each in done),
        refreshed=sum(len(each.rows) for each in done),
        changed=sum(each.changed for each in outcomes),
        failed=sum(len(each.failed) for each in done),
        requests=sum(each.requests for each in done),
        service=f"failed: {'; '.join(reasons)}" if reasons else "ok",
        service_s=round(sum(each.seconds for each in done), 4),
        answered_ms=answered.answered_ms,
        batch=answered.batch,
        batch_evaluations=answered.batch_evaluations,
        batch_s=0.0,
        evicted=sum(len(each.evicted) for each in done),
        missing=sum(each.sets.g for each in outcomes),
        saved=sum(each.saved for each in outcomes),
        sets=_sets(outcomes),
    )


def _sets(outcomes: Sequence[Maintained]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in outcomes:
        for letter, size in each.sets.sizes().items():
            total[letter] = total.get(letter, 0) + size
    return total
