"""The Filter update policy: refresh what is near the FILTER's threshold."""

from dataclasses import dataclass
from typing import ClassVar

from bestbefore.arrays import Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.ranker import Need, rankers


@rankers.register("Filter")
@dataclass(frozen=True)
class FilterRanker:
    """The candidates whose value is nearest to the threshold (rank-aggregation section 3.2)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:  # noqa: ARG002
        """The nearer the better."""
        return -candidates.distance
