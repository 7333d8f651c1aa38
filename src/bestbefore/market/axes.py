"""The dimensions of histogram and QTree: hash functions from terms to coordinates.

Similarity-based hashing ("mixed hashing") takes the beginning of subjects and objects, and a
checksum of predicates. Freshness-based hashing sorts the entries of a dimension by their freshness,
so that neighbours are about equally fresh (thesis section 3.4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, Self
from zlib import crc32

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Integers
from bestbefore.market.packing import Columns, steps
from bestbefore.spark.columns import FRESH, TRIPLE

Hashing = Literal["freshness", "similarity"]
# As many bytes after what all terms begin with as a double has room for.
_BYTES = 6
_ROW_BITS = 33


@dataclass(frozen=True, eq=False)
class Axis:
    """A dimension: how many coordinates it has, and where terms lie.

    `keys` are the checksums of the terms that are known by name, `places` their coordinates. Of a
    `complete` axis these are all. Where there is a `prefix`, that of all terms, the coordinate of a
    term follows from its first letters after it, which lie between `low` and `high`.
    """

    size: int
    keys: Integers
    places: Integers
    complete: bool = True
    prefix: str | None = None
    low: int = 0
    high: int = 0

    def place(self, term: str) -> int | None:
        """The coordinate of a term, None if the axis does not know it by name."""
        if self.prefix is not None:
            if not term.startswith(self.prefix):
                return None
            letters = min(max(_letters(term[len(self.prefix) :]), self.low), self.high)
            return int((letters - self.low) / (self.high - self.low + 1.0) * self.size)
        key = _key(term)
        found = int(np.searchsorted(self.keys, key))
        known = found < len(self.keys) and self.keys[found] == key
        return int(self.places[found]) if known else None

    def packed(self, name: str) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        own = [self.size, self.complete, self.prefix, self.low, self.high]
        return {name: own}, {f"{name}_keys": steps(self.keys), f"{name}_places": self.places}

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns, name: str) -> Self:
        """The axis that was written."""
        size, *rest = fields[name]
        return cls(size, np.cumsum(columns[f"{name}_keys"]), columns[f"{name}_places"], *rest)


Axes = tuple[Axis, Axis, Axis]
"""The dimensions of subjects, predicates and objects."""


def locate(store: DataFrame, hashing: Hashing, terms: int) -> tuple[Axes, DataFrame]:
    """The axes of a store, and its triples as coordinates `s`, `p`, `o` with their `fresh`.

    At most so many `terms` of subjects, and as many of objects, are known by name.
    """
    if hashing == "similarity":
        node = [_prefix_axis(store, part) for part in ("s", "o")]
        axes = node[0], _predicate_axis(store, hashing), node[1]
        located = store.selectExpr(
            f"{_prefix_sql(axes[0], 's')} AS s", "p", f"{_prefix_sql(axes[2], 'o')} AS o", FRESH
        )
        return axes, _with_predicate(located, axes[1])
    predicate = _predicate_axis(store, hashing)
    located, found = _with_predicate(store, predicate), list[Axis]()
    for part in ("s", "o"):
        ranked = _ranked(store, part)
        found.append(_ranked_axis(ranked, terms))
        place = ranked.selectExpr(f"term AS {part}", "place")
        located = located.join(place, part).drop(part).withColumnRenamed("place", part)
    return (found[0], predicate, found[1]), located.select(*TRIPLE, FRESH)


def _predicate_axis(store: DataFrame, hashing: Hashing) -> Axis:
    """The axis of predicates, which are few: all of them are known by name."""
    rows = store.groupBy("p").agg(expr(f"avg({FRESH}) AS share")).collect()
    by_freshness = sorted((row["share"], row["p"]) for row in rows)
    by_checksum = sorted((_key(row["p"]), row["p"]) for row in rows)
    names = [name for _, name in (by_freshness if hashing == "freshness" else by_checksum)]
    return listed_axis(names)


def listed_axis(names: Sequence[str]) -> Axis:
    """The axis of some terms in their order."""
    keys = np.array([_key(name) for name in names], dtype=np.int64)
    order = np.argsort(keys)
    return Axis(max(1, len(names)), keys[order], order)


def _with_predicate(located: DataFrame, axis: Axis) -> DataFrame:
    """The triples with the coordinate of the predicate in its place."""
    columns = zip(axis.keys.tolist(), axis.places.tolist(), strict=True)
    spark = located.sparkSession
    places = spark.createDataFrame(list(columns), "key BIGINT, place BIGINT").hint("broadcast")
    keyed = located.withColumn("key", expr("crc32(CAST(p AS BINARY))"))
    return keyed.join(places, "key").drop("key", "p").withColumnRenamed("place", "p")


def _prefix_axis(store: DataFrame, part: str) -> Axis:
    """The axis of similarity-based hashing: terms by their letters after a common beginning."""
    ((low, high, size),) = store.selectExpr(
        f"min({part})", f"max({part})", f"count(DISTINCT {part})"
    ).collect()
    same = (a == b for a, b in zip(low or "", high or "", strict=False))
    prefix = (low or "")[: sum(1 for _ in takewhile(bool, same))]
    lowest, highest = (_letters((end or "")[len(prefix) :]) for end in (low, high))
    nothing = np.zeros(0, dtype=np.int64)
    return Axis(max(1, size), nothing, nothing, prefix=prefix, low=lowest, high=highest)


def _prefix_sql(axis: Axis, part: str) -> str:
    """The coordinate of a term as SQL."""
    digits = 2 * _BYTES
    beginning = f"left(hex(substring({part}, {len(axis.prefix or '') + 1}, {_BYTES})), {digits})"
    letters = f"CAST(conv(rpad({beginning}, {digits}, '0'), 16, 10) AS DOUBLE)"
    share = f"({letters} - {axis.low}) / ({axis.high - axis.low} + 1D)"
    return f"CAST({share} * {axis.size} AS BIGINT)"


def _letters(text: str) -> int:
    return int.from_bytes(text.encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")


def _ranked(store: DataFrame, part: str) -> DataFrame:
    """The terms of a dimension with their rank by freshness: `term`, `place` and `uses`.

    They are sorted in ranges, and numbered within each; where a range begins is the sum of those
    before it.
    """
    entries = store.groupBy(expr(f"{part} AS term")).agg(
        expr(f"avg({FRESH}) AS share"), expr("count(1) AS uses")
    )
    ordered = entries.repartitionByRange("share", "term").sortWithinPartitions("share", "term")
    numbered = ordered.selectExpr("term", "uses", "monotonically_increasing_id() AS id").persist()
    split = numbered.selectExpr(
        "term",
        "uses",
        f"shiftright(id, {_ROW_BITS}) AS range",
        f"id & {2**_ROW_BITS - 1}L AS own",
    )
    sizes = split.groupBy("range").agg(expr("count(1) AS size")).orderBy("range").collect()
    begin, starts = 0, list[tuple[int, int]]()
    for row in sizes:
        starts.append((row["range"], begin))
        begin += row["size"]
    spark = store.sparkSession
    table = spark.createDataFrame(starts or [(0, 0)], "range BIGINT, begin BIGINT")
    placed = split.join(table.hint("broadcast"), "range")
    return placed.selectExpr("term", "uses", "begin + own AS place")


def _ranked_axis(ranked: DataFrame, terms: int) -> Axis:
    """The axis of ranked terms, those known by name that are used most."""
    size = ranked.count()
    keyed = ranked.selectExpr("crc32(CAST(term AS BINARY)) AS key", "place", "uses")
    known = keyed.orderBy(expr("uses DESC"), "place").limit(terms).select("key", "place").toArrow()
    keys, places = known["key"].to_numpy(), known["place"].to_numpy()
    # Of two terms with the same checksum the one that is used more is known.
    keys, first = np.unique(keys, return_index=True)
    return Axis(max(1, size), keys, places[first], complete=size <= terms)


def _key(term: str) -> int:
    return crc32(term.encode())
