"""EFG where the answer of a join key is right only if all its units are fresh."""

from heapq import heapify, heappop, heappush

import numpy as np

from bestbefore.arrays import Integers, Scores
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.window_based import fresh_for
from bestbefore.maintenance.window_units import JoinKeys

_LEAST = 1e-9


def elect_keys(candidates: CandidateSet, moment: Moment, *, budget: int) -> Integers:
    """Units of one join key after the other, by what they win per refresh.

    A join key is fresh with the product of its units' probabilities: e^(−Σ doubt), doubt being
    −ln p of each. A refresh takes the doubt of its unit away, in all join keys of the unit. So the
    most doubtful units of a join key are taken together, as many as win most for each.
    """
    fresh = candidates.units.fresh_probability(candidates.unit, moment.t_ms)
    doubt = -np.log(np.clip(fresh, _LEAST, 1.0))
    keys = candidates.join_keys()
    graph = _Graph(keys, doubt, _worth(candidates, keys, moment))
    elected: list[int] = []
    queue = [(-gain, key, len(units)) for key in range(len(keys.remaining))
             for gain, units in [graph.best(key, budget)] if len(units)]  # fmt: skip
    heapify(queue)
    while queue and len(elected) < budget:
        gain, key, _ = heappop(queue)
        now, units = graph.best(key, budget - len(elected))
        if now < -gain - _LEAST:
            # Others have taken of it, or the rest of the budget: it has to wait for its turn.
            if len(units):
                heappush(queue, (-now, key, len(units)))
            continue
        elected += units.tolist()
        for other in graph.settle(units):
            better, more = graph.best(other, budget - len(elected))
            if len(more):
                heappush(queue, (-better, other, len(more)))
    return np.array(elected, dtype=np.int64)


def _worth(candidates: CandidateSet, keys: JoinKeys, moment: Moment) -> Scores:
    """Per join key, the rows that it has in the evaluations that it stays fresh in, if it is now.

    After k evaluations that is e^(−Λk), Λ being the sum of its units' rates; and no longer than
    until the first change that is known.
    """
    count, periodic = len(keys.remaining), candidates.periodic
    beside = candidates.units.unchanged(
        candidates.unit, np.full(len(candidates), float(moment.slide_ms))
    )
    loss = np.where(periodic, 0.0, -np.log(np.clip(beside, _LEAST, 1.0)))
    loss = np.bincount(keys.edge_key, loss[keys.edge_position], minlength=count)
    until = keys.remaining.astype(np.float64)
    if periodic.any():
        fresh = np.where(periodic, fresh_for(candidates, moment), np.inf)
        np.minimum.at(until, keys.edge_key, fresh[keys.edge_position])
    steady = loss < _LEAST
    loss = np.where(steady, 1.0, loss)
    lasting = np.where(steady, until, np.expm1(-loss * until) / np.expm1(-loss))
    return np.asarray(keys.mappings * lasting)


class _Graph:
    """Join keys with their units, and the doubt that is left of each unit."""

    def __init__(self, keys: JoinKeys, doubt: Scores, worth: Scores) -> None:
        count = len(keys.remaining)
        self.doubt, self.worth = doubt.copy(), worth
        self._first = np.searchsorted(keys.edge_key, np.arange(count + 1))
        self._units = keys.edge_position
        order = np.argsort(keys.edge_position, kind="stable")
        self._keys = keys.edge_key[order]
        self._keys_first = np.searchsorted(keys.edge_position[order], np.arange(len(doubt) + 1))

    def best(self, key: int, budget: int) -> tuple[float, Integers]:
        """The most that refreshes of a join key's units win, for each; and these units."""
        units = self._units[self._first[key] : self._first[key + 1]]
        units = units[self.doubt[units] > _LEAST]
        if not len(units) or budget <= 0:
            return 0.0, units[:0]
        units = units[np.argsort(-self.doubt[units], kind="stable")]
        doubt = self.doubt[units]
        left = np.maximum(doubt.sum() - np.cumsum(doubt), 0.0)[:budget]
        won = self.worth[key] * (np.exp(-left) - np.exp(-doubt.sum()))
        each = won / np.arange(1, len(won) + 1)
        most = int(np.argmax(each))
        return float(each[most]), units[: most + 1]

    def settle(self, units: Integers) -> set[int]:
        """Take the doubt of units away; the join keys that this concerns."""
        self.doubt[units] = 0.0
        spans = ((self._keys_first[unit], self._keys_first[unit + 1]) for unit in units)
        return {key for low, high in spans for key in self._keys[low:high].tolist()}
