"""How probably a value is on the other side of a FILTER's threshold than when it was fetched."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment

# What all units have in common counts as much as so many changes of the unit itself.
_STEPS, _DIRECTIONS = 10.0, 10.0
# Degrees of freedom before a unit was seen to change: the fewer, the farther it may go.
_FREEDOM = 1.5
# The mean step of a distribution between exponential and normal, by its root mean square.
_MEAN_STEP = 0.75
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Steps:
    """What the steps of all values have in common: their mean square, and the share of rises."""

    square: float = 1.0
    rises: float = 0.5

    @classmethod
    def of(cls, candidates: CandidateSet) -> "Steps":
        """Those of all units; before any was seen, a step is the way to the threshold."""
        units = candidates.units
        rises, falls, moves = (
            float(column.sum()) for column in (units.rises, units.falls, units.moves)
        )
        if moves:
            square = float(units.squares.sum()) / moves
        else:
            distance = candidates.distance[~np.isnan(candidates.cut(units.value))]
            square = max(float(np.median(distance)) ** 2, _LEAST) if len(distance) else 1.0
        return cls(square, (rises + 1.0) / (rises + falls + 2.0))


@dataclass(frozen=True, slots=True)
class Membership:
    """Values as walks: a change moves one by a step, up with some chance and down otherwise.

    The mean square of a unit's steps and the share of its rises are those seen, pooled with those
    of all units. `rate` is in changes per evaluation, `distance` that to the threshold, `drift` the
    mean step towards it. Values that are `shown` are wrong as soon as they have changed.
    """

    rate: Scores
    distance: Scores
    drift: Scores
    square: Scores
    freedom: Scores
    shown: Booleans

    @classmethod
    def of(cls, candidates: CandidateSet, moment: Moment, common: Steps) -> "Membership":
        """What was learned of the values of candidates."""
        units, cut = candidates.units, candidates.cut
        value, rises = cut(units.value), cut(units.rises)
        number = ~np.isnan(value)
        distance = np.where(number, candidates.distance, 0.0)
        square = (cut(units.squares) + _STEPS * common.square) / (cut(units.moves) + _STEPS)
        seen = rises + cut(units.falls)
        up = (rises + _DIRECTIONS * common.rises) / (seen + _DIRECTIONS)
        above = value > (candidates.threshold or 0.0)
        drift = (2.0 * up - 1.0) * np.sqrt(square) * _MEAN_STEP
        return cls(
            rate=moment.slide_ms * candidates.change_rate,
            distance=distance,
            # What has no number yet may get one on either side.
            drift=np.where(number, np.where(above, -drift, drift), 0.0),
            square=square,
            freedom=_FREEDOM + seen,
            shown=number & (above == candidates.shown_above),
        )

    def wrong(self, age: Scores) -> Scores:
        """The probability of being on the other side after so many evaluations.

        That is the probability of a change, times that of having gone so far given there was one.
        """
        expected = np.maximum(self.rate * age, _LEAST)
        changed = -np.expm1(-expected)
        steps = expected / changed
        spread = np.sqrt((self.square - 0.5 * self.drift**2) * steps)
        away = (self.distance - self.drift * steps) / spread
        crossed = np.where(self.shown, 1.0, student_tail(away, self.freedom))
        return np.asarray(changed * crossed)


def student_tail(z: Scores, freedom: Scores) -> Scores:
    """P(T > z) of Student's t, by Wallace's normal approximation (to about 0.01).

    >>> student_tail(np.array([0.0, 2.0]), np.array([5.0, 5.0])).round(2).tolist()
    [0.5, 0.05]
    """
    scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    with np.errstate(over="ignore"):
        normal = np.sign(z) * scale * np.sqrt(freedom * np.log1p(z**2 / freedom))
    return _normal_tail(normal)


def _normal_tail(z: Scores) -> Scores:
    """P(Z > z) of the normal distribution, to 1e-7 (Abramowitz and Stegun 7.1.26)."""
    x = np.abs(z) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * x)
    series = 0.254829592 + t * (
        -0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    )
    tail = 0.5 * t * series * np.exp(-(x**2))
    return np.asarray(np.where(z < 0, 1.0 - tail, tail))
