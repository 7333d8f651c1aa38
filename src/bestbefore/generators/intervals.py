"""Expected intervals of keys and units, drawn from a distribution."""

from math import exp, log
from statistics import NormalDist

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.generators.zipf import Floats

_Z90 = NormalDist().inv_cdf(0.9)


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


def lognormal_quantiles(count: int, *, median: float, p90: float) -> Floats:
    """The values of a log-normal distribution that split it into `count` equal parts.

    A sample with no luck in it: median and percentile are met however few values there are.
    """
    spread, normal = log(p90 / median) / _Z90, NormalDist()
    middles = ((number + 0.5) / count for number in range(count))
    return np.array([median * exp(spread * normal.inv_cdf(each)) for each in middles])


def _whole(values: Floats) -> Integers:
    return np.maximum(1, np.rint(values)).astype(np.int64)
