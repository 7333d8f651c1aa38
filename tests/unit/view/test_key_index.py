"""Keys are found by the numbers that they have, also when many share a place."""

import numpy as np
import pytest

from bestbefore.view.key_index import KeyIndex


def keys(count, first=0):
    return [(f"<http://e/{n}>",) for n in range(first, first + count)]


# Up to 32 keys share 64 places, so that many lie behind another.
@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 500])
def test_a_key_is_found_behind_others_that_are_gone(count):
    index = KeyIndex(keys(count))
    gone = np.arange(0, count, 2)
    index.remove(gone)
    numbers = np.where(np.arange(count) % 2, np.arange(count), -1)
    assert index.find(keys(count)).tolist() == numbers.tolist()
    index.append(keys(count, first=count))
    assert index.find(keys(count)).tolist() == numbers.tolist()
    assert index.find(keys(count, first=count)).tolist() == list(range(count, 2 * count))
    assert len(index) == 2 * count


def test_keys_move_up_to_where_others_were():
    index = KeyIndex(keys(100))
    index.remove(np.arange(10, 60))
    index.move_up(np.arange(60, 100), 10)
    found = index.find(keys(101)).tolist()
    assert found == [*range(10), *[-1] * 50, *range(10, 50), -1]
    assert len(index) == 50


def test_keys_that_come_and_go_are_found_for_ever():
    index, held = KeyIndex(), []
    for first in range(0, 3_000, 20):
        index.append(keys(20, first))
        held += range(first, first + 20)
        index.remove(np.array(held[:-30], dtype=np.int64))
        held = held[-30:]
        assert index.find([(f"<http://e/{n}>",) for n in held]).tolist() == held
    assert index.find(keys(2_970)).tolist() == [-1] * 2_970


def test_keys_of_several_parts_are_not_mixed_up():
    known = [("a", "b"), ("b", "a"), ("a\n", "b"), ("", "a")]
    assert KeyIndex(known).find([*reversed(known), ("a", "")]).tolist() == [3, 2, 1, 0, -1]
    assert KeyIndex().find([("a",)]).tolist() == [-1]
