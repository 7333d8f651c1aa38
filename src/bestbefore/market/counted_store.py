"""A store with what several summaries need to know of it, which is counted once.

Freshness-based hashing gives terms the place that they have by their freshness, so that neighbours
are about equally fresh (thesis section 3.4.2). Of an object that is what its triples are, since a
query that binds it asks for these. Of a subject it is what its predicates are: a join asks for
several triples of one subject, and were subjects sorted by how many of their own triples are fresh,
those of a bucket would all have about as many, so that one triple were the less probably fresh the
more others are, and no bucket could take them for independent.
"""

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.market.predicate_counts import PredicateCounts, count_predicates
from bestbefore.spark.columns import FRESH, TRIPLE

_ROW_BITS = 33
# Sums of whole numbers do not depend on their order, so that equal subjects are equal.
_UNITS = 10**9


@dataclass(frozen=True)
class RankedTerms:
    """The terms of a dimension with their rank by freshness: `term`, `place` and `uses`.

    `kept` is what Spark keeps for them.
    """

    rows: DataFrame
    size: int
    kept: DataFrame


@dataclass(frozen=True, eq=False)
class CountedStore:
    """The triples of a store, and counts that are made when they are first asked for."""

    triples: DataFrame

    @cached_property
    def predicates(self) -> PredicateCounts:
        """The counts per predicate."""
        return count_predicates(self.triples)

    @cached_property
    def predicates_by_freshness(self) -> tuple[str, ...]:
        """The predicates, the stalest first."""
        counts = self.predicates
        shares = {name: counts.freshness(place) for place, name in enumerate(counts.names)}
        return tuple(sorted(counts.names, key=lambda name: (shares[name], name)))

    @cached_property
    def subjects_by_freshness(self) -> RankedTerms:
        """The subjects by the freshness of the predicates that they have."""
        counts = self.predicates
        usual = [
            (name, round(counts.freshness(place) * _UNITS))
            for place, name in enumerate(counts.names)
        ]
        known = self._broadcast(usual, "p STRING, usual BIGINT")
        return _ranked(self.triples.join(known, "p"), "s", "sum(usual) / count(1)")

    @cached_property
    def objects_by_freshness(self) -> RankedTerms:
        """The objects by the freshness of their triples."""
        return _ranked(self.triples, "o", f"avg({FRESH})")

    @cached_property
    def by_freshness(self) -> DataFrame:
        """The triples as places by freshness: `s`, `p` and `o`, with their `fresh`."""
        located = self.with_places(self.triples, self.predicates_by_freshness)
        for part, ranked in (("s", self.subjects_by_freshness), ("o", self.objects_by_freshness)):
            place = ranked.rows.selectExpr(f"term AS {part}", "place")
            located = located.join(place, part).drop(part).withColumnRenamed("place", part)
        return located.select(*TRIPLE, FRESH).persist()

    def with_places(self, triples: DataFrame, names: tuple[str, ...]) -> DataFrame:
        """Triples with the places of their predicates among some names."""
        places = [(name, place) for place, name in enumerate(names)]
        known = self._broadcast(places, "p STRING, place BIGINT")
        return triples.join(known, "p").drop("p").withColumnRenamed("place", "p")

    def _broadcast(self, rows: list[tuple[str, int]], kinds: str) -> DataFrame:
        return self.triples.sparkSession.createDataFrame(rows, kinds).hint("broadcast")

    def release(self) -> None:
        """Let Spark forget what it keeps of the store for summaries."""
        if "by_freshness" in self.__dict__:
            self.by_freshness.unpersist()
            self.subjects_by_freshness.kept.unpersist()
            self.objects_by_freshness.kept.unpersist()


def _ranked(store: DataFrame, part: str, freshness: str) -> RankedTerms:
    """The terms of a dimension, sorted by an expression over their triples, then by name.

    They are sorted in ranges, and numbered within each; where a range begins is the sum of those
    before it.
    """
    entries = store.groupBy(expr(f"{part} AS term")).agg(
        expr(f"{freshness} AS share"), expr("count(1) AS uses")
    )
    ordered = entries.repartitionByRange("share", "term").sortWithinPartitions("share", "term")
    # What numbers rows gives others the same numbers only if it is not run again.
    numbered = ordered.selectExpr("term", "uses", "monotonically_increasing_id() AS id").persist()
    split = numbered.selectExpr(
        "term",
        "uses",
        f"shiftright(id, {_ROW_BITS}) AS range",
        f"id & {2**_ROW_BITS - 1}L AS own",
    )
    sizes = split.groupBy("range").agg(expr("count(1) AS size")).orderBy("range").collect()
    size, starts = 0, list[tuple[int, int]]()
    for row in sizes:
        starts.append((row["range"], size))
        size += row["size"]
    table = store.sparkSession.createDataFrame(starts or [(0, 0)], "range BIGINT, begin BIGINT")
    placed = split.join(table.hint("broadcast"), "range")
    rows = placed.selectExpr("term", "uses", "begin + own AS place")
    return RankedTerms(rows, size, kept=numbered)
