"""The arrays that columns are made of: their names, how they grow, how one is found in another."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Texts = NDArray[np.object_]
Weights = NDArray[np.float32]
"""A row per unit, a column for each of what may be so."""
Scores = Numbers
"""What a ranker gives: a number per candidate, the highest are elected."""


def places(numbers: Integers, among: Integers) -> Integers:
    """The place of each number in another ascending array of distinct ones, −1 if it has none.

    >>> places(np.array([4, 5, 9]), np.array([1, 4, 9])).tolist()
    [1, -1, 2]
    """
    if not len(numbers) or not len(among):
        return np.full(len(numbers), -1)
    within = among[0] <= numbers[0] and numbers[-1] <= among[-1]
    if within and isinstance(side_by_side(among), slice):
        return np.asarray(numbers - among[0]) if among[0] else numbers
    if numbers is among:
        return np.arange(len(among))
    highest = max(numbers[-1], among[-1])
    if highest < len(numbers) + len(among):
        table = np.full(highest + 1, -1)
        table[among] = np.arange(len(among))
        return table[numbers]
    found = np.minimum(np.searchsorted(among, numbers), len(among) - 1)
    return np.where(among[found] == numbers, found, -1)


def side_by_side(numbers: Integers) -> Integers | slice:
    """Ascending distinct numbers as an index: a slice, which copies nothing, if there is no gap.

    >>> side_by_side(np.array([4, 5, 6])), side_by_side(np.array([4, 6]))
    (slice(4, 7, None), array([4, 6]))
    """
    if not len(numbers) or int(numbers[-1]) - int(numbers[0]) != len(numbers) - 1:
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


def grown(column: NDArray[T], count: int) -> NDArray[T]:
    """A column with `count` more entries, all zero, at the cost of these.

    It lies in a buffer with room to spare, which is used by the next that grows out of it: the
    column that was given is void.

    >>> grown(grown(np.array([1, 2]), 1), 2).tolist()
    [1, 2, 0, 0, 0]
    """
    old, size = len(column), len(column) + count
    room = column.base
    begins = isinstance(room, np.ndarray) and room.ctypes.data == column.ctypes.data
    if room is None or not begins or len(room) < size:
        room = np.zeros((size + size // 4, *column.shape[1:]), column.dtype)
        room[:old] = column
    else:
        room[old:size] = 0
    return room[:size]


def moved_up(column: NDArray[T], kept: Integers, first: int) -> NDArray[T]:
    """A column of which, from `first` on, only some entries are kept; it has the room it had.

    >>> moved_up(np.array([5, 6, 7, 8]), np.array([3]), 1).tolist()
    [5, 8]
    """
    column[first : first + len(kept)] = column[kept]
    return column[: first + len(kept)]
