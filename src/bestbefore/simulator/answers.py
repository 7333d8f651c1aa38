"""The answers of one evaluation, held against what the remote data would give."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Booleans, Integers, Numbers
from bestbefore.errors import InputError
from bestbefore.maintenance import WindowUnits

BINS = 10
"""As many classes of predicted probability are told apart: tenths."""

_FORM = re.compile(r"\s*(?:\?\w+\s*)?(?P<sign><=|>=|<|>)\s*(?P<threshold>\S+)\s*")
_SIGNS: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`?x > FT` or `?x < FT`; what is no number never passes.

    >>> Condition.parse(">100").passes(np.array([99.0, 101.0, np.nan])).tolist()
    [False, True, False]
    """

    sign: str
    threshold: float

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition such as `>100000`."""
        form = _FORM.fullmatch(text)
        try:
            threshold = float(form["threshold"]) if form else np.nan
        except ValueError:
            threshold = np.nan
        if form is None or not np.isfinite(threshold):
            raise InputError(f"the filter {text!r} is no comparison; write for example '>100000'")
        return cls(form["sign"], threshold)

    def passes(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values fulfil the condition."""
        return _SIGNS[self.sign](values, self.threshold)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: which units have a row, its value's code and number."""

    present: Booleans
    code: Integers
    number: Numbers


@dataclass(frozen=True, slots=True)
class Tally:
    """X correct, Y wrong, Z missing answers; `union` is the size of both answer sets together.

    `calibration` has a row per tenth of the probability, predicted for each answer of ours, that it
    is fresh: the number of these answers, the sum of their predictions, how many are correct.
    """

    correct: float
    wrong: float
    missing: float
    union: float
    calibration: Numbers

    @property
    def estimated(self) -> float:
        """The mean probability that an answer of ours is fresh, NaN where we have none."""
        answers, predicted, _ = self.calibration.sum(axis=0).tolist()
        return predicted / answers if answers else np.nan


class Comparison(Protocol):
    """How the answers to a query follow from the rows of the view."""

    def __call__(self, window: WindowUnits, ours: Side, truth: Side, fresh: Numbers) -> Tally:
        """Compare the answers; `fresh` is the probability that each unit is fresh."""
        ...


def compare_rows(window: WindowUnits, ours: Side, truth: Side, fresh: Numbers) -> Tally:
    """The answers are the joined rows themselves: one is correct if its value is."""
    weight = window.mappings
    equal = ours.present & truth.present & (ours.code == truth.code)
    differing = ours.present & ~equal
    correct, wrong = _count(weight, equal), _count(weight, differing)
    missing = _count(weight, truth.present & ~ours.present)
    union = correct + wrong + missing + _count(weight, differing & truth.present)
    calibration = _calibrate(fresh, weight, given=ours.present, correct=equal)
    return Tally(correct, wrong, missing, union, calibration)


@dataclass(frozen=True, slots=True)
class FilteredComparison:
    """The answers are the keys whose value passes a FILTER; the value itself is not told."""

    condition: Condition

    def __call__(self, window: WindowUnits, ours: Side, truth: Side, fresh: Numbers) -> Tally:
        """An answer is correct if the true value passes too."""
        given = ours.present & self.condition.passes(ours.number)
        due = truth.present & self.condition.passes(truth.number)
        weight = window.mappings
        correct, wrong = _count(weight, given & due), _count(weight, given & ~due)
        missing = _count(weight, due & ~given)
        union = correct + wrong + missing
        calibration = _calibrate(fresh, weight, given=given, correct=due)
        return Tally(correct, wrong, missing, union, calibration)


@dataclass(frozen=True, slots=True)
class AggregatedComparison:
    """The answers are aggregates, one per join key over all its units."""

    function: str

    def __call__(self, window: WindowUnits, ours: Side, truth: Side, fresh: Numbers) -> Tally:
        """An answer is correct if the aggregate is."""
        keys = window.join_keys()
        size = len(keys.remaining)
        given, our_value = self._aggregates(keys.edge_key, keys.edge_position, ours, size)
        due, true_value = self._aggregates(keys.edge_key, keys.edge_position, truth, size)
        weight = keys.mappings
        equal = given & due & (our_value == true_value)
        differing = given & ~equal
        correct, wrong = _count(weight, equal), _count(weight, differing)
        missing = _count(weight, due & ~given)
        union = correct + wrong + missing + _count(weight, differing & due)
        edge = ours.present[keys.edge_position]
        with np.errstate(divide="ignore"):
            log = np.log(fresh)[keys.edge_position[edge]]
        log = np.bincount(keys.edge_key[edge], log, minlength=size)
        calibration = _calibrate(np.exp(log), weight, given=given, correct=equal)
        return Tally(correct, wrong, missing, union, calibration)

    def _aggregates(
        self, key: Integers, unit: Integers, side: Side, size: int
    ) -> tuple[Booleans, Numbers]:
        present = side.present[unit]
        key, value = key[present], side.number[unit[present]]
        count = np.bincount(key, minlength=size)
        return count > 0, AGGREGATES[self.function](key, value, size)


def _sum(key: Integers, value: Numbers, size: int) -> Numbers:
    return np.bincount(key, value, minlength=size).astype(np.float64)


def _number(key: Integers, value: Numbers, size: int) -> Numbers:  # noqa: ARG001
    return np.bincount(key, minlength=size).astype(np.float64)


def _average(key: Integers, value: Numbers, size: int) -> Numbers:
    return np.asarray(_sum(key, value, size) / np.maximum(_number(key, value, size), 1))


def _least(key: Integers, value: Numbers, size: int) -> Numbers:
    least = np.full(size, np.inf)
    np.minimum.at(least, key, value)
    return least


def _greatest(key: Integers, value: Numbers, size: int) -> Numbers:
    return -_least(key, -value, size)


AGGREGATES = {"sum": _sum, "count": _number, "avg": _average, "min": _least, "max": _greatest}


def _count(weight: Integers, chosen: Booleans) -> float:
    return float(weight @ chosen)


def _calibrate(
    predicted: Numbers, weight: Integers, *, given: Booleans, correct: Booleans
) -> Numbers:
    """What was predicted of the answers given, and what is correct, by tenth of probability."""
    predicted, answers = predicted[given], weight[given]
    tenth = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    found = np.empty((BINS, 3))
    for column, each in enumerate((answers, answers * predicted, answers * correct[given])):
        found[:, column] = np.bincount(tenth, each, minlength=BINS)
    return found
