"""Pairs: predicates that depend on each other in pairs, with surprises of bound objects.

The thesis sees the errors of its summaries in predicates that are taken to be independent, and
points at graphical models (sections 3.6 and 3.8). This is one: a star is a tree, its most selective
pattern the root, and every other pattern depends on that one alone, by the freshness of both
together. So what is estimated of two patterns is exact where the pair is known.

For objects that a query may bind there is more to know: of `p` with the object `o`, and of these
together with `q`. There is too much of it, so only surprises are kept: what differs most from the
estimate without it, in squared freshness per byte, times how many triples it is of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np
from pyspark.sql import DataFrame

from bestbefore.arrays import Integers, Numbers
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.packing import Columns, steps
from bestbefore.market.pair_counts import KEY, PairCounts, found_surprises
from bestbefore.market.predicate_counts import PredicateCounts, updated_counts
from bestbefore.market.shapes import Part, Star
from bestbefore.market.summary import Renewed, StarEstimate, Summary, summaries
from bestbefore.parameters import check_at_least

_STEPS = 16
# Of pairs, of bound objects, and of those beside another predicate.
_COLUMNS = ("pk", "pt", "pf", "bn", "bk", "bt", "bf", "qb", "qp", "qm", "qf")


class Known(NamedTuple):
    """Rows, and how many of them are fresh."""

    total: float
    fresh: float

    @property
    def share(self) -> float:
        """The share of fresh rows."""
        return self.fresh / self.total if self.total > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Entries:
    """Cardinalities by a number that says what they are of, in the order of these numbers."""

    key: Integers
    total: Numbers
    fresh: Numbers

    def place(self, key: int) -> int | None:
        """The place of a key, None if it is not there."""
        place = int(np.searchsorted(self.key, key))
        return place if place < len(self.key) and self.key[place] == key else None

    def get(self, key: int) -> Known | None:
        """What is known of a key."""
        place = self.place(key)
        return None if place is None else Known(float(self.total[place]), float(self.fresh[place]))

    def moved(self, was: "Entries", now: "Entries") -> "Entries":
        """The entries with what has changed; no others become known."""
        total, fresh = self.total.copy(), self.fresh.copy()
        for sign, other in ((-1.0, was), (1.0, now)):
            _, mine, theirs = np.intersect1d(self.key, other.key, return_indices=True)
            total[mine] += sign * other.total[theirs]
            fresh[mine] += sign * other.fresh[theirs]
        total = np.maximum(total, 0.0)
        return Entries(self.key, total, np.clip(fresh, 0.0, total))


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is known of predicates, of pairs of them, of bound objects, and of these in pairs.

    `pair` has the rows of `?s p ?x ; q ?y`, fresh where both triples are, by p · predicates + q;
    with `all_pairs` there are no others. `bound` has the triples of `?s p o` by p · 2³² + the
    checksum of o, and `beside` the rows of `?s p o ; q ?y` by its place there · predicates + q.
    """

    counts: PredicateCounts
    pair: Entries
    all_pairs: bool
    bound: Entries
    beside: Entries

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star: of a tree of its most selective pattern and the others."""
        known = [self._pattern(part) for part in star.parts]
        # What is known of a bound object is known beside it.
        free = [part.bound[2] is None for part in star.parts]
        root = min(range(len(known)), key=lambda place: (free[place], known[place].total, place))
        top, total = known[root], known[root].total
        if min(one.total for one in known) <= 0:
            return StarEstimate(0.0, 0.0, 0.0)
        if_fresh, if_stale, earlier = 1.0, 1.0, list[Part]()
        for place in sorted(range(len(known)), key=lambda place: known[place].total):
            if place == root:
                continue
            part = star.parts[place]
            rows, both = self._together(star.parts[root], part, top, known[place])
            # A pattern is not rarer beside several others than beside one of them.
            total *= max(rows / top.total, *(self._per_row(one, part) for one in earlier), 0.0)
            earlier.append(part)
            good, bad = _conditional(top.share, known[place].share, both)
            if_fresh *= good + renewed[place] * (1.0 - good)
            if_stale *= bad + renewed[place] * (1.0 - bad)
        share = top.share * if_fresh + renewed[root] * (1.0 - top.share) * if_stale
        subjects = min(self.counts.of(replace(part, o="?"))[2] for part in star.parts)
        if star.parts[0].bound[0] is not None:
            subjects = min(self.counts.of(Part("?", part.p, "?"))[2] for part in star.parts)
            total /= max(subjects, 1.0)
        return StarEstimate(total, total * min(share, 1.0), min(subjects, total))

    def _per_row(self, beside: Part, part: Part) -> float:
        """How many rows of a pattern there are for a row of another that binds no object."""
        one, two = (self.counts.place(each.p) for each in (beside, part))
        if one is None or two is None or beside.bound[2] is not None:
            return 0.0
        share = self._pattern(part).total / self.counts.counts(two)[0]
        return self._pair(one, two).total / self.counts.counts(one)[0] * share

    def _pattern(self, part: Part) -> Known:
        """What is known of the triples of a pattern with any subject."""
        _, p, o = part.bound
        place = None if p is None else self.counts.place(p)
        if o is None or place is None:
            return Known(*self.counts.of(replace(part, s="?"))[:2])
        return self.bound.get(_bound_key(place, o)) or self._other_object(place)

    def _other_object(self, place: int) -> Known:
        """What is left to each object that is not known by name."""
        total, fresh, _, objects = self.counts.counts(place)
        number, known = (column[place] for column in self._bound_by_predicate)
        rows = max(0.0, total - known) / max(1.0, objects - number) if objects > number else 0.0
        return Known(rows, rows * fresh / total)

    @cached_property
    def _bound_by_predicate(self) -> tuple[Integers, Numbers]:
        """How many objects of each predicate are known by name, and how many triples they have."""
        predicate, size = self.bound.key // KEY, len(self.counts.names)
        number = np.bincount(predicate, minlength=size)
        return number, np.bincount(predicate, self.bound.total, size).astype(np.float64)

    def _together(self, root: Part, part: Part, top: Known, known: Known) -> tuple[float, float]:
        """The rows of two patterns, and the share of them in which both are fresh."""
        (_, p, o), (_, q, other) = root.bound, part.bound
        one, two = (None if name is None else self.counts.place(name) for name in (p, q))
        if one is None or two is None:
            total, _, subjects, _ = self.counts.of(replace(part, s="?"))
            return top.total * total / max(subjects, 1.0), top.share * known.share
        alone, partner = (Known(*self.counts.counts(place)[:2]) for place in (one, two))
        beside = None if o is None else self._beside(one, o, two)
        if beside is not None:
            rows, both = beside.total, beside.share
        else:
            pair = self._pair(one, two)
            expected = alone.share * partner.share
            lift = pair.share / expected if expected > 0 and pair.total > 0 else 1.0
            rows = top.total * pair.total / alone.total
            both = top.share * partner.share * lift
        if other is None:
            return rows, both
        ratio = known.share / partner.share if partner.share > 0 else 1.0
        return rows * known.total / partner.total, both * ratio

    def _pair(self, one: int, two: int) -> Known:
        """What is known of two predicates, or what System R would make of them."""
        low, high = sorted((one, two))
        found = self.pair.get(low * len(self.counts.names) + high)
        if found is not None or self.all_pairs:
            return found or Known(0.0, 0.0)
        (total, _, subjects, _), (other, _, others, _) = map(self.counts.counts, (one, two))
        rows = total * other / max(subjects, others)
        return Known(rows, rows * self.counts.freshness(one) * self.counts.freshness(two))

    def _beside(self, predicate: int, o: str, other: int) -> Known | None:
        place = self.bound.place(_bound_key(predicate, o))
        return None if place is None else self.beside.get(place * len(self.counts.names) + other)

    def objects(self, part: Part) -> float:
        """How many different objects the triples of a pattern have."""
        return self.counts.of(part)[3]

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        return self.counts.names

    def updated(self, before: DataFrame, after: DataFrame) -> Summary:
        """The summary after a refresh."""
        sums = [PairCounts.of(frame, self.counts.names) for frame in (before, after)]
        (pair_was, bound_was), (pair_now, bound_now) = (
            (Entries(*own.pairs()), Entries(*own.bound())) for own in sums
        )
        beside_was, beside_now = (Entries(*own.beside(self.bound.key)) for own in sums)
        for own in sums:
            own.rows.unpersist()
        return replace(
            self,
            counts=updated_counts(self.counts, before, after),
            pair=self.pair.moved(pair_was, pair_now),
            bound=self.bound.moved(bound_was, bound_now),
            beside=self.beside.moved(beside_was, beside_now),
        )

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written: objects by predicate, pairs by their object."""
        fields, columns = self.counts.packed()
        size = len(self.counts.names)
        parent = self.beside.key // size
        own: Columns = {
            "pk": steps(self.pair.key),
            "pt": self.pair.total,
            "pf": self.pair.fresh,
            "bn": self._bound_by_predicate[0] if len(self.bound.key) else self.bound.key,
            "bk": self.bound.key % KEY,
            "bt": self.bound.total,
            "bf": self.bound.fresh,
            "qb": steps(parent),
            "qp": self.beside.key % size,
            # Mostly 0: most predicates have one object per subject.
            "qm": self.beside.total - self.bound.total[parent],
            "qf": self.beside.fresh,
        }
        most = _coded(np.append(self.counts.total, self.counts.total.sum()))
        rough = {name: most - _coded(columns[name]) for name in ("subjects", "objects")}
        some = {name: column for name, column in own.items() if len(column)}
        return {**fields, "all": self.all_pairs}, {**columns, **rough, **some}

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        total = columns["total"].astype(np.float64)
        most = _coded(np.append(total, total.sum()))
        rough = {name: _rough(most - columns[name]) for name in ("subjects", "objects")}
        counts = PredicateCounts.unpacked(fields, {**columns, **rough})
        columns = {**dict.fromkeys(_COLUMNS, np.zeros(0, dtype=np.int64)), **columns}
        real = {name: column.astype(np.float64) for name, column in columns.items()}
        number, parent = columns["bn"], np.cumsum(columns["qb"])
        bound = np.repeat(np.arange(len(number)), number) * KEY + columns["bk"]
        beside = parent * len(counts.names) + columns["qp"]
        return cls(
            counts,
            Entries(np.cumsum(columns["pk"]), real["pt"], real["pf"]),
            fields["all"],
            Entries(bound, real["bt"], real["bf"]),
            Entries(beside, real["qm"] + real["bt"][parent], real["qf"]),
        )


@summaries.register("pairs")
@dataclass(frozen=True)
class PairsBuilder:
    """Pairs of predicates that depend on each other, and the greatest surprises of bound objects.

    At most so many `surprises` and so many `pairs` of predicates are kept: what differs most from
    the estimate without it.
    """

    surprises: int = 10_000
    pairs: int = 10_000
    makes: ClassVar[type[Summary]] = Pairs

    def __post_init__(self) -> None:
        check_at_least(0, surprises=self.surprises, pairs=self.pairs)

    def build(self, store: CountedStore) -> Pairs:
        """The summary of a store."""
        counts = store.predicates
        subjects, objects = (_rough(_coded(one)) for one in (counts.subjects, counts.objects))
        counts = replace(counts, subjects=subjects, objects=objects)
        found = PairCounts.of(store.triples, counts.names)
        key, total, fresh = found.pairs()
        share = np.array([counts.freshness(place) for place in range(len(counts.names))])
        expected = share[key // len(share)] * share[key % len(share)] if len(key) else share
        surprise = (fresh / total - expected) ** 2
        kept = np.sort(np.argsort(-surprise, kind="stable")[: self.pairs])
        pair = Entries(key[kept], total[kept], fresh[kept])
        bound, beside = found_surprises(
            found, counts, pair=(key, total, fresh), most=self.surprises
        )
        return Pairs(counts, pair, len(kept) == len(key), Entries(*bound), Entries(*beside))


def _coded(count: Numbers) -> Integers:
    """Counts to some percent: in sixteenths of a doubling."""
    return np.round(_STEPS * np.log2(1.0 + count)).astype(np.int64)


def _rough(code: Integers) -> Numbers:
    """The counts behind their codes; small ones are exact."""
    return np.round(2.0 ** (code / _STEPS) - 1.0)


def _bound_key(predicate: int, o: str) -> int:
    return predicate * KEY + crc32(o.encode())


def _conditional(root: float, other: float, both: float) -> tuple[float, float]:
    """How probably a triple is fresh where that of the root is, and where it is not.

    `other` is how probably it is in all, unless `both` are fresh more often than that.
    """
    both = min(max(both, 0.0), root)
    good = both / root if root > 0 else other
    bad = (max(other, both) - both) / (1.0 - root) if root < 1 else other
    return good, min(bad, 1.0)
