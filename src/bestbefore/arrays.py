"""Names for the arrays that columns are made of, and how one is found in another."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Texts = NDArray[np.object_]
Scores = Numbers
"""What a ranker gives: a number per candidate, the highest are elected."""


def places(numbers: Integers, among: Integers) -> Integers:
    """The place of each number in another ascending array of distinct ones, −1 if it has none.

    >>> places(np.array([4, 5, 9]), np.array([1, 4, 9])).tolist()
    [1, -1, 2]
    """
    if not len(numbers) or not len(among):
        return np.full(len(numbers), -1)
    highest = max(numbers[-1], among[-1])
    if highest < len(numbers) + len(among):
        table = np.full(highest + 1, -1)
        table[among] = np.arange(len(among))
        return table[numbers]
    found = np.minimum(np.searchsorted(among, numbers), len(among) - 1)
    return np.where(among[found] == numbers, found, -1)
