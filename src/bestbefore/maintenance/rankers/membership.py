"""How probably a value is on the other side of a FILTER's threshold than when it was fetched."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bestbefore.arrays import Booleans, Scores
from bestbefore.maintenance.candidates import CandidateSet
from bestbefore.view.units import LONGEST_STEP

# What all units have in common counts as much as so many changes of the unit itself.
_STEPS, _DIRECTIONS = 10.0, 10.0
# That values rise as often as they fall counts as much as so many rises and falls of any.
_EVEN = 10.0
# Before any was seen to move: the share of values that one step might bring to the other side.
_WITHIN_A_STEP = 0.1
# Degrees of freedom before a unit was seen to change: the fewer, the farther it may go.
_FREEDOM = 1.5
# The mean step of a distribution between exponential and normal, by its root mean square.
_MEAN_STEP = 0.75
_LEAST = 1e-12
_NOTHING: tuple[Scores, ...] = tuple(np.zeros((4, 1)))
# So many tell what is so of most.
_SAMPLE = 8_192
_NODES, _NODE_WEIGHTS = (each[:, None, None] for each in np.polynomial.legendre.leggauss(6))
# From this node on they have half of the weight.
_UPPER = 3
_AT_ONCE = 16_384

Integrals = Callable[[Scores, Scores], tuple[Scores, Scores]]
"""What gives the integrals up to some ages, and from these to others."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What the steps of all values have in common: their mean square, and the share of rises.

    `drift` is the most that any value moves one way per step on average. Before one was `seen` to
    move, all are alike.
    """

    square: float = 1.0
    rises: float = 0.5
    drift: float = 0.0
    seen: bool = False

    @classmethod
    def of(cls, candidates: CandidateSet) -> "Steps":
        """Those of all units; before any was seen, a step is the way of some to the threshold."""
        units = candidates.units
        rises, falls, moves = (
            float(column.sum()) for column in (units.rises, units.falls, units.moves)
        )
        square, common = 1.0, (rises + _EVEN) / (rises + falls + 2.0 * _EVEN)
        if moves:
            square = float(units.squares.sum()) / moves
        else:
            some = candidates.unit[:: 1 + len(candidates) // _SAMPLE]
            distance = np.abs(units.value[some] - (candidates.threshold or 0.0))
            # What lies on the threshold does not tell how far a step is.
            if len(distance := distance[distance > 0.0]):
                near = _quantile(np.minimum(distance, LONGEST_STEP), _WITHIN_A_STEP)
                square = max(near**2, _LEAST)
        most = (
            _DIRECTIONS * (1.0 - share) / (_DIRECTIONS + float(seen.max(initial=0.0)))
            for share, seen in ((common, units.rises), (1.0 - common, units.falls))
        )
        return cls(square, common, _MEAN_STEP * (1.0 - 2.0 * min(most)), moves > 0)

    def upwards(self, rises: Scores, falls: Scores) -> Scores:
        """How far values move up per step on average, by what was seen of each."""
        more = rises - falls + _DIRECTIONS * (2.0 * self.rises - 1.0)
        return np.asarray(_MEAN_STEP * (more / (rises + falls + _DIRECTIONS)))

    def spreads(self, candidates: CandidateSet) -> Scores:
        """How far the value of each moves either way per step on average, in standard deviations.

        No less than that, as no drift is above that of all.
        """
        units, cut = candidates.units, candidates.cut
        drift = np.abs(self.upwards(cut(units.rises), cut(units.falls)))
        return np.asarray(drift / math.sqrt(1.0 - 0.5 * self.drift**2))


@dataclass(frozen=True, slots=True)
class Membership:
    """Values as walks: a change moves one by a step, up with some chance and down otherwise.

    The mean square of a unit's steps and the share of its rises are those seen, pooled with those
    of all units. `rate` is in changes per evaluation, `distance` that to the threshold in steps,
    `drift` the mean step towards it. Values that are `shown` are wrong as soon as they have
    changed.
    """

    rate: Scores
    distance: Scores
    drift: Scores
    freedom: Scores
    shown: Booleans | None

    @classmethod
    def of(cls, candidates: CandidateSet, rate: Scores, common: Steps) -> "Membership":
        """What was learned of the values of candidates."""
        units, cut = candidates.units, candidates.cut
        apart = cut(units.value) - (candidates.threshold or 0.0)
        known = units.rises, units.falls, units.squares, units.moves
        rises, falls, squares, moves = map(cut, known) if common.seen else _NOTHING
        square = (squares + _STEPS * common.square) / (moves + _STEPS)
        above, number = apart > 0.0, ~np.isnan(apart)
        shown = None
        if candidates.shown_above is not None:
            shown = number & (above == candidates.shown_above)
        return cls(
            rate=rate,
            # What has no number yet may get one on either side.
            distance=np.minimum(np.fmax(np.abs(apart), 0.0), LONGEST_STEP) / np.sqrt(square),
            drift=common.upwards(rises, falls) * np.where(above, -1.0, number),
            freedom=_FREEDOM + (rises + falls),
            shown=shown,
        )

    def wrong(self, age: Scores) -> Scores:
        """The probability of being on the other side after so many evaluations.

        That is the probability of a change, times that of having gone so far given there was one.
        """
        changed, crossed = self._parts(age)
        return changed * crossed

    def wrong_at_most(self, age: Scores) -> Scores:
        """What that is not above at this rate or any lower one.

        The more changes the more have crossed, but for a drift away.
        """
        return replace(self, drift=np.maximum(self.drift, 0.0)).wrong(age)

    def _parts(self, age: Scores) -> tuple[Scores, Scores]:
        expected = np.maximum(self.rate * age, _LEAST)
        changed = -np.expm1(-expected)
        return changed, self.crossed(expected / changed)

    def crossed(self, steps: Scores | float) -> Scores:
        """The probability of being on the other side after so many steps."""
        away = (self.distance - self.drift * steps) / np.sqrt((1.0 - 0.5 * self.drift**2) * steps)
        crossed = student_tail(away, self.freedom)
        return crossed if self.shown is None else np.where(self.shown, 1.0, crossed)

    def integrals(self, until: Scores, end: Scores) -> tuple[Scores, Scores]:
        """∫ d(a) da up to some ages and from these on, d(a) being how probably it is wrong then."""
        low, total = np.zeros((2, 2, len(until)))
        low[1] = until
        half = (np.array([until, end]) - low) / 2
        # As many nodes at a time as stay in the processor's cache.
        some = max(1, _AT_ONCE // max(1, low.size))
        for first in range(0, len(_NODES), some):
            part = slice(first, first + some)
            wrong = self.wrong(low + half * (1 + _NODES[part]))
            total += (_NODE_WEIGHTS[part] * wrong).sum(axis=0)
        first_part, rest = total * half
        return first_part, rest

    def wrong_at_least(self, age: Scores) -> tuple[Scores, Integrals]:
        """The probability of being wrong at an age, and what no integrals up to it are below.

        The more steps the more have crossed, but for a drift away that takes some back in the end:
        from one age to another there are never fewer than at both. And of changes alone, which are
        1 − e^(−λa), an integral by its nodes is above the true one. From the age 0 on that does.
        """
        changed, crossed = self._parts(age)
        rate, fewest = np.maximum(self.rate, _LEAST), np.minimum(crossed, self.crossed(1.0))

        def integrals(until: Scores, end: Scores) -> tuple[Scores, Scores]:
            half = (end - until) / 2
            changes = 2 * half + np.exp(-rate * until) * np.expm1(-rate * 2 * half) / rate
            by_then, more = self._parts(until + half * (1 + _NODES[_UPPER, 0]))
            more = np.maximum(np.minimum(more, crossed) - fewest, 0.0)
            first = fewest * (until + np.expm1(-rate * until) / rate)
            return first, fewest * changes + half * by_then * more

        return changed * crossed, integrals


def _quantile(values: Scores, share: float) -> float:
    """NumPy's quantile, which takes ten times as long for few values."""
    place, part = divmod(share * (len(values) - 1), 1)
    lower = int(place)
    ordered = np.partition(values, (lower, min(lower + 1, len(values) - 1)))
    low, high = float(ordered[lower]), float(ordered[min(lower + 1, len(values) - 1)])
    return low + part * (high - low) if part < 0.5 else high - (1 - part) * (high - low)


def student_tail(z: Scores, freedom: Scores) -> Scores:
    """P(T > z) of Student's t, by Wallace's normal approximation (to about 0.01).

    >>> student_tail(np.array([0.0, 2.0]), np.array([5.0, 5.0])).round(2).tolist()
    [0.5, 0.05]
    """
    scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    # Farther than that is nothing, and its square would be no number.
    far = np.minimum(np.abs(z), LONGEST_STEP)
    squared = scale * scale * freedom * np.log1p(far * far / freedom)
    tail = _normal_tail(squared)
    return np.asarray(np.where(z < 0, 1.0 - tail, tail))


def _normal_tail(squared: Scores) -> Scores:
    """P(Z > z) of the normal distribution by z², to 1e-7 (Abramowitz and Stegun 7.1.26)."""
    half = 0.5 * squared
    t = 1.0 / (1.0 + 0.3275911 * np.sqrt(half))
    series = 0.254829592 + t * (
        -0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    )
    return np.asarray(0.5 * t * series * np.exp(-half))
