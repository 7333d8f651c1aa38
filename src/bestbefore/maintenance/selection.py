"""The highest or lowest of many numbers, without sorting all of them."""

import numpy as np

from bestbefore.arrays import Integers, Scores

_MANY, _STRIDE = 10_000, 64


def nth_highest(scores: Scores | Integers, n: int) -> float:
    """The n-th highest of at least n scores.

    Among many, every 64th tells a bar that somewhat more than n should clear, so that only those
    are partitioned; or that is the n-th itself, where so many are level that a partition is slow.
    """
    if len(scores) >= _MANY and len(scores) >= 2 * _STRIDE * (likely := likely_rank(n, _STRIDE)):
        bar = _nth_highest(scores[::_STRIDE], likely)
        above = np.flatnonzero(scores > bar)
        if len(above) >= n:
            return _nth_highest(scores[above], n)
        if np.count_nonzero(scores >= bar) >= n:
            return bar
    return _nth_highest(scores, n)


def lowest(values: Scores | Integers, count: int) -> Integers:
    """The positions of the `count` lowest values, the lowest first, equals in their order."""
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    chosen = np.arange(len(values))
    if count < len(values):
        chosen = np.flatnonzero(values <= -nth_highest(-values, count))
    return chosen[np.argsort(values[chosen], kind="stable")][:count]


def likely_rank(n: int, stride: int) -> int:
    """A rank in a sample of every `stride`-th that is hardly ever better than rank n of all."""
    expected = n / stride
    return int(expected + 3 * expected**0.5) + 3


def _nth_highest(scores: Scores | Integers, n: int) -> float:
    return float(np.partition(scores, len(scores) - n)[len(scores) - n])
