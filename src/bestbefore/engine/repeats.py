"""Whether a triple may have come more than once, which most streams never let happen.

A window's content is a set. To make it one, Spark sorts all elements of the window in every batch;
where each triple came once, nothing needs to be done. A number of 64 bits per element, made of its
triple, tells: equal triples have equal numbers, and if two triples share one by chance, work is
done that was not needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bestbefore.spark.buffer import Segment

_MOST_ELEMENTS = 4_000_000
Fingerprints = NDArray[np.int64]


@dataclass
class Repeats:
    """What is known of the triples in the buffer's segments."""

    most_elements: int = _MOST_ELEMENTS
    _known: dict[str, Fingerprints] = field(default_factory=dict)
    _repeating: set[str] = field(default_factory=set)

    def unknown(self, segments: Sequence[Segment]) -> list[str] | None:
        """The segments whose fingerprints are still to be learned: then each triple may be new.

        None where one may have come more than once, or where they are too many.
        """
        live = {segment.name for segment in segments}
        self._known = {name: one for name, one in self._known.items() if name in live}
        self._repeating &= live
        if self._repeating or sum(one.elements for one in segments) > self.most_elements:
            return None
        return [segment.name for segment in segments if segment.name not in self._known]

    def learn(self, names: Sequence[str], fingerprints: pa.ChunkedArray) -> bool:
        """Get to know the fingerprints of some segments; whether every triple came once.

        They count as those of each of these segments: which of them leaves last is not known, since
        elements may come out of order.
        """
        found = np.sort(fingerprints.to_numpy())
        others = {id(other): other for other in self._known.values()}
        once = not (found[1:] == found[:-1]).any() and not any(
            _overlap(found, other) for other in others.values()
        )
        self._known |= dict.fromkeys(names, found)
        if not once:
            self._repeating |= set(names)
        return once

    def note_merged(self, names: Sequence[str], name: str) -> None:
        """Know of a segment what is known of those that it took the place of."""
        if not self._known.keys() >= set(names):
            return
        parts = {id(part): part for part in (self._known[one] for one in names)}
        # Parts are in order: a stable sort has little to do.
        self._known[name] = np.sort(np.concatenate(list(parts.values())), kind="stable")
        if not self._repeating.isdisjoint(names):
            self._repeating.add(name)


def _overlap(one: Fingerprints, other: Fingerprints) -> bool:
    """Whether two sorted arrays have a number in common."""
    few, many = sorted((one, other), key=len)
    if not len(many):
        return False
    place = np.searchsorted(many, few)
    return bool((many[np.minimum(place, len(many) - 1)] == few).any())
