"""The highest or lowest of many numbers, without sorting or even knowing all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Scores

_MANY, _STRIDE = 10_000, 64
# So many times as many as are wanted, or more, make bounds worth their cost; of a sample, so many
# times as many are scored at once.
_WORTHWHILE, _FIRST = 4, 4
# So many at a time, so that what is made of them stays in the processor's cache.
_BLOCK = 16_384

Scoring = Callable[[Integers | slice], Scores]
"""What gives the scores, or bounds of them, of some positions."""


Closer = Callable[[Integers, Scores], Scores]
"""What makes closer bounds of those that some positions have."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds of scores that cost less: a loose one, and closer ones made of it in turn."""

    loose: Scoring
    closer: tuple[Closer, ...] = ()


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


def highest_scores(
    size: int, n: int, score: Scoring, bounds: Bounds | None
) -> tuple[Integers | None, Scores]:
    """Where those among the n highest of so many are, and some others, or None for all; and scores.

    Those of the others may be −∞. A sample tells a bar that somewhat more than n should clear, and
    whoever has an upper bound below it is not scored.
    """
    likely = likely_rank(n, _STRIDE)
    if bounds is None or size < max(_MANY, _WORTHWHILE * _STRIDE * likely):
        return None, in_blocks(score, size)
    bound = in_blocks(bounds.loose, size)
    sample = np.arange(0, size, _STRIDE)
    bar = _nth_highest(_highest_of(sample, bound[sample], likely, score, bounds.closer), likely)
    pool = np.flatnonzero(bound >= bar)
    pool, bound = _may_clear(bar, pool, bound[pool], bounds.closer)
    found = _highest_of(pool, bound, n, score)
    if len(pool) <= n or np.count_nonzero(found >= bar) < n:
        return None, in_blocks(score, size)
    return pool, found


def _highest_of(
    pool: Integers, bound: Scores, n: int, score: Scoring, closer: tuple[Closer, ...] = ()
) -> Scores:
    """The scores of a pool that are among its n highest; those of others may be −∞.

    Those with the highest bounds are scored first, and of the rest who may be as high.
    """
    if not 0 < n < len(pool):
        return _of_some(score, pool)
    found = np.full(len(pool), -np.inf)
    first = bound >= nth_highest(bound, min(_FIRST * n, len(pool)))
    found[first] = _of_some(score, pool[first])
    bar = _nth_highest(found[first], n)
    others = np.flatnonzero(~first & (bound >= bar))
    kept, _ = _may_clear(bar, pool[others], bound[others], closer)
    found[np.searchsorted(pool, kept)] = _of_some(score, kept)
    return found


def _may_clear(
    bar: float, pool: Integers, bound: Scores, closer: tuple[Closer, ...]
) -> tuple[Integers, Scores]:
    """Those of a pool whose bounds reach a bar however close they are made, and these bounds."""
    for closest in closer:
        bound = np.concatenate(
            [bound[:0], *(closest(pool[part], bound[part]) for part in blocks(len(pool)))]
        )
        kept = np.flatnonzero(bound >= bar)
        pool, bound = pool[kept], bound[kept]
    return pool, bound


def in_blocks(score: Scoring, size: int) -> Scores:
    """The scores of so many, a block of them at a time."""
    found = np.empty(size)
    for part in blocks(size):
        found[part] = score(part)
    return found


def _of_some(score: Scoring, pool: Integers) -> Scores:
    return in_blocks(lambda part: score(pool[part]), len(pool))


def blocks(size: int) -> Iterator[slice]:
    """So many in pieces, what is made of which stays in the processor's cache."""
    return (slice(first, min(first + _BLOCK, size)) for first in range(0, size, _BLOCK))


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
