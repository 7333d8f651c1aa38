"""What the summary of pairs is made of, counted by Spark, and which of it surprises."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Integers, Numbers
from bestbefore.market.predicate_counts import PredicateCounts, floats
from bestbefore.spark.columns import FRESH

KEY = 1 << 32
"""A checksum is below it."""

Counted = tuple[Integers, Numbers, Numbers]
"""What is counted as numbers that rise, the totals and the fresh ones."""

# What an entry takes about, in bytes: a checksum and two counts, or a predicate and two counts.
_BOUND_BYTES, _BESIDE_BYTES = 6.5, 3.0
_SUMS = ("sum(n) AS total", "sum(f) AS fresh")


@dataclass(frozen=True)
class PairCounts:
    """Triples by subject and predicate: `s`, `p` as a number, `n`, `f` and the checksums `objects`.

    `size` is how many predicates there are.
    """

    rows: DataFrame
    size: int

    @staticmethod
    def of(store: DataFrame, names: tuple[str, ...]) -> "PairCounts":
        """The counts of a store; triples of other predicates are left out."""
        numbered = list(enumerate(names)) or [(0, "")]
        table = store.sparkSession.createDataFrame(numbered, "number BIGINT, p STRING")
        own = store.join(table.hint("broadcast"), "p").groupBy("s", "number")
        objects = f"collect_list(struct(crc32(CAST(o AS BINARY)) AS k, {FRESH} AS f)) AS objects"
        counted = own.agg(*map(expr, ("count(1) AS n", f"sum({FRESH}) AS f", objects)))
        rows = counted.selectExpr("s", "number AS p", "n", "f", "objects").persist()
        return PairCounts(rows, len(names))

    def pairs(self) -> Counted:
        """The rows of two predicates of one subject, each pair once."""
        own = self.rows.groupBy("s").agg(expr("collect_list(struct(p, n, f)) AS own"))
        one = own.selectExpr("own", "inline(own)")
        two = "filter(own, other -> other.p >= p)"
        both = one.selectExpr("p", "n", "f", f"inline({two}) AS (q, m, g)")
        rows = both.selectExpr(f"p * {self.size} + q AS key", "n * m AS n", "f * g AS f")
        return _counted(rows.groupBy("key").agg(*map(expr, _SUMS)))

    def bound(self) -> Counted:
        """The triples of a predicate and an object."""
        return _counted(self._bound())

    def _bound(self) -> DataFrame:
        each = self.rows.selectExpr("p", "inline(objects) AS (k, f)")
        keyed = each.selectExpr(f"p * {KEY} + k AS key", "1L AS n", "f")
        return keyed.groupBy("key").agg(*map(expr, _SUMS))

    def beside(self, bound: Integers) -> Counted:
        """The rows of known bound objects with another predicate, by the object's place."""
        known = pa.table({"key": bound, "place": np.arange(len(bound))})
        places = self.rows.sparkSession.createDataFrame(known).hint("broadcast")
        rows = self._beside(places)
        keyed = rows.selectExpr(f"place * {self.size} + q AS key", "total", "fresh")
        return _counted(keyed)

    def _beside(self, known: DataFrame) -> DataFrame:
        """The rows of bound objects, of which `known` has the keys, with each predicate `q`."""
        keyed = f"transform(objects, one -> struct(p * {KEY} + one.k AS key, one.f AS f))"
        own = self.rows.groupBy("s").agg(
            expr("collect_list(struct(p AS q, n, f AS g)) AS own"),
            expr(f"flatten(collect_list({keyed})) AS each"),
        )
        triples = own.selectExpr("own", "inline(each)").join(known, "key")
        rest = [name for name in known.columns if name != "key"]
        both = triples.selectExpr("key", *rest, "f", "inline(own)")
        rows = both.selectExpr("key", *rest, "q", "n", "f * g AS f")
        return rows.groupBy("key", *rest, "q").agg(*map(expr, _SUMS))

    def surprising(
        self, counts: PredicateCounts, pair: Counted, most: int
    ) -> tuple[pa.Table, pa.Table]:
        """The bound objects, and those with another predicate, that surprise most."""
        spark = self.rows.sparkSession
        share = np.array([counts.freshness(place) for place in range(self.size)])
        predicates = spark.createDataFrame(
            pa.table({"p": np.arange(self.size), "usual": share})
        ).hint("broadcast")
        several = (
            self._bound()
            .filter("total > 1")
            .selectExpr("key", f"key DIV {KEY} AS p", "total AS whole", "fresh AS good")
        )
        bound = several.join(predicates, "p").persist()
        # A query binds an object as often as it comes.
        weight = "whole"
        scored = bound.selectExpr(
            "key",
            "whole",
            "good",
            f"{weight} * pow(good / whole - usual, 2) / {_BOUND_BYTES} AS score",
        )
        top = scored.orderBy(expr("score DESC"), "key").limit(most).toArrow()
        expected = spark.createDataFrame(_usual(pair, share, self.size)).hint("broadcast")
        rows = self._beside(bound.select("key", "p", "whole", "good")).join(expected, ["p", "q"])
        wrong = (
            f"{weight} * pow(fresh / total - good / whole * given, 2) / {_BESIDE_BYTES} AS score"
        )
        beside = rows.selectExpr("key", "q", "total", "fresh", "whole", "good", wrong)
        best = beside.orderBy(expr("score DESC"), "key", "q").limit(most).toArrow()
        bound.unpersist()
        return top, best


def found_surprises(
    found: PairCounts, counts: PredicateCounts, *, pair: Counted, most: int
) -> tuple[Counted, Counted]:
    """The bound objects and their pairs to keep: at most so many, and the objects of these."""
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    if not most or not found.size:
        found.rows.unpersist()
        return nothing, nothing
    top, best = found.surprising(counts, pair, most)
    found.rows.unpersist()
    scores = np.concatenate([floats(top["score"]), floats(best["score"])])
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[np.argsort(-scores, kind="stable")[:most]] = True
    alone, paired = chosen[: len(top)], chosen[len(top) :]
    key = np.concatenate([top["key"].to_numpy()[alone], best["key"].to_numpy()[paired]])
    whole, good = (
        np.concatenate([floats(top[name])[alone], floats(best[name])[paired]])
        for name in ("whole", "good")
    )
    key, first = np.unique(key, return_index=True)
    place = np.searchsorted(key, best["key"].to_numpy()[paired]) * found.size
    place = place + best["q"].to_numpy()[paired]
    order = np.argsort(place)
    total, fresh = (floats(best[name])[paired][order] for name in ("total", "fresh"))
    return (key, whole[first], good[first]), (place[order], total, fresh)


def _usual(pair: Counted, share: Numbers, size: int) -> pa.Table:
    """How probably the second of two predicates is fresh where the first is, in either order."""
    key, total, fresh = pair
    low, high = key // size, key % size
    columns = {}
    for name, one, other in (("up", low, high), ("down", high, low)):
        known = share[one] > 0
        given = np.where(known, fresh / total / np.where(known, share[one], 1.0), share[other])
        columns[name] = pa.table({"p": one, "q": other, "given": np.clip(given, 0.0, 1.0)})
    apart = columns["down"].filter(pa.array(low != high))
    return pa.concat_tables([columns["up"], apart])


def _counted(frame: DataFrame) -> Counted:
    found = frame.orderBy("key").toArrow()
    return found["key"].to_numpy(), floats(found["total"]), floats(found["fresh"])
