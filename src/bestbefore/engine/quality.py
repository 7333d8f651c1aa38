"""The quality record of an evaluation: how fresh its answer is and what that took."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Quality:
    """What is known of one answer.

    `estimated_freshness` is the mean over the answer rows of the probability that the row is
    fresh; `completeness` the share of the window's mappings whose join key the view holds, and
    `missing` the number of the others. `saved` is the budget left for later evaluations, negative
    if it was borrowed from them; `sets` are the sizes of the sets A to G (see `WindowSets`).
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
    evicted: int = 0
    missing: int = 0
    saved: int = 0
    sets: Mapping[str, int] = field(default_factory=dict)
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    skipped_empty: int = 0

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({**asdict(self), "window": list(self.window)})
