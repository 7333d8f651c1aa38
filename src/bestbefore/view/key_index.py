"""The numbers of keys, found for many keys at once."""

from collections.abc import Collection

import numpy as np

from bestbefore.arrays import Integers, grown, moved_up
from bestbefore.rdf.terms import Key

_FREE, _GONE, _LEAST = -1, -2, 64


class KeyIndex:
    """Keys numbered in the order they came; some may be gone.

    A dict would follow half a dozen pointers for each key, one after the other, through all the
    memory that the view takes. Here a key is two hashes of 64 bits, by number in `_hash`, and its
    number lies at or after the place in `_slot` that the first of them names; many keys are looked
    for together. That two keys have the same 128 bits is not to be expected in any lifetime.
    """

    def __init__(self, keys: Collection[Key] = ()) -> None:
        self._hash: Integers = np.empty((0, 2), dtype=np.int64)
        self._slot = np.full(_LEAST, _FREE)
        self._used = 0
        self.append(keys)

    def __len__(self) -> int:
        return len(self._hash)

    def find(self, keys: Collection[Key]) -> Integers:
        """The number of each key, −1 where it has none."""
        wanted = _hashes(keys)
        found = np.full(len(wanted), -1)
        if not len(self):
            return found
        left, place = np.arange(len(wanted)), self._first(wanted)
        while len(left):
            number = self._slot[place]
            same = (number >= 0) & (self._hash[np.maximum(number, 0)] == wanted[left]).all(axis=1)
            found[left[same]] = number[same]
            on = np.flatnonzero((number != _FREE) & ~same)
            left, place = left[on], self._next(place[on])
        return found

    def append(self, keys: Collection[Key]) -> None:
        """Number keys that have no number."""
        hashes, first = _hashes(keys), len(self)
        self._hash = grown(self._hash, len(hashes))
        self._hash[first:] = hashes
        self._used += len(hashes)
        numbers = np.arange(first, len(self))
        if 2 * self._used > len(self._slot):
            numbers = np.concatenate([self._slot[self._slot >= 0], numbers])
            self._used = len(numbers)
            # With room for as many again, so that this is rare however many come and go.
            self._slot = np.full(max(_LEAST, 1 << (3 * self._used).bit_length()), _FREE)
        self._insert(numbers)

    def remove(self, numbers: Integers) -> None:
        """Forget the keys with these numbers, which no other gets."""
        self._relabel(numbers, np.full(len(numbers), _GONE))

    def move_up(self, kept: Integers, first: int) -> None:
        """Number keys anew from `first` on; all others from there are gone."""
        self._relabel(kept, np.arange(first, first + len(kept)))
        self._hash = moved_up(self._hash, kept, first)

    def _insert(self, numbers: Integers) -> None:
        place = self._first(self._hash[numbers])
        while len(numbers):
            free = np.flatnonzero(self._slot[place] < 0)
            self._slot[place[free]] = numbers[free]
            # Where several wanted one place, one of them got it.
            on = np.flatnonzero(self._slot[place] != numbers)
            numbers, place = numbers[on], self._next(place[on])

    def _relabel(self, numbers: Integers, labels: Integers) -> None:
        place, where = self._first(self._hash[numbers]), np.empty_like(numbers)
        left = np.arange(len(numbers))
        while len(left):
            here = self._slot[place] == numbers[left]
            where[left[here]] = place[here]
            on = np.flatnonzero(~here)
            left, place = left[on], self._next(place[on])
        self._slot[where] = labels

    def _first(self, hashes: Integers) -> Integers:
        return hashes[:, 0] & (len(self._slot) - 1)

    def _next(self, place: Integers) -> Integers:
        return (place + 1) & (len(self._slot) - 1)


def _hashes(keys: Collection[Key]) -> Integers:
    hashes = np.empty((len(keys), 2), dtype=np.int64)
    hashes[:, 0] = np.fromiter(map(hash, keys), np.int64, len(keys))
    # Of another text, so that this hash has nothing to do with the first.
    texts = map("\n".join, [(*key, "") for key in keys])
    hashes[:, 1] = np.fromiter(map(hash, texts), np.int64, len(keys))
    return hashes
