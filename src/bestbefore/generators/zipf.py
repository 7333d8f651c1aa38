"""Weights that follow Zipf's law."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def zipf_weights(count: int, skew: float) -> Floats:
    """rank^−skew for every rank, largest first, with the mean 1; the skew 0 makes all equal."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -skew
    return np.asarray(weights / weights.mean(), dtype=np.float64)
