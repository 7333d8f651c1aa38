"""The quality record of an evaluation: how fresh its answer is and what that took."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Quality:
    """What is known of one answer.

    `estimated_freshness` is the mean over the answer rows of the probability that the row is
    fresh; `completeness` the share of the window's mappings whose join key the view holds.
    Counts of the stream are those since the record before, given with a batch's first evaluation.
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
    service: str
    service_s: float
    answered_ms: int
    batch: int
    batch_evaluations: int
    batch_s: float
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    skipped_empty: int = 0

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({**asdict(self), "window": list(self.window)})
