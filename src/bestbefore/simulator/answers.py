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

    `estimated` is the mean probability that an answer of ours is fresh, NaN where we have none.
    """

    correct: float
    wrong: float
    missing: float
    union: float
    estimated: float


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
    return Tally(correct, wrong, missing, union, _mean(fresh, weight, ours.present))


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
        return Tally(correct, wrong, missing, union, _mean(fresh, weight, given))


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
        return Tally(correct, wrong, missing, union, _mean(np.exp(log), weight, given))

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


def _mean(fresh: Numbers, weight: Integers, chosen: Booleans) -> float:
    counted = weight * chosen
    total = counted.sum()
    return float(fresh @ counted / total) if total else np.nan
