"""Buckets in three dimensions: what histogram and QTree keep, and how both answer.

A bucket covers a range of coordinates in each dimension, and its triples are taken to be spread
evenly over it (thesis section 3.4.2.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from bestbefore.arrays import Booleans, Integers, Numbers
from bestbefore.market.axes import Axes, Axis
from bestbefore.market.packing import Columns
from bestbefore.market.shapes import Part, Star
from bestbefore.market.summary import Renewed, StarEstimate, Summary
from bestbefore.spark.columns import FRESH, TRIPLE

_AXES = ("s", "p", "o")
_CHANGES = 512
# The coordinates of terms without a name of their own, and of terms that the store does not have.
_ANYWHERE, _NOWHERE = -1, -2

Spread = tuple[Integers, Numbers, Numbers]
"""Triples along a dimension: where densities change, and the total and fresh ones from there."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Buckets with their total and fresh cardinalities.

    `low` and `high` have a row per bucket and a column per dimension; both ends belong to it.
    """

    axes: Axes
    names: tuple[str, ...]
    low: Integers
    high: Integers
    total: Numbers
    fresh: Numbers

    @cached_property
    def _length(self) -> Numbers:
        return (self.high - self.low + 1).astype(np.float64)

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star: per subject, the product over its patterns."""
        spreads = [self._spread(part, 0) for part in star.parts]
        if star.parts[0].bound[0] is not None:
            return _of_one_subject(spreads, renewed)
        cuts = np.unique(np.concatenate([cuts for cuts, _, _ in spreads]))
        length = _lengths(cuts)
        every, new, most = np.ones(len(cuts)), np.ones(len(cuts)), np.ones(len(cuts))
        for (own, total, fresh), part in zip(spreads, renewed, strict=True):
            # Before its first cut a pattern has no triple.
            place = np.searchsorted(own, cuts, side="right")
            rows, good = (np.append(0.0, one)[place] for one in (total, fresh))
            every, new = every * rows, new * (good + part * (rows - good))
            most = np.minimum(most, rows)
        total_rows, fresh_rows = float(length @ every), float(length @ new)
        return StarEstimate(total_rows, min(fresh_rows, total_rows), float(length @ most))

    def objects(self, part: Part) -> float:
        """How many different objects the triples of a pattern have."""
        if part.bound[2] is not None:
            return 1.0
        cuts, total, _ = self._spread(part, 2)
        return float(_lengths(cuts) @ np.minimum(total, 1.0))

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        return self.names

    def _spread(self, part: Part, along: int) -> Spread:
        """The triples of a pattern along a dimension: where densities change, and these.

        Densities are triples, and fresh ones, per coordinate. Where the pattern binds the
        dimension itself they are those of the one coordinate.
        """
        share, chosen = np.ones(len(self.total)), np.ones(len(self.total), dtype=np.bool_)
        for number, (axis, term) in enumerate(zip(self.axes, part.bound, strict=True)):
            if term is not None:
                share, chosen = self._restricted(number, axis, term, share, chosen)
        low, high = self.low[chosen, along], self.high[chosen, along] + 1
        weight = share[chosen]
        if part.bound[along] is None:
            weight = weight / self._length[chosen, along]
        total, fresh = self.total[chosen] * weight, self.fresh[chosen] * weight
        if part.bound[along] is not None:
            return low, total, fresh
        cuts, place = np.unique(np.concatenate([low, high]), return_inverse=True)
        return (
            cuts,
            _running(place, total),
            np.minimum(_running(place, fresh), _running(place, total)),
        )

    def _restricted(
        self, number: int, axis: Axis, term: str, share: Numbers, chosen: Booleans
    ) -> tuple[Numbers, Booleans]:
        """Which buckets a bound term is in, and which share of their triples it has."""
        if number == 1 and term not in self.names:
            return share, np.zeros_like(chosen)
        place = axis.place(term)
        if place is None:
            # A term that is not known by name has as many triples as any other.
            return share / axis.size, chosen & (not axis.complete)
        within = (self.low[:, number] <= place) & (place <= self.high[:, number])
        return share / self._length[:, number], chosen & within

    def updated(self, before: DataFrame, after: DataFrame) -> Summary:
        """The summary after a refresh: what became fresh or stale is noted in its bucket.

        Of buckets that overlap it is the smallest. A term that is not known by name may be in any:
        what changed is spread over them as they have stale triples, or fresh ones.
        """
        was = before.selectExpr(*TRIPLE, f"{FRESH} AS was")
        change = f"coalesce({FRESH}, 0D) - coalesce(was, 0D)"
        moved = after.join(was, list(TRIPLE), "full").selectExpr(*TRIPLE, f"{change} AS change")
        found = self._located(moved.filter("change <> 0").toArrow())
        fresh = self.fresh.copy()
        for begin in range(0, len(found), _CHANGES):
            part = found.slice(begin, _CHANGES)
            where = np.stack([part[name].to_numpy() for name in TRIPLE], axis=1)
            self._note(where, part["change"].to_numpy(), fresh)
        return replace(self, fresh=np.clip(fresh, 0.0, self.total))

    def _located(self, moved: pa.Table) -> pa.Table:
        """The changes by coordinates; what became fresh and what became stale are apart."""
        places = dict[str, pa.Array]()
        for axis, name in zip(self.axes, TRIPLE, strict=True):
            terms = moved[name].combine_chunks().dictionary_encode()
            nowhere = _NOWHERE if axis.complete else _ANYWHERE
            found = [axis.place(term) for term in terms.dictionary.to_pylist()]
            own = [nowhere if place is None else place for place in found]
            places[name] = pa.array(own, pa.int64()).take(terms.indices)
        table = pa.table(
            {**places, "gain": pc.greater(moved["change"], 0), "change": moved["change"]}
        )
        sums = table.group_by([*TRIPLE, "gain"]).aggregate([("change", "sum")])
        return sums.rename_columns([*TRIPLE, "gain", "change"])

    def _note(self, where: Integers, change: Numbers, fresh: Numbers) -> None:
        """Note changes at some coordinates."""
        unknown = where == _ANYWHERE
        inside = np.ones((len(where), len(fresh)), dtype=np.bool_)
        for number in range(len(self.axes)):
            own = where[:, number, None]
            inside &= (own == _ANYWHERE) | (self.low[:, number] <= own) & (
                own <= self.high[:, number]
            )
        several = unknown.any(axis=1)
        exact = ~several & inside.any(axis=1)
        volume = np.where(inside[exact], self._length.prod(axis=1), np.inf)
        np.add.at(fresh, volume.argmin(axis=1), change[exact])
        for sign, room in ((1.0, self.total - fresh), (-1.0, fresh.copy())):
            spread = several & (sign * change > 0)
            weight = inside[spread] * np.maximum(room, 0.0)
            sums = weight.sum(axis=1)
            fresh += (
                np.where(sums > 0, change[spread], 0.0) / np.where(sums > 0, sums, 1.0) @ weight
            )

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        fields: dict[str, Any] = {"names": "\n".join(self.names)}
        columns = dict[str, NDArray[Any]](total=self.total, fresh=self.fresh)
        for number, name in enumerate(_AXES):
            own, own_columns = self.axes[number].packed(name)
            fields, columns = fields | own, columns | dict(own_columns)
            columns[f"{name}_low"] = self.low[:, number]
            columns[f"{name}_more"] = self.high[:, number] - self.low[:, number]
        return fields, columns

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        s, p, o = (Axis.unpacked(fields, columns, name) for name in _AXES)
        low = np.stack([columns[f"{name}_low"] for name in _AXES], axis=1)
        more = np.stack([columns[f"{name}_more"] for name in _AXES], axis=1)
        counts = (columns[name].astype(np.float64) for name in ("total", "fresh"))
        names = tuple(fields["names"].split("\n")) if fields["names"] else ()
        return cls((s, p, o), names, low, low + more, *counts)


def _of_one_subject(spreads: Sequence[Spread], renewed: Renewed) -> StarEstimate:
    """A star of which every pattern has the rows of one subject alone."""
    total, new = 1.0, 1.0
    for (_, rows, fresh), part in zip(spreads, renewed, strict=True):
        every, good = float(rows.sum()), float(fresh.sum())
        total, new = total * every, new * (good + part * (every - good))
    return StarEstimate(total, min(new, total), min(1.0, total))


def _lengths(cuts: Integers) -> Numbers:
    """How many coordinates there are from each cut to the next; none after the last."""
    return np.diff(cuts, append=cuts[-1:]).astype(np.float64)


def _running(place: Integers, weight: Numbers) -> Numbers:
    """The density after each cut: what has begun less what has ended."""
    change = np.zeros(place.max() + 1 if len(place) else 0)
    np.add.at(change, place, np.concatenate([weight, -weight]))
    return np.asarray(np.maximum(np.cumsum(change), 0.0), dtype=np.float64)
