"""The result of a run: its series in a few figures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bestbefore.simulator.series import Series

SETS = "ABCDEFG"


@dataclass(frozen=True, slots=True)
class Result:
    """Means over the evaluations after the warm-up; `None` where no evaluation has an answer.

    `jaccard` is the cumulative Jaccard distance, `estimate_error` the mean distance of the
    estimated freshness from the true one, `spent` the refreshes per evaluation, and `gain` the
    freshness won per unit of budget over the next smaller budget of the same policy and seed.
    """

    policy: str
    budget: int
    seed: int
    evaluations: int
    candidates: float
    freshness: float | None
    completeness: float | None
    consistency: float | None
    estimated_freshness: float | None
    estimate_error: float | None
    jaccard: float
    refreshes: int
    requests: int
    spent: float
    evictions: int
    sets: dict[str, float]
    gain: float | None = None

    def to_dict(self) -> dict[str, object]:
        """The figures under their names, rounded to six places."""
        return {name: _rounded(value) for name, value in asdict(self).items()}


def summarise(series: Series, policy: str, *, budget: int, seed: int, warmup: float) -> Result:
    """The figures of a run, without the share of its first evaluations that are warm-up."""
    evaluations = len(series.candidates)
    kept = series.from_(min(int(evaluations * warmup), evaluations))
    refreshes = int(kept.refreshes.sum())
    sets = kept.sets.mean(axis=0).tolist()
    return Result(
        policy=policy,
        budget=budget,
        seed=seed,
        evaluations=len(kept.candidates),
        candidates=float(kept.candidates.mean()),
        freshness=_mean(kept.freshness),
        completeness=_mean(kept.completeness),
        consistency=_mean(kept.consistency),
        estimated_freshness=_mean(kept.estimated),
        estimate_error=_mean(np.abs(kept.estimated - kept.freshness)),
        jaccard=float(kept.jaccard.sum()),
        refreshes=refreshes,
        requests=refreshes,
        spent=float(kept.refreshes.mean()),
        evictions=int(kept.evicted.sum()),
        sets=dict(zip(SETS, sets, strict=True)),
    )


def with_gains(results: Sequence[Result]) -> list[Result]:
    """The results with the freshness that each budget gains over the next smaller one."""
    known = {(each.policy, each.seed, each.budget): each for each in results}
    budgets = sorted({each.budget for each in results})
    below = dict(zip(budgets[1:], budgets[:-1], strict=True))
    gained = []
    for each in results:
        less = known.get((each.policy, each.seed, below.get(each.budget, -1)))
        if less is not None and each.freshness is not None and less.freshness is not None:
            gain = (each.freshness - less.freshness) / (each.budget - less.budget)
            gained.append(replace(each, gain=gain))
        else:
            gained.append(each)
    return gained


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 6) if isinstance(value, float) else value
