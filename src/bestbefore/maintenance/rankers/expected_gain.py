"""EFG, expected gain: the answer rows that a refresh makes correct, over all evaluations to come.

With d(a) the probability that a row of a unit is wrong at the age a, K the unit's age in
evaluations, and w_k the rows it is expected to have a part in k evaluations from now:

    gain = Σ_{k<K} w_k · (d(K) − d(k))

docs/policies.md derives it. A unit that is missing is wrong for certain.
"""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment, in_window
from bestbefore.maintenance.rankers.gain_by_key import elect_keys
from bestbefore.maintenance.rankers.membership import Integrals, Membership, Steps
from bestbefore.maintenance.rankers.ranker import elect_highest, rankers
from bestbefore.maintenance.rankers.window_based import fresh_for
from bestbefore.maintenance.selection import Bounds, highest_scores, in_blocks
from bestbefore.view.change_rates import ONES

# What is wrong with less than this probability is only looked at for a share of the budget.
_WORTH_A_LOOK, _EXPLORED = 0.01, 0.1
# A bound and what it bounds are rounded otherwise.
_ROUNDING = 1.0 + 1e-4
# Up to so many lengths it is faster to have the sums of all for each unit, and take one.
_FEW = 64
# Changes at random are nowhere more above their mean than (1 − e^(−x)) · (1 + 1/x) − 1 can be.
_RANDOM = 0.3


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of each candidate in the evaluations to come, which all else is made of.

    `age` is K, `lasting` how many evaluations its present rows last on average, `rows` how many
    these are, and `later` how many are expected in any evaluation after that.
    """

    age: Scores
    lasting: Scores
    rows: Scores
    later: Scores

    @property
    def most(self) -> tuple[Scores, Scores]:
        """The rows until the age has come again: the present ones, and others; no less than one.

        No refresh gains more, and with one more a sum is not above an integral.
        """
        lasting = np.minimum(self.lasting, self.age)
        present = self.rows * np.maximum(lasting, 1.0) + self.later
        return present, self.later * (self.age - lasting)

    @property
    def quarters(self) -> Scores:
        """How long present rows last until the age has come again.

        In quarters of an evaluation, so that there are few lengths.
        """
        return np.floor(4.0 * np.minimum(self.lasting, self.age)) / 4.0

    def part(self, part: slice) -> "Outlook":
        """That of some of these candidates."""
        return Outlook(self.age[part], self.lasting[part], self.rows[part], self.later[part])


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
        gains = _Gains.of(candidates, moment)
        return in_blocks(lambda which: gains.of_some(which)[0], len(candidates))

    def elect(
        self, candidates: CandidateSet, moment: Moment, *, budget: int, rng: np.random.Generator
    ) -> Integers:
        """The highest gains; where join keys are aggregated, whole join keys."""
        if candidates.aggregated:
            return elect_keys(candidates, moment, budget=budget)
        gains = _Gains.of(candidates, moment)
        pool, gain = highest_scores(len(candidates), budget, gains.priority, gains.bounds())
        chosen = elect_highest(gain, budget=budget, rng=rng)
        looks = _EXPLORED * budget
        most = int(looks) + int(rng.random() < looks % 1)
        worth = int(np.count_nonzero(gain[chosen] >= 0))
        chosen = chosen[: worth + most]
        return chosen if pool is None else pool[chosen]


@dataclass(frozen=True, slots=True)
class _Gains:
    """The gains of candidates, some at a time, and bounds of them that cost less.

    Of each unit of the window `answers` are the rows over the evaluations that its mappings last,
    and `position` is where a candidate is there. `missing_age` is the age of one that is missing:
    that of the oldest, if not `all_held`. `steps` are those of values, with a FILTER.
    """

    candidates: CandidateSet
    moment: Moment
    answers: Scores
    position: Integers
    all_held: bool
    missing_age: float
    steps: Steps

    @classmethod
    def of(cls, candidates: CandidateSet, moment: Moment) -> "_Gains":
        """What has to be known of all candidates for the gain of one."""
        window, held, oldest_ms = candidates.window, candidates.held, 0
        all_held = bool(held.all())
        if not all_held and held.any():
            oldest_ms = moment.t_ms - int(candidates.refreshed_ms[held].min())
        return cls(
            candidates,
            moment,
            window.results(moment.horizon),
            candidates.position,
            all_held,
            max(oldest_ms / moment.slide_ms, float(moment.horizon)),
            Steps() if candidates.threshold is None else Steps.of(candidates),
        )

    def outlook(self, which: Integers | slice) -> tuple[CandidateSet, Outlook]:
        """Some of the candidates, and what the stream tells of them."""
        some, position = self.candidates.some(which), self.position[which]
        rows = in_window(some.window.mappings, position).astype(np.float64)
        at_least_one = np.maximum(rows, 1.0)
        lasting = in_window(self.answers, position) / at_least_one
        age = np.maximum(self.moment.t_ms - some.refreshed_ms, 0) / self.moment.slide_ms
        age = self._if_held(some, age, self.missing_age)
        return some, Outlook(age, lasting, rows, at_least_one * some.occupancy(self.moment))

    def _if_held(self, some: CandidateSet, found: Scores, missing: Scores | float) -> Scores:
        """What was found of some of the candidates, or what is so of those that are missing."""
        return found if self.all_held else np.where(some.held, found, missing)

    def bounds(self) -> Bounds | None:
        """What no priority is above; nothing where gains are cheap."""
        rates = self.candidates.units.rates
        if self.candidates.threshold is not None:
            closer = (self._most_crossed,)
            return Bounds(self._most, closer if rates is None else (self._most_wrong, *closer))
        if rates is None or self.candidates.periodic.any():
            return None
        return Bounds(self._most, (self._most_regular,) if rates.tells_regular else ())

    def priority(self, which: Integers | slice) -> Scores:
        """The gain of some; below all others, in its order, that of what is hardly ever wrong."""
        gain, wrong = self.of_some(which)
        return np.where(wrong < _WORTH_A_LOOK, -1.0 / (1.0 + np.maximum(gain, 0.0)), gain)

    def of_some(self, which: Integers | slice) -> tuple[Scores, Scores]:
        """The gain of some of the candidates, and how probably each is wrong now."""
        some, expected = self.outlook(which)
        if some.threshold is not None:
            member = self._member(some, some.change_rate)
            wrong = self._if_held(some, member.wrong(expected.age), 1.0)
            return _gain_of_membership(expected, wrong, member.integrals), wrong
        gain, wrong = _gain_of_rows(some, self.moment, expected)
        if some.periodic.any():
            exact = _gain_of_periodic(some, self.moment, expected)
            stale = some.expired(self.moment) | ~some.held
            gain = np.where(some.periodic, exact, gain)
            wrong = np.where(some.periodic, stale, wrong)
        return gain, wrong

    def _member(self, some: CandidateSet, change_rate: Scores) -> Membership:
        return Membership.of(some, self.moment.slide_ms * change_rate, self.steps)

    def _most(self, which: Integers | slice) -> Scores:
        """All rows, or less of the later ones if no d(K) − d(k) is gained but of some changes."""
        some, expected = self.outlook(which)
        present, later = expected.most
        whole, most = present + later, present + _RANDOM * later
        if some.threshold is not None:
            most = self._most_drifted(some, expected, most, whole)
        elif some.units.rates is not None and some.rates.tells_regular:
            return _ROUNDING * whole
        return _ROUNDING * self._if_held(some, most, whole)

    def _most_drifted(
        self, some: CandidateSet, expected: Outlook, most: Scores, whole: Scores
    ) -> Scores:
        """The most that is gained where rows are wrong on the other side of a threshold.

        Of values that drift nowhere at most half are there, and most is gained close to it. A drift
        moves values by some spreads, and no density of what has unit spread is above 0.4.
        """
        if some.shown_above is None:
            most = 0.5 * most
        if self.steps.drift:
            steps = 1.0 + self.moment.slide_ms * some.change_rate_at_most * expected.age
            moved = self.steps.spreads(some) * np.sqrt(steps)
            most = np.minimum(most + 0.4 * moved * whole, whole)
        return most

    def _most_wrong(self, which: Integers, most: Scores) -> Scores:
        """No more of the rows than are wrong now at most."""
        some, expected = self.outlook(which)
        rate = some.change_rate if some.rates.stated else some.change_rate_at_most
        wrong = self._member(some, rate).wrong_at_most(expected.age)
        wrong = self._if_held(some, wrong, 1.0)
        present, later = expected.most
        return np.minimum(most, _bound((present + later) * wrong, wrong))

    def _most_crossed(self, which: Integers, most: Scores) -> Scores:
        """Nor more than that less what will be wrong at least."""
        some, expected = self.outlook(which)
        member = self._member(some, some.change_rate)
        wrong, least = member.wrong_at_least(expected.age)
        wrong = _ROUNDING * self._if_held(some, wrong, 1.0)
        return np.minimum(most, _bound(_gain_of_membership(expected, wrong, least), wrong))

    def _most_regular(self, which: Integers, most: Scores) -> Scores:
        """Bounds of what is expected where changes are regular bound the gain of what is held."""
        some, expected = self.outlook(which)
        rates, unit, slide_ms = some.rates, some.unit, self.moment.slide_ms
        present, later = expected.most
        lasting = expected.quarters

        def regular(part: slice) -> Scores:
            age, rows = expected.age[part], expected.part(part)
            sums = rates.regular.bounds(unit[part], age, lasting[part], slide_ms)
            return np.stack(_gain_of_sums(rows, *sums))

        at_random = np.stack([present + _RANDOM * later, np.ones(len(some))])
        bound = _bound(*rates.with_regular(unit, some.hints, at_random, regular))
        return self._if_held(some, bound, most)


def _bound(gain: Scores, wrong: Scores) -> Scores:
    """The bound of a priority, from those of a gain and of how probably a unit is wrong."""
    gain = _ROUNDING * np.maximum(gain, 0.0)
    return np.where(_ROUNDING * wrong < _WORTH_A_LOOK, -1.0 / (1.0 + gain), gain)


def _gain_of_rows(
    candidates: CandidateSet, moment: Moment, expected: Outlook
) -> tuple[Scores, Scores]:
    """The gain where a row is wrong as soon as its unit has changed: d(a) = 1 − e^(−λa).

    Then Σ_{k<n} e^(−λk) is (1 − e^(−λn)) / (1 − e^(−λ)). Of rates that are learned the means over
    all that they may be take the place of e^(−λn) and of these sums; and over changes at random and
    at regular intervals, where there are such.
    """
    lasting = expected.quarters
    if candidates.units.rates is None:
        rate = moment.slide_ms / candidates.interval_ms
        scale = -1.0 / np.expm1(-np.maximum(rate, 1e-9))
        fresh = np.exp(-rate * expected.age)
        whole, present = (1.0 - fresh) * scale, -np.expm1(-rate * lasting) * scale
    else:
        fresh, whole, present = _learned_sums(candidates, moment.slide_ms, expected.age, lasting)
    return _gain_of_sums(expected, np.where(candidates.held, fresh, 0.0), whole, present)


def _gain_of_sums(
    expected: Outlook, fresh: Scores, whole: Scores, present: Scores
) -> tuple[Scores, Scores]:
    """The gain by how probably units are fresh now, and the sums of how probably they will be."""
    lasting = expected.quarters
    now = present - lasting * fresh
    then = whole - present - (expected.age - lasting) * fresh
    return expected.rows * now + expected.later * then, 1.0 - fresh


def _learned_sums(candidates: CandidateSet, slide_ms: int, age: Scores, lasting: Scores) -> Scores:
    """E[e^(−λK)], and the expected sums of e^(−λk) up to K and up to as long as rows last."""
    rates, unit, hints = candidates.rates, candidates.unit, candidates.hints
    per_slide = -(rates.rate * slide_ms).astype(np.float32)
    scale = (-1.0 / np.expm1(per_slide)).astype(np.float32)
    both = np.stack([np.ones_like(scale), scale], axis=1)
    which = (4.0 * lasting).astype(np.int64)
    lengths = np.arange(which.max(initial=0) + 1) / 4.0
    sums = (-np.expm1(np.outer(per_slide, lengths)) * scale[:, None]).astype(np.float32)
    few, found = len(lengths) <= _FEW, np.empty((3, len(candidates)))
    whole = np.empty(len(candidates))
    for part, weight in rates.weights(unit, hints):
        fresh, lost = (
            (weight * np.exp(np.outer(age[part].astype(np.float32), per_slide))) @ both
        ).T
        found[0, part], found[1, part] = fresh, weight @ scale - lost
        if few:
            found[2, part] = np.take_along_axis(weight @ sums, which[part][:, None], axis=1)[:, 0]
        else:
            found[2, part] = np.einsum("ur,ur->u", weight, sums.T[which[part]])
        whole[part] = weight @ ONES
    return rates.with_regular(
        unit,
        hints,
        found / whole,
        lambda part: rates.regular.sums(unit[part], age[part], lasting[part], slide_ms),
    )


def _gain_of_periodic(candidates: CandidateSet, moment: Moment, expected: Outlook) -> Scores:
    """The gain of units whose next change is known: they are fresh until then, if they are stale.

    With rows that last for L evaluations this is min(L, V), what WBM and IBM rank by, and what the
    stream brings afterwards.
    """
    fresh = fresh_for(candidates, moment).astype(np.float64)
    present = np.minimum(fresh, expected.lasting)
    gain = expected.rows * present + expected.later * (fresh - present)
    return np.where(candidates.expired(moment) | ~candidates.held, gain, 0.0)


def _gain_of_membership(expected: Outlook, wrong: Scores, integrals: Integrals) -> Scores:
    """The gain where a row is wrong if its value is on the other side of a threshold by now.

    The integral of d is what its sum over evaluations comes to.
    """
    lasting = np.minimum(expected.lasting, expected.age)
    present = np.maximum(lasting - 0.5, 0.0)
    until_then, after = integrals(present, np.maximum(expected.age - 0.5, present))
    now = lasting * wrong - until_then
    then = (expected.age - lasting) * wrong - after
    return expected.rows * now + expected.later * then
