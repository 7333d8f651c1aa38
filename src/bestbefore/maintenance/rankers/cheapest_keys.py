"""The election of SBM-Agg and IBM-Agg: whole join keys, the cheapest first."""

from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers
from bestbefore.maintenance.selection import nth_highest
from bestbefore.maintenance.window_units import JoinKeys

Entry = tuple[int, int, float, int]
"""A join key in the queue: its stale units left, its preference negated, chance, its number."""


def elect_cheapest(
    keys: JoinKeys, stale: Booleans, preference: Integers, *, budget: int, rng: np.random.Generator
) -> Integers:
    """Complete join key after join key, the one with the fewest stale units left first.

    Among equals the higher `preference` wins, then chance. What the rest of the budget does not
    complete gets it for stale units of that key, at random.
    """
    graph = _StaleGraph(keys, stale)
    order: tuple[Integers, Numbers] = -preference, rng.random(len(preference))
    elected: list[Integers] = [np.empty(0, dtype=np.int64)]
    while budget > 0 and (queue := _cheapest(graph.missing, order, count=budget)):
        # All others came after the last one here, and only those that become cheaper pass it.
        last = queue[-1]
        while budget > 0 and queue and queue[0] <= last:
            cost, _, _, key = heappop(queue)
            if cost != graph.missing[key]:
                continue
            if key not in graph.units:
                graph.look_at([key, *(entry[-1] for entry in queue if entry <= last)])
            wanted = graph.waiting(key)
            rng.shuffle(wanted)
            wanted = wanted[:budget]
            budget -= len(wanted)
            elected.append(wanted)
            for other in graph.without(wanted):
                if left := int(graph.missing[other]):
                    entry = left, int(order[0][other]), float(order[1][other]), other
                    heappush(queue, entry)
    return np.concatenate(elected)


def _cheapest(missing: Integers, order: tuple[Integers, Numbers], *, count: int) -> list[Entry]:
    """The first join keys that miss any unit, in order; at least `count` if there are so many."""
    columns: list[Integers | Numbers] = [missing, *order]
    pool, first = np.flatnonzero(missing > 0), []
    for column in columns:
        values = column[pool]
        if len(pool) > count and values.min() < values.max():
            bar = -nth_highest(-values, count)
            first.append(pool[np.flatnonzero(values < bar)])
            pool = pool[np.flatnonzero(values == bar)]
            count -= len(first[-1])
    chosen = np.concatenate([*first, pool])
    cells = (column[chosen].tolist() for column in columns)
    return sorted(zip(*cells, chosen.tolist(), strict=True))


class _StaleGraph:
    """The join keys and their stale units, of which `missing` counts those not elected, by key.

    The graph may be huge and an election small: `units` and `keys` hold the parts looked at.
    """

    def __init__(self, keys: JoinKeys, stale: Booleans) -> None:
        edge = np.flatnonzero(stale[keys.edge_position])
        self._key, self._unit = keys.edge_key[edge], keys.edge_position[edge]
        self.missing = np.bincount(self._key, minlength=len(keys.remaining))
        self._waiting = np.ones(len(stale), dtype=np.bool_)
        self.units: dict[int, Integers] = {}
        self.keys: defaultdict[int, list[int]] = defaultdict(list)

    def look_at(self, keys: Iterable[int]) -> None:
        """Find the units of some join keys, and all join keys of these."""
        new = np.array([key for key in keys if key not in self.units])
        bounds = (np.searchsorted(self._key, new, side).tolist() for side in ("left", "right"))
        units = np.zeros(len(self._waiting), dtype=np.bool_)
        for key, low, high in zip(new.tolist(), *bounds, strict=True):
            self.units[key] = self._unit[low:high]
            units[self.units[key]] = True
        units[list(self.keys)] = False
        edges = np.flatnonzero(units[self._unit])
        for unit, key in zip(self._unit[edges].tolist(), self._key[edges].tolist(), strict=True):
            self.keys[unit].append(key)

    def waiting(self, key: int) -> Integers:
        """The stale units of a join key that are not elected."""
        return self.units[key][self._waiting[self.units[key]]]

    def without(self, units: Integers) -> set[int]:
        """The join keys that miss fewer units now that these are elected."""
        self._waiting[units] = False
        keys = [key for unit in units.tolist() for key in self.keys[unit]]
        for key in keys:
            self.missing[key] -= 1
        return set(keys)
