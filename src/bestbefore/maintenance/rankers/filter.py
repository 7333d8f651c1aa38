"""Rankers for a FILTER: what is near its threshold, alone or as a band for a ranker of acqua."""

from dataclasses import dataclass, field
from typing import ClassVar

from bestbefore.arrays import Scores
from bestbefore.errors import PolicyError
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.baselines import LeastRecentlyRefreshed, RandomRanker
from bestbefore.maintenance.rankers.ranker import Need, Scorer, only, rankers
from bestbefore.maintenance.rankers.window_based import WindowBasedMaintenance


@rankers.register("Filter")
@dataclass(frozen=True)
class FilterRanker:
    """The candidates whose value is nearest to the threshold (rank-aggregation section 3.2)."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:  # noqa: ARG002
        """The nearer the better."""
        return -candidates.distance


_EXAMPLE = {"example": 500}


@rankers.register("RND.F")
@dataclass(frozen=True)
class RandomInBand:
    """RND among the candidates within a distance `fdt` of the threshold (rank-aggregation 3.2)."""

    fdt: float = field(metadata=_EXAMPLE)
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.fdt)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The same for all in the band."""
        return _in_band(RandomRanker(), candidates, moment, self.fdt)


@rankers.register("LRU.F")
@dataclass(frozen=True)
class LeastRecentlyRefreshedInBand:
    """LRU among the candidates within a distance `fdt` of the threshold (rank-aggregation 3.2)."""

    fdt: float = field(metadata=_EXAMPLE)
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.fdt)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The age of the last refresh, in the band."""
        return _in_band(LeastRecentlyRefreshed(), candidates, moment, self.fdt)


@rankers.register("WBM.F")
@dataclass(frozen=True)
class WindowBasedInBand:
    """WBM among the candidates within a distance `fdt` of the threshold (rank-aggregation 3.2)."""

    fdt: float = field(metadata=_EXAMPLE)
    fill: bool = False
    needs: ClassVar[frozenset[Need]] = frozenset({Need.FILTER})

    def __post_init__(self) -> None:
        _check(self.fdt)

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """min(L, V), in the band."""
        return _in_band(WindowBasedMaintenance(self.fill), candidates, moment, self.fdt)


def _check(fdt: float) -> None:
    if not fdt >= 0:
        raise PolicyError(f"fdt = {fdt} is no distance from a threshold; it must be 0 or more")


def _in_band(ranker: Scorer, candidates: CandidateSet, moment: Moment, fdt: float) -> Scores:
    return only(candidates.distance <= fdt, ranker.score(candidates, moment))
