"""What is known of triples that came more than once."""

import pyarrow as pa
import pytest

from bestbefore.engine.repeats import Repeats
from bestbefore.spark.buffer import Segment


def segments(*names, elements=2):
    return [Segment(name, 0, elements) for name in names]


def numbers(*given):
    return pa.chunked_array([pa.array(given, pa.int64())])


def test_segments_with_triples_of_their_own():
    repeats = Repeats()
    assert repeats.unknown(segments("a")) == ["a"]
    assert repeats.learn(["a"], numbers(5, -1))
    assert repeats.unknown(segments("a", "b")) == ["b"]
    assert repeats.learn(["b"], numbers(4, 6))
    assert repeats.unknown(segments("a", "b")) == []


@pytest.mark.parametrize("again", [(7, 7), (9, 5), (-1, 3), (9, 2, 8)])
def test_a_triple_that_comes_again_is_known_until_its_segment_leaves(again):
    repeats = Repeats()
    repeats.learn(["a"], numbers(5, -1, 2))
    assert not repeats.learn(["b"], numbers(*again))
    assert repeats.unknown(segments("a", "b", "c")) is None
    assert repeats.unknown(segments("c", "d")) == ["c", "d"]
    assert repeats.learn(["c", "d"], numbers(5, -1, 7))


@pytest.mark.parametrize("left", ["a", "b"])
def test_several_segments_are_known_until_all_of_them_have_left(left):
    """Where elements come out of order, the first of two segments may stay for longer."""
    repeats = Repeats()
    assert repeats.learn(["a", "b"], numbers(1, 2))
    assert repeats.unknown(segments(left, "c")) == ["c"]
    assert not repeats.learn(["c"], numbers(1))
    assert repeats.unknown(segments("d")) == ["d"]
    assert repeats.learn(["d"], numbers(1, 2))


@pytest.mark.parametrize("left", ["a", "b"])
def test_a_triple_that_came_twice_in_several_segments_is_known_until_all_have_left(left):
    repeats = Repeats()
    assert not repeats.learn(["a", "b"], numbers(1, 1))
    assert repeats.unknown(segments(left, "c")) is None


def test_a_segment_without_elements():
    repeats = Repeats()
    assert repeats.learn(["a"], numbers())
    assert repeats.learn(["b"], numbers(1))
    assert repeats.learn(["c"], numbers())


def test_too_many_elements_are_not_looked_at():
    repeats = Repeats(most_elements=5)
    assert repeats.unknown(segments("a", "b")) == ["a", "b"]
    assert repeats.unknown(segments("a", "b", "c")) is None


def test_of_a_segment_what_is_known_of_those_whose_place_it_took():
    repeats = Repeats()
    repeats.learn(["a", "b"], numbers(5, 1))
    repeats.learn(["c"], numbers(3))
    repeats.note_merged(["b", "c"], "m")
    assert repeats.unknown(segments("m", "d")) == ["d"]
    assert not repeats.learn(["d"], numbers(3, 7))
    repeats.note_merged(["m", "d"], "n")
    assert repeats.unknown(segments("n", "e")) is None


def test_nothing_of_a_segment_that_took_the_place_of_an_unknown_one():
    repeats = Repeats()
    repeats.learn(["a"], numbers(5))
    repeats.note_merged(["a", "b"], "m")
    assert repeats.unknown(segments("m")) == ["m"]
    assert repeats.learn(["m"], numbers(5, 6))
