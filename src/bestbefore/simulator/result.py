"""What came of each evaluation of a run, as columns, and the figures that sum it up."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers, Numbers
from bestbefore.maintenance import Outcome
from bestbefore.simulator.answers import BINS, Tally


@dataclass(frozen=True, slots=True)
class Series:
    """Columns with an entry per evaluation; the columns of `sets` are A to G.

    `estimated` is NaN where an evaluation has no answer. `saved` is the budget left to later
    evaluations, borrowed from them if negative. `calibration` is as of a tally.
    """

    candidates: Integers
    refreshes: Integers
    evicted: Integers
    saved: Integers
    correct: Numbers
    wrong: Numbers
    missing: Numbers
    union: Numbers
    estimated: Numbers
    sets: Integers
    calibration: Numbers

    def note(self, position: int, outcome: Outcome, tally: Tally) -> None:
        """Enter an evaluation."""
        self.candidates[position] = outcome.candidates
        self.refreshes[position] = len(outcome.elected)
        self.evicted[position] = len(outcome.evicted)
        self.saved[position] = outcome.saved
        self.correct[position], self.wrong[position] = tally.correct, tally.wrong
        self.missing[position], self.union[position] = tally.missing, tally.union
        self.estimated[position] = tally.estimated
        sets = outcome.sets
        self.sets[position] = (sets.a, sets.b, sets.c, sets.d, sets.e, sets.f, sets.g)
        self.calibration[position] = tally.calibration

    @property
    def freshness(self) -> Numbers:
        """X/(X+Y) per evaluation, NaN without answers."""
        return _ratio(self.correct, self.correct + self.wrong)

    @property
    def completeness(self) -> Numbers:
        """(X+Y)/(X+Y+Z) per evaluation, NaN where nothing is due."""
        given = self.correct + self.wrong
        return _ratio(given, given + self.missing)

    @property
    def consistency(self) -> Numbers:
        """X/(X+Y+Z) per evaluation, NaN where nothing is due."""
        return _ratio(self.correct, self.correct + self.wrong + self.missing)

    @property
    def jaccard(self) -> Numbers:
        """The Jaccard distance of the answer sets per evaluation; two empty sets are equal."""
        return np.nan_to_num(1.0 - _ratio(self.correct, self.union), nan=0.0)

    def from_(self, position: int) -> "Series":
        """The evaluations from a position on: without the warm-up."""
        return Series(*(getattr(self, column.name)[position:] for column in fields(self)))


def empty_series(evaluations: int) -> Series:
    """A series to be filled."""
    return Series(
        candidates=np.zeros(evaluations, dtype=np.int64),
        refreshes=np.zeros(evaluations, dtype=np.int64),
        evicted=np.zeros(evaluations, dtype=np.int64),
        saved=np.zeros(evaluations, dtype=np.int64),
        correct=np.zeros(evaluations),
        wrong=np.zeros(evaluations),
        missing=np.zeros(evaluations),
        union=np.zeros(evaluations),
        estimated=np.zeros(evaluations),
        sets=np.zeros((evaluations, 7), dtype=np.int64),
        calibration=np.zeros((evaluations, BINS, 3)),
    )


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    ratio = np.full(len(part), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


SETS = "ABCDEFG"
CALIBRATION = ("answers", "predicted", "correct")


@dataclass(frozen=True, slots=True)
class Result:
    """Means over the evaluations after the warm-up; `None` where no evaluation has an answer.

    `jaccard` is the cumulative Jaccard distance, `estimate_error` the mean distance of the
    estimated freshness from the true one, `spent` the refreshes per evaluation, and `gain` the
    freshness won per unit of budget over the next smaller budget of the same policy and seed.

    `calibration` has, per tenth of the probability predicted for an answer, the number of
    `answers`, the sum `predicted` and how many are `correct`; `calibration_error` is the expected
    calibration error, the mean over all answers of their tenth's distance of the two.
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
    calibration_error: float | None
    jaccard: float
    refreshes: int
    requests: int
    spent: float
    evictions: int
    sets: dict[str, float]
    calibration: dict[str, list[float]]
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
    calibration = dict(zip(CALIBRATION, kept.calibration.sum(axis=0).T, strict=True))
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
        calibration_error=calibration_error(**calibration),
        jaccard=float(kept.jaccard.sum()),
        refreshes=refreshes,
        requests=refreshes,
        spent=float(kept.refreshes.mean()),
        evictions=int(kept.evicted.sum()),
        sets=dict(zip(SETS, sets, strict=True)),
        calibration={name: column.tolist() for name, column in calibration.items()},
    )


def calibration_error(answers: Numbers, predicted: Numbers, correct: Numbers) -> float | None:
    """How far predicted probabilities are from what came true, per answer; None without any."""
    total = float(answers.sum())
    return float(np.abs(predicted - correct).sum()) / total if total else None


def with_gains(results: Sequence[Result]) -> list[Result]:
    """The results with the freshness that each budget gains over the next smaller one."""
    known = {(result.policy, result.seed, result.budget): result for result in results}
    budgets = sorted({result.budget for result in results})
    below = dict(zip(budgets[1:], budgets[:-1], strict=True))
    gained = []
    for result in results:
        less = known.get((result.policy, result.seed, below.get(result.budget, -1)))
        if less is not None and result.freshness is not None and less.freshness is not None:
            gain = (result.freshness - less.freshness) / (result.budget - less.budget)
            gained.append(replace(result, gain=gain))
        else:
            gained.append(result)
    return gained


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value
