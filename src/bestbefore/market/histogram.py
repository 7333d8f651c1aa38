"""Equi-width histograms in three dimensions (thesis section 3.4.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.market.axes import Axes, locate
from bestbefore.market.boxes import Boxes
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.predicate_counts import floats
from bestbefore.market.summary import Summary, summaries
from bestbefore.parameters import check_at_least
from bestbefore.spark.columns import FRESH


@dataclass(frozen=True)
class Grid:
    """So many buckets along subjects, predicates and objects, all of the same width."""

    s: int
    p: int
    o: int

    def of(self, located: DataFrame, axes: Axes, names: tuple[str, ...]) -> Boxes:
        """The buckets that are not empty, of triples as coordinates."""
        widths = [
            -(-axis.size // max(1, min(count, axis.size)))
            for axis, count in zip(axes, (self.s, self.p, self.o), strict=True)
        ]
        keys = [
            f"CAST({name} DIV {width} AS BIGINT) AS {name}"
            for name, width in zip("spo", widths, strict=True)
        ]
        cells = located.groupBy(*map(expr, keys)).agg(
            expr("count(1) AS total"), expr(f"sum({FRESH}) AS {FRESH}")
        )
        found = cells.orderBy("p", "s", "o").toArrow()
        place = np.stack([found[name].to_numpy() for name in "spo"], axis=1).reshape(-1, 3)
        low = place * np.array(widths)
        last = np.array([axis.size - 1 for axis in axes])
        high = np.minimum(low + np.array(widths) - 1, last)
        return Boxes(axes, names, low, high, floats(found["total"]), floats(found[FRESH]))


@summaries.register("histogram")
@dataclass(frozen=True)
class FreshnessHistogram:
    """An equi-width histogram with freshness-based hashing: neighbours are about equally fresh.

    So many `buckets` along each dimension; so many `terms` of subjects, and as many of objects, are
    known by name.
    """

    buckets: int = 20
    terms: int = 10_000
    makes: ClassVar[type[Summary]] = Boxes

    def __post_init__(self) -> None:
        check_at_least(1, buckets=self.buckets)
        check_at_least(0, terms=self.terms)

    def build(self, store: CountedStore) -> Boxes:
        """The summary of a store."""
        axes, located = locate(store, "freshness", self.terms)
        grid = Grid(self.buckets, self.buckets, self.buckets)
        return grid.of(located, axes, store.predicates.names)


@summaries.register("histogram-similarity")
@dataclass(frozen=True)
class SimilarityHistogram:
    """An equi-width histogram with similarity-based hashing: neighbours have similar names.

    So many `buckets` along each dimension.
    """

    buckets: int = 20
    makes: ClassVar[type[Summary]] = Boxes

    def __post_init__(self) -> None:
        check_at_least(1, buckets=self.buckets)

    def build(self, store: CountedStore) -> Boxes:
        """The summary of a store."""
        axes, located = locate(store, "similarity", 0)
        grid = Grid(self.buckets, self.buckets, self.buckets)
        return grid.of(located, axes, store.predicates.names)
