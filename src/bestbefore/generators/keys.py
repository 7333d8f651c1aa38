"""The keys and units of a workload: their names, and the weights and intervals drawn for them."""

from math import exp, log, pi, sin
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers, Numbers, Texts

Column = TypeVar("Column", NDArray[np.int64], NDArray[np.float64])

_Z90 = NormalDist().inv_cdf(0.9)


def numbered(prefix: str, count: int) -> Texts:
    """`k1`, `k2`, … as many as wanted."""
    return np.array([f"{prefix}{number}" for number in range(1, count + 1)], dtype=np.object_)


def by_name(names: Texts, values: Integers) -> dict[str, int]:
    """The value of each name."""
    return dict(zip(names.tolist(), values.tolist(), strict=True))


def zipf_weights(count: int, skew: float) -> Numbers:
    """rank^−skew for every rank, largest first, with the mean 1; the skew 0 makes all equal."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -skew
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def uniform_intervals(
    count: int, *, low_ms: int, high_ms: int, rng: np.random.Generator
) -> Integers:
    """Whole milliseconds, each between the bounds as likely as any other."""
    return rng.integers(low_ms, high_ms, count, endpoint=True)


def beta_intervals(
    count: int, low_ms: int, high_ms: int, *, a: float, b: float, rng: np.random.Generator
) -> Integers:
    """Beta(a, b) stretched over the bounds; a = b = 1 is uniform, a = 50 and b = 1 very skewed."""
    return _whole(low_ms + (high_ms - low_ms) * rng.beta(a, b, count))


def lognormal_intervals(
    count: int, *, median_ms: float, p90_ms: float, rng: np.random.Generator
) -> Integers:
    """Log-normal by its median and its 90th percentile."""
    deviations = rng.standard_normal(count)
    return _whole(median_ms * np.exp(log(p90_ms / median_ms) / _Z90 * deviations))


def lognormal_quantiles(count: int, *, median: float, p90: float) -> Numbers:
    """The values of a log-normal distribution that split it into `count` equal parts.

    A sample with no luck in it: median and percentile are met however few values there are.
    """
    spread, normal = log(p90 / median) / _Z90, NormalDist()
    middles = ((number + 0.5) / count for number in range(count))
    return np.array([median * exp(spread * normal.inv_cdf(share)) for share in middles])


def _whole(values: Numbers) -> Integers:
    return np.maximum(1, np.rint(values)).astype(np.int64)


def correlate(
    values: Column, partner: NDArray[Any], *, correlation: float, rng: np.random.Generator
) -> Column:
    """The same values in an order whose rank correlation with `partner` is about `correlation`.

    A Gaussian copula: ±1 gives the same or the opposite order, 0 a random one. Equal values of
    the partner are told apart at random.
    """
    count = len(values)
    strength = 2 * sin(pi * correlation / 6)
    rank = _ranks(partner, rng)
    scores = np.sort(rng.standard_normal(count))[rank]
    noise = rng.standard_normal(count)
    blend = strength * scores + (1 - min(1.0, strength**2)) ** 0.5 * noise
    return np.sort(values)[_ranks(blend, rng)]


def _ranks(values: NDArray[Any], rng: np.random.Generator) -> Integers:
    order = np.lexsort((rng.random(len(values)), values))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks
