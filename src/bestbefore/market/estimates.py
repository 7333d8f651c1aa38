"""Estimates: how many rows an answer has, and how many of them are fresh."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """The total and the fresh cardinality of an answer (thesis section 3.3).

    An answer without rows is fresh: no row of it is stale.

    >>> Estimate(10.0, 0.32).freshness, Estimate(0.0, 0.0).freshness
    (0.032, 1.0)
    """

    total: float
    fresh: float

    @property
    def freshness(self) -> float:
        """The share of the rows that are fresh; 1 if there are none."""
        return min(1.0, self.fresh / self.total) if self.total > 0 else 1.0
