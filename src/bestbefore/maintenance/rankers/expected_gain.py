"""EFG, expected gain: the answer rows that a refresh makes correct, over all evaluations to come.

With d(a) the probability that a row of a unit is wrong at the age a, K the unit's age in
evaluations, and w_k the rows it is expected to have a part in k evaluations from now:

    gain = Σ_{k<K} w_k · (d(K) − d(k))

docs/policies.md derives it. A unit that is missing is wrong for certain.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Booleans, Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.gain_by_key import elect_keys
from bestbefore.maintenance.rankers.membership import Membership
from bestbefore.maintenance.rankers.ranker import elect_highest, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for

# What is wrong with less than this probability is only looked at for a share of the budget.
_WORTH_A_LOOK, _EXPLORED = 0.01, 0.1
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(6)


Column = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of each candidate in the evaluations to come, which all else is made of.

    `age` is K, `lasting` how many evaluations its present rows last on average, `rows` how many
    these are, and `later` how many are expected in any evaluation after that.
    """

    age: Column
    lasting: Column
    rows: Column
    later: Column


def outlook(candidates: CandidateSet, moment: Moment) -> Outlook:
    """What the stream tells of candidates; the age of a missing one is that of the oldest."""
    age = np.maximum(moment.t_ms - candidates.refreshed_ms, 0) / moment.slide_ms
    held = candidates.held
    if not held.all():
        oldest = age[held].max(initial=0.0)
        age = np.where(held, age, max(oldest, float(moment.horizon)))
    rows = candidates.mappings.astype(np.float64)
    forever = np.full(len(candidates), moment.horizon, dtype=np.int64)
    lasting = candidates.results(forever) / np.maximum(rows, 1.0)
    occupancy = candidates.occupancy(moment)
    return Outlook(age, lasting, rows, np.maximum(rows, 1.0) * occupancy)


@rankers.register("EFG")
@dataclass(frozen=True)
class ExpectedGain:
    """The units whose refresh makes the most answer rows correct, now and later.

    It needs no knowledge of the units: how often they change and how often the stream needs them
    is learned. With a FILTER a row is wrong only if it is on the wrong side; where the units of a
    join key are aggregated, only all of them make it right. What is hardly ever wrong gets a tenth
    of the budget at most.
    """

    ranks_missing = True

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The expected gain in rows."""
        if candidates.threshold is not None:
            return _gain_of_membership(candidates, moment)
        return _gain(candidates, moment)

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest gains; where join keys are aggregated, whole join keys."""
        if candidates.aggregated:
            return elect_keys(candidates, moment, budget=budget)
        gain = self.score(candidates, moment)
        gain = np.where(_hardly_wrong(candidates, moment), -1.0 / (1.0 + gain), gain)
        chosen = elect_highest(gain, budget=budget, rng=rng)
        looks = _EXPLORED * budget
        most = int(looks) + int(rng.random() < looks % 1)
        worth = int(np.count_nonzero(gain[chosen] >= 0))
        return chosen[: worth + most]


def _hardly_wrong(candidates: CandidateSet, moment: Moment) -> Booleans:
    """Which candidates are fresh almost for certain."""
    fresh = candidates.units.fresh_probability(candidates.unit, moment.t_ms)
    return np.asarray(fresh > 1 - _WORTH_A_LOOK)


def _gain(candidates: CandidateSet, moment: Moment) -> Scores:
    """The gain where a row is wrong as soon as its unit has changed."""
    expected, units = outlook(candidates, moment), candidates.units
    gain = np.empty(len(candidates))
    missing = ~candidates.held
    if units.rates is None:
        rate = moment.slide_ms / candidates.interval_ms
        gain[:] = _gain_at(rate, expected, missing)
    else:
        per_slide = (units.rates.rate * moment.slide_ms).astype(np.float32)
        for part, weight in units.rates.weights(candidates.unit, candidates.interval_ms):
            cut = _cut(expected, part)
            found = [_gain_at(rate, cut, missing[part]) for rate in per_slide]
            gain[part] = np.einsum("ur,ru->u", weight, np.array(found))
    periodic = candidates.periodic
    if periodic.any():
        gain = np.where(periodic, _gain_of_periodic(candidates, moment, expected), gain)
    return gain


def _gain_at(rate: Scores | np.float32, expected: Outlook, missing: Booleans) -> Scores:
    """The gain of units that change at a known rate per evaluation: d(a) = 1 − e^(−λa)."""
    age, lasting = expected.age, np.minimum(expected.lasting, expected.age)
    fresh_now = np.exp(-rate * age)
    # Σ_{k<n} e^(−λk), or n where λ is next to nothing.
    scale = -1.0 / np.expm1(-np.maximum(rate, 1e-9))
    whole, present = (1.0 - fresh_now) * scale, -np.expm1(-rate * lasting) * scale
    fresh_now = np.where(missing, 0.0, fresh_now)
    now = present - lasting * fresh_now
    then = whole - present - (age - lasting) * fresh_now
    return np.asarray(expected.rows * now + expected.later * then)


def _gain_of_periodic(candidates: CandidateSet, moment: Moment, expected: Outlook) -> Scores:
    """The gain of units whose next change is known: they are fresh until then, if they are stale.

    With rows that last for L evaluations this is min(L, V), what WBM and IBM rank by, and what the
    stream brings afterwards.
    """
    fresh = fresh_for(candidates, moment).astype(np.float64)
    present = np.minimum(fresh, expected.lasting)
    gain = expected.rows * present + expected.later * (fresh - present)
    return np.where(candidates.expired(moment) | ~candidates.held, gain, 0.0)


def _gain_of_membership(candidates: CandidateSet, moment: Moment) -> Scores:
    """The gain where a row is wrong if its value is on the other side of a threshold by now."""
    expected, member = outlook(candidates, moment), Membership.of(candidates, moment)
    wrong_now = np.where(candidates.held, member.wrong(expected.age), 1.0)
    present = np.clip(np.minimum(expected.lasting, expected.age) - 0.5, 0.0, None)
    whole = np.maximum(expected.age - 0.5, present)
    until = _integral(member, np.zeros(len(candidates)), present)
    after = _integral(member, present, whole)
    now = np.minimum(expected.lasting, expected.age) * wrong_now - until
    then = (expected.age - np.minimum(expected.lasting, expected.age)) * wrong_now - after
    return np.asarray(expected.rows * now + expected.later * then)


def _integral(member: Membership, low: Scores, high: Scores) -> Scores:
    """∫ d(a) da, which is what the sum over evaluations comes to."""
    half, total = (high - low) / 2, np.zeros(len(low))
    for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        total += weight * member.wrong(low + half * (1 + node))
    return np.asarray(total * half)


def _cut(expected: Outlook, part: slice) -> Outlook:
    """Some of the candidates, in less memory."""
    columns = (expected.age, expected.lasting, expected.rows, expected.later)
    return Outlook(*(column[part].astype(np.float32) for column in columns))
