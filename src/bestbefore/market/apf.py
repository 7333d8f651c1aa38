"""Average predicate freshness (APF, thesis section 3.4.1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Integers, Numbers
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.packing import Columns, steps
from bestbefore.market.predicate_counts import PredicateCounts, floats, updated_counts
from bestbefore.market.shapes import Part, Star
from bestbefore.market.spm import multiplied
from bestbefore.market.summary import Renewed, StarEstimate, Summary, summaries
from bestbefore.rdf.terms import RDF_TYPE
from bestbefore.spark.columns import FRESH
from bestbefore.spark.sql import quote

_TYPE = quote(f"<{RDF_TYPE}>")


@dataclass(frozen=True, eq=False)
class APF:
    """As SPM, but the freshness of a predicate is the mean of its freshness per subject type.

    A subject that has several types is of the type of all of them together, one without any is of
    none. `predicate`, `kind`, `total` and `fresh` have an entry per predicate and subject type; a
    type is told by a checksum of its name.
    """

    counts: PredicateCounts
    predicate: Integers
    kind: Integers
    total: Numbers
    fresh: Numbers

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star."""
        freshness = [self._freshness(part.bound[1]) for part in star.parts]
        return multiplied(self.counts, star, renewed, freshness)

    def _freshness(self, name: str | None) -> float:
        """The mean over subject types; without a predicate, over all that any has."""
        own = np.ones(len(self.total), dtype=np.bool_)
        if name is not None:
            own = self.predicate == self.counts.place(name)
        return float(np.mean(self.fresh[own] / self.total[own])) if own.any() else 1.0

    def objects(self, part: Part) -> float:
        """How many different objects the triples of a pattern have."""
        return self.counts.of(part)[3]

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        return self.counts.names

    def updated(self, before: DataFrame, after: DataFrame) -> Summary:
        """The summary after a refresh."""
        change = dict[tuple[int | None, int], tuple[float, float]]()
        for sign, frame in ((-1, before), (1, after)):
            for row in _by_type(frame).collect():
                place = (self.counts.place(row["p"]), row["kind"])
                total, fresh = change.get(place, (0.0, 0.0))
                change[place] = total + sign * row["total"], fresh + sign * row[FRESH]
        cells = zip(self.predicate.tolist(), self.kind.tolist(), strict=True)
        moved = np.array([change.get(cell, (0.0, 0.0)) for cell in cells]).reshape(-1, 2)
        total = np.maximum(self.total + moved[:, 0], 0.0)
        kept = total > 0
        return replace(
            self,
            counts=updated_counts(self.counts, before, after),
            predicate=self.predicate[kept],
            kind=self.kind[kept],
            total=total[kept],
            fresh=np.clip(self.fresh + moved[:, 1], 0.0, total)[kept],
        )

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        fields, columns = self.counts.packed()
        own = {
            "predicate": steps(self.predicate),
            "kind": self.kind,
            "own": self.total,
            "new": self.fresh,
        }
        return fields, {**columns, **own}

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        return cls(
            PredicateCounts.unpacked(fields, columns),
            np.cumsum(columns["predicate"]),
            columns["kind"],
            columns["own"].astype(np.float64),
            columns["new"].astype(np.float64),
        )


@summaries.register("APF")
@dataclass(frozen=True)
class APFBuilder:
    """Average predicate freshness: total and fresh triples per predicate and subject type."""

    makes: ClassVar[type[Summary]] = APF

    def build(self, store: CountedStore) -> APF:
        """The summary of a store."""
        counts = store.predicates
        cells = _by_type(store.triples).orderBy("p", "kind").toArrow()
        places = {name: place for place, name in enumerate(counts.names)}
        return APF(
            counts,
            np.array([places[name] for name in cells["p"].to_pylist()], dtype=np.int64),
            cells["kind"].to_numpy(),
            floats(cells["total"]),
            floats(cells[FRESH]),
        )


def _by_type(store: DataFrame) -> DataFrame:
    """The cardinalities by predicate and subject type."""
    own = f"CASE WHEN p = {_TYPE} THEN o END"
    kind = f"crc32(CAST(array_join(sort_array(collect_set({own})), ' ') AS BINARY)) AS kind"
    kinds = store.groupBy("s").agg(expr(kind))
    counts = map(expr, ("count(1) AS total", f"sum({FRESH}) AS {FRESH}"))
    return store.join(kinds, "s").groupBy("p", "kind").agg(*counts)
