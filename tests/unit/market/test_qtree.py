"""The QTree keeps its bounds, loses no triple, and is exact as long as it has room."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bestbefore.market.qtree import Node, QTree, joint, penalty

points = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(0, 30)), min_size=1, max_size=120
)


def grown(rows, bmax, fmax=3):
    tree, boxes = QTree(bmax, fmax), np.array(rows)
    fresh = (boxes.sum(axis=1) % 2).astype(np.float64)
    tree.insert_all(boxes, boxes, np.ones(len(rows)), fresh)
    return tree, fresh


def inner_nodes(node):
    if node.children is not None:
        yield node
        for child in node.children:
            yield from inner_nodes(child)


@given(points, st.integers(1, 20), st.integers(2, 5))
def test_it_keeps_its_bounds_and_loses_nothing(rows, bmax, fmax):
    tree, fresh = grown(rows, bmax, fmax)
    assert len(tree.buckets) <= bmax
    assert sum(one.total for one in tree.buckets.values()) == len(rows)
    assert sum(one.fresh for one in tree.buckets.values()) == fresh.sum()
    for node in inner_nodes(tree.root):
        assert len(node.children) <= fmax
        for child in node.children:
            assert node.encloses(child)
            assert child.parent is node
    for row in rows:
        point = Node(tuple(row), tuple(row))
        assert any(bucket.encloses(point) for bucket in tree.buckets.values())


@given(points)
@example([(0, 0, 1), (0, 0, 5), (0, 1, 5), (2, 1, 0), (2, 1, 5), (2, 1, 6), (0, 1, 4), (2, 1, 5)])
def test_with_room_for_all_every_point_has_its_own_bucket(rows):
    tree, _ = grown(rows, bmax=1_000)
    found = {one.low: one.total for one in tree.buckets.values()}
    assert all(one.low == one.high for one in tree.buckets.values())
    assert found == {row: rows.count(row) for row in rows}


def test_the_penalty_is_the_volume_that_is_nobody_s():
    one, other = Node((0, 0, 0), (0, 0, 0)), Node((1, 0, 2), (1, 0, 2))
    assert joint(one, other) == ((0, 0, 0), (1, 0, 2))
    assert penalty(one, other) == 2 * 1 * 3 - 2


@pytest.mark.parametrize("bmax", [1, 2, 3])
def test_near_buckets_are_merged_first(bmax):
    rows = [(0, 0, 0), (0, 0, 1), (50, 0, 50), (50, 0, 51), (99, 4, 0)]
    tree, _ = grown(rows, bmax, fmax=10)
    totals = sorted(one.total for one in tree.buckets.values())
    assert totals == {1: [5], 2: [2, 3], 3: [1, 2, 2]}[bmax]


def test_boxes_of_other_trees_are_inserted_with_what_they_hold():
    tree = QTree(10, 3)
    low, high = np.array([[0, 0, 0], [2, 0, 2]]), np.array([[9, 0, 9], [3, 0, 3]])
    tree.insert_all(low, high, np.array([7.0, 2.0]), np.array([3.0, 1.0]))
    ((total, fresh),) = [(one.total, one.fresh) for one in tree.buckets.values()]
    assert (total, fresh) == (9.0, 4.0)
