"""The QTree: buckets that follow the data (thesis section 3.4.3).

It is built point by point. A point that a bucket encloses is counted there; for any other there is
a new bucket below the deepest node that encloses it. A node with more than `fmax` children puts the
two that are nearest together below a node of their own; when there are more than `bmax` buckets,
the two sibling buckets with the smallest penalty become one. The penalty is how much volume the
common bounding box has that the two have not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Booleans, Integers, Numbers
from bestbefore.market.axes import Axes, locate
from bestbefore.market.boxes import Boxes
from bestbefore.market.counted_store import CountedStore
from bestbefore.market.summary import Summary, summaries
from bestbefore.parameters import check_at_least
from bestbefore.spark.columns import FRESH

Point = tuple[int, int, int]
_BATCH = 2_048
_LOW, _HIGH = ("s_low", "p_low", "o_low"), ("s_high", "p_high", "o_high")
_ROWS = ", ".join([*(f"{name} BIGINT" for name in (*_LOW, *_HIGH)), "total DOUBLE", "fresh DOUBLE"])


@dataclass(eq=False, slots=True)
class Node:
    """A node with its bounding box; one without children is a bucket with its cardinalities."""

    low: Point
    high: Point
    total: float = 0.0
    fresh: float = 0.0
    children: "list[Node] | None" = None
    parent: "Node | None" = None

    def encloses(self, other: "Node") -> bool:
        """Whether the box of another node lies in this one."""
        (a, b, c), (d, e, f) = self.low, self.high
        (u, v, w), (x, y, z) = other.low, other.high
        return a <= u and x <= d and b <= v and y <= e and c <= w and z <= f


@dataclass
class QTree:
    """A QTree while it grows; `buckets` are its leaves."""

    bmax: int
    fmax: int
    root: Node = field(default_factory=lambda: Node((0, 0, 0), (-1, -1, -1), children=[]))
    buckets: dict[int, Node] = field(default_factory=dict)
    queue: list[tuple[int, int, Node, Node]] = field(default_factory=list)
    pushed: int = 0

    def insert_all(self, low: Integers, high: Integers, total: Numbers, fresh: Numbers) -> None:
        """Insert boxes in their order; those that a bucket encloses already are counted at once."""
        for begin in range(0, len(low), _BATCH):
            part = slice(begin, begin + _BATCH)
            rest = self._count(low[part], high[part], total[part], fresh[part])
            rows = zip(
                low[part][rest].tolist(),
                high[part][rest].tolist(),
                total[part][rest].tolist(),
                fresh[part][rest].tolist(),
                strict=True,
            )
            for own_low, own_high, own_total, own_fresh in rows:
                self.insert(Node(tuple(own_low), tuple(own_high), own_total, own_fresh))

    def _count(self, low: Integers, high: Integers, total: Numbers, fresh: Numbers) -> Booleans:
        """Count boxes in the buckets that enclose them; tell which have none."""
        buckets = list(self.buckets.values())
        if not buckets:
            return np.ones(len(low), dtype=np.bool_)
        first, last = (np.array([getattr(one, end) for one in buckets]) for end in ("low", "high"))
        inside = np.ones((len(low), len(buckets)), dtype=np.bool_)
        for axis in range(3):
            inside &= first[:, axis] <= low[:, axis, None]
            inside &= high[:, axis, None] <= last[:, axis]
        found = inside.any(axis=1)
        where = inside.argmax(axis=1)[found]
        for name, weight in (("total", total), ("fresh", fresh)):
            sums = np.bincount(where, weight[found], len(buckets))
            for place in np.flatnonzero(sums).tolist():
                setattr(buckets[place], name, getattr(buckets[place], name) + float(sums[place]))
        return np.logical_not(found)

    def insert(self, new: Node) -> None:
        """Insert a bucket: it is counted in one that encloses it, or becomes one of its own."""
        node, unseen = self.root, [self.root]
        # Boxes of nodes overlap, so that the bucket may be below any of those that enclose it.
        while unseen:
            inner = unseen.pop()
            if inner.children is None:
                inner.total += new.total
                inner.fresh += new.fresh
                return
            below = [one for one in inner.children if one.encloses(new)]
            if inner is node:
                node = next((one for one in below if one.children is not None), node)
            unseen += below
        self._adopt(node, new)
        self.buckets[id(new)] = new
        self._propose(new)
        if len(node.children or ()) > self.fmax:
            self._pair_up(node)
        if len(self.buckets) > self.bmax:
            self._merge()

    def _adopt(self, node: Node, child: Node) -> None:
        assert node.children is not None  # noqa: S101 - it is no bucket
        child.parent = node
        node.children.append(child)
        if len(node.children) == 1 and node is self.root:
            node.low, node.high = child.low, child.high
        else:
            node.low, node.high = joint(node, child)

    def _propose(self, bucket: Node) -> None:
        """Note the sibling bucket that this one is best merged with."""
        siblings = bucket.parent.children if bucket.parent and bucket.parent.children else []
        best = min(
            (
                (penalty(bucket, one), one)
                for one in siblings
                if one is not bucket and one.children is None
            ),
            key=lambda pair: pair[0],
            default=None,
        )
        if best is not None:
            self.pushed += 1
            heappush(self.queue, (best[0], self.pushed, bucket, best[1]))

    def _pair_up(self, node: Node) -> None:
        """Put the two nearest children of a node below one of them, or below a new node."""
        children = node.children or []
        one, other = min(combinations(children, 2), key=lambda pair: penalty(*pair))
        if one.children is None:
            one, other = other, one
        children.remove(other)
        if one.children is not None and other.children is None and len(one.children) < self.fmax:
            self._adopt(one, other)
            self._propose(other)
            return
        children.remove(one)
        inner = Node(*joint(one, other), children=[])
        self._adopt(node, inner)
        for child in (one, other):
            self._adopt(inner, child)
        if one.children is None:
            self._propose(one)

    def _merge(self) -> None:
        """Merge the two sibling buckets with the smallest penalty."""
        while True:
            if not self.queue:
                for bucket in list(self.buckets.values()):
                    self._propose(bucket)
            _, _, one, other = heappop(self.queue)
            alive = id(one) in self.buckets
            if alive and id(other) in self.buckets and one.parent is other.parent:
                break
            if alive:
                self._propose(one)
        parent = one.parent
        assert parent is not None and parent.children is not None  # noqa: S101, PT018 - a bucket has
        low, high = joint(one, other)
        merged = Node(low, high, one.total + other.total, one.fresh + other.fresh, None, parent)
        for gone in (one, other):
            parent.children.remove(gone)
            del self.buckets[id(gone)]
        parent.children.append(merged)
        self.buckets[id(merged)] = merged
        if len(parent.children) == 1 and parent.parent is not None:
            self._lift(parent, merged)
        self._propose(merged)

    def _lift(self, node: Node, only: Node) -> None:
        """Let the only child of a node take its place."""
        above = node.parent
        assert above is not None and above.children is not None  # noqa: S101, PT018 - not the root
        above.children.remove(node)
        above.children.append(only)
        only.parent = above

    def table(self) -> pa.Table:
        """The buckets as rows."""
        nodes = list(self.buckets.values())
        ends = zip(
            (*_LOW, *_HIGH), (*range(3), *range(3)), ("low",) * 3 + ("high",) * 3, strict=True
        )
        columns = {
            name: pa.array([getattr(one, end)[axis] for one in nodes], pa.int64())
            for name, axis, end in ends
        }
        counts = {
            name: pa.array([getattr(one, name) for one in nodes], pa.float64())
            for name in ("total", "fresh")
        }
        return pa.table(columns | counts)


def joint(one: Node, other: Node) -> tuple[Point, Point]:
    """The bounding box of two nodes."""
    (a, b, c), (d, e, f) = one.low, one.high
    (u, v, w), (x, y, z) = other.low, other.high
    low = (a if a < u else u, b if b < v else v, c if c < w else w)
    return low, (d if d > x else x, e if e > y else y, f if f > z else z)


def penalty(one: Node, other: Node) -> int:
    """The volume that the common bounding box of two nodes has and they have not."""
    low, high = joint(one, other)
    return _volume(low, high) - _volume(one.low, one.high) - _volume(other.low, other.high)


def _volume(low: Point, high: Point) -> int:
    return (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1)


@summaries.register("QTree")
@dataclass(frozen=True)
class QTreeBuilder:
    """A QTree with freshness-based hashing: at most `bmax` buckets, and `fmax` children of a node.

    So many `terms` of subjects, and as many of objects, are known by name. A tree is built per
    partition of the store; then their buckets are inserted into one.
    """

    bmax: int = 1_000
    fmax: int = 10
    terms: int = 10_000
    makes: ClassVar[type[Summary]] = Boxes

    def __post_init__(self) -> None:
        check_at_least(1, bmax=self.bmax)
        check_at_least(2, fmax=self.fmax)
        check_at_least(0, terms=self.terms)

    def build(self, store: CountedStore) -> Boxes:
        """The summary of a store."""
        axes, located = locate(store, "freshness", self.terms)
        return self.of(located, axes, store.predicates.names)

    def of(self, located: DataFrame, axes: Axes, names: tuple[str, ...]) -> Boxes:
        """The buckets of triples as coordinates."""
        bmax, fmax = self.bmax, self.fmax

        def grow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            tree = QTree(bmax, fmax)
            for batch in batches:
                columns = [batch.column(name).to_numpy() for name in (*"spo", FRESH)]
                points = np.stack(columns[:3], axis=1)
                tree.insert_all(points, points, np.ones(len(points)), columns[3])
            yield from tree.table().to_batches()

        parts = located.sparkSession.sparkContext.defaultParallelism
        # In no order: then buckets soon enclose most of what comes.
        mixed = located.repartition(parts).sortWithinPartitions(expr("xxhash64(s, p, o)"))
        grown = mixed.mapInArrow(grow, _ROWS).toArrow()
        tree = QTree(bmax, fmax)
        low, high = (
            np.stack([grown[name].to_numpy() for name in ends], axis=1) for ends in (_LOW, _HIGH)
        )
        order = np.argsort(-grown["total"].to_numpy(), kind="stable")
        total, fresh = (grown[name].to_numpy()[order] for name in ("total", "fresh"))
        tree.insert_all(low[order], high[order], total, fresh)
        found = tree.table()
        low, high = (
            np.stack([found[name].to_numpy() for name in ends], axis=1) for ends in (_LOW, _HIGH)
        )
        counts = (found[name].to_numpy() for name in ("total", "fresh"))
        return Boxes(axes, names, low.reshape(-1, 3), high.reshape(-1, 3), *counts)
