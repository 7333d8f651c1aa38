"""The greedy election for aggregates: an answer is fresh only if all units of its key are."""

import numpy as np

from bestbefore.arrays import Booleans, Integers, Scores
from bestbefore.maintenance.window_units import JoinKeys


def elect_cheapest(
    keys: JoinKeys, stale: Booleans, preference: Scores, *, budget: int, rng: np.random.Generator
) -> Integers:
    """Complete join key after join key, the one with the fewest stale units left first.

    Among equals the higher `preference` wins, then chance. What the rest of the budget does not
    complete gets it for stale units of that key, at random.
    """
    edge = stale[keys.edge_place]
    edge_key, edge_place = keys.edge_key[edge], keys.edge_place[edge]
    missing = np.bincount(edge_key, minlength=len(keys.remaining))
    order = np.lexsort((rng.random(len(preference)), -preference))
    elected: list[Integers] = []
    waiting = np.ones(len(stale), dtype=np.bool_)
    while budget > 0 and missing.any():
        cost = np.where(missing[order] > 0, missing[order], np.iinfo(np.int64).max)
        key = order[np.argmin(cost)]
        wanted = edge_place[edge_key == key]
        wanted = rng.permutation(wanted[waiting[wanted]])[:budget]
        waiting[wanted] = False
        budget -= len(wanted)
        elected.append(wanted)
        missing -= np.bincount(edge_key[np.isin(edge_place, wanted)], minlength=len(missing))
    return np.concatenate([np.empty(0, dtype=np.int64), *elected])
