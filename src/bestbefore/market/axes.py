"""The dimensions of histogram and QTree: hash functions from terms to coordinates.

Similarity-based hashing ("mixed hashing") takes the beginning of subjects and objects, and a
checksum of predicates. Freshness-based hashing sorts the entries of a dimension by their freshness
(thesis section 3.4.2).
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
from bestbefore.market.counted_store import CountedStore, RankedTerms
from bestbefore.market.packing import Columns, steps
from bestbefore.spark.columns import FRESH

Hashing = Literal["freshness", "similarity"]
# As many bytes after what all terms begin with as a double has room for.
_BYTES = 6


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


def locate(store: CountedStore, hashing: Hashing, terms: int) -> tuple[Axes, DataFrame]:
    """The axes of a store, and its triples as coordinates `s`, `p`, `o` with their `fresh`.

    At most so many `terms` of subjects, and as many of objects, are known by name.
    """
    if hashing == "similarity":
        subjects, objects = _prefix_axes(store)
        names = tuple(sorted(store.predicates.names, key=lambda name: (_key(name), name)))
        places = f"{_prefix_sql(subjects, 's')} AS s", "p", f"{_prefix_sql(objects, 'o')} AS o"
        located = store.with_places(store.triples.selectExpr(*places, FRESH), names)
        return (subjects, listed_axis(names), objects), located
    ranks = store.subjects_by_freshness, store.objects_by_freshness
    subjects, objects = (_ranked_axis(ranked, terms) for ranked in ranks)
    return (subjects, listed_axis(store.predicates_by_freshness), objects), store.by_freshness


def listed_axis(names: Sequence[str]) -> Axis:
    """The axis of some terms in their order."""
    keys = np.array([_key(name) for name in names], dtype=np.int64)
    order = np.argsort(keys)
    return Axis(max(1, len(names)), keys[order], order)


def _prefix_axes(store: CountedStore) -> tuple[Axis, Axis]:
    """The axes of similarity-based hashing: terms by their letters after a common beginning."""
    ends = (f"{end}({part})" for part in ("s", "o") for end in ("min", "max"))
    ((s_low, s_high, o_low, o_high),) = store.triples.selectExpr(*ends).collect()
    _, _, subjects, objects = store.predicates.everything
    return _prefix_axis(s_low, s_high, subjects), _prefix_axis(o_low, o_high, objects)


def _prefix_axis(low: str | None, high: str | None, size: float) -> Axis:
    """The axis of so many terms from the lowest to the highest, None if there are none."""
    same = (a == b for a, b in zip(low or "", high or "", strict=False))
    prefix = (low or "")[: sum(1 for _ in takewhile(bool, same))]
    lowest, highest = (_letters((end or "")[len(prefix) :]) for end in (low, high))
    nothing = np.zeros(0, dtype=np.int64)
    return Axis(max(1, int(size)), nothing, nothing, prefix=prefix, low=lowest, high=highest)


def _prefix_sql(axis: Axis, part: str) -> str:
    """The coordinate of a term as SQL."""
    digits = 2 * _BYTES
    beginning = f"left(hex(substring({part}, {len(axis.prefix or '') + 1}, {_BYTES})), {digits})"
    letters = f"CAST(conv(rpad({beginning}, {digits}, '0'), 16, 10) AS DOUBLE)"
    share = f"({letters} - {axis.low}) / ({axis.high - axis.low} + 1D)"
    return f"CAST({share} * {axis.size} AS BIGINT)"


def _letters(text: str) -> int:
    return int.from_bytes(text.encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")


def _ranked_axis(ranked: RankedTerms, terms: int) -> Axis:
    """The axis of ranked terms, those known by name that are used most."""
    keyed = ranked.rows.selectExpr("crc32(CAST(term AS BINARY)) AS key", "place", "uses")
    known = keyed.orderBy(expr("uses DESC"), "place").limit(terms).select("key", "place").toArrow()
    keys, places = known["key"].to_numpy(), known["place"].to_numpy()
    # Of two terms with the same checksum the one that is used more is known.
    keys, first = np.unique(keys, return_index=True)
    return Axis(max(1, ranked.size), keys, places[first], complete=ranked.size <= terms)


def _key(term: str) -> int:
    return crc32(term.encode())
