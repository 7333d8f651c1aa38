"""The view's rows as edges of a bipartite graph between join keys and units."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers


@dataclass(frozen=True, slots=True)
class Links:
    """The units of each join key (planning-ahead section 4); an edge is a row of the view.

    The edges of join key k are those from `start[k]` to before `start[k + 1]`; a unit with several
    rows for one join key is there as often.
    """

    start: Integers
    unit: Integers

    def edges(self, keys: Integers) -> tuple[Integers, Integers]:
        """The edges of some join keys: which of `keys` each belongs to, and its number."""
        counts = self.start[keys + 1] - self.start[keys]
        owner = np.repeat(np.arange(len(keys)), counts)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, np.repeat(self.start[keys], counts) + offset


def link(join_key: Integers, unit: Integers, *, keys: int) -> tuple[Links, Integers]:
    """Links from the join key and the unit of each row, and the row behind each edge."""
    order = np.argsort(join_key, kind="stable")
    start = np.searchsorted(join_key[order], np.arange(keys + 1)).astype(np.int64)
    return Links(start, unit[order]), order
