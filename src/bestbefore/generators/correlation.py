"""Rank correlation between two columns, without a change of either one's values."""

from math import pi, sin
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Column = TypeVar("Column", NDArray[np.int64], NDArray[np.float64])


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


def _ranks(values: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    order = np.lexsort((rng.random(len(values)), values))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks
