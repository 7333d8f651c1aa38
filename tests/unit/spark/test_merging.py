"""Which segments of a buffer are merged."""

from collections import Counter

import pytest

from bestbefore.spark.buffer import Segment, worth_merging


def segments(*sizes):
    return [Segment(f"s{number}", 0, size) for number, size in enumerate(sizes)]


def test_few_segments_are_left_alone():
    assert worth_merging(segments(*[1] * 23)) == []


def test_a_large_one_is_merged_when_those_after_it_are_a_quarter_of_it():
    names = [f"s{number}" for number in range(24)]
    assert worth_merging(segments(93, *[1] * 23)) == names[1:]
    assert worth_merging(segments(92, *[1] * 23)) == names
    assert worth_merging(segments(9_999, 92, *[1] * 22)) == names[2:]


def test_segments_without_elements_are_merged_too():
    assert worth_merging(segments(*[0] * 24)) == [f"s{number}" for number in range(24)]


def test_some_are_merged_however_much_smaller_each_is_than_the_one_before():
    sizes = [5 ** (24 - number) for number in range(24)]
    assert worth_merging(segments(*sizes)) == [f"s{number}" for number in range(16, 24)]


@pytest.mark.parametrize(("known", "merged"), [(24, (0, 24)), (13, (0, 13)), (10, (10, 24))])
def test_what_is_known_is_not_merged_with_what_is_not(known, merged):
    names = [f"s{number}" for number in range(24)]
    assert worth_merging(segments(*[1] * 24), names[:known]) == names[slice(*merged)]


@pytest.mark.parametrize("width", [30, 1_000, 20_000])
def test_no_element_is_written_often_and_few_stay_that_are_not_needed(width):
    """A batch brings one element; those of the last `width` batches are needed."""
    written, content, found, most = Counter[int](), {}, [], 0
    for batch in range(2 * width + 100):
        names = worth_merging(found)
        if names:
            merged = [one for name in names for one in content.pop(name) if one > batch - width]
            written.update(merged)
            content[f"m{batch}"] = merged
            place = [one.name for one in found].index(names[0])
            found[place : place + len(names)] = [Segment(f"m{batch}", merged[-1], len(merged))]
        content[f"b{batch}"] = [batch]
        found.append(Segment(f"b{batch}", batch, 1))
        found = [one for one in found if one.latest_ms > batch - width]
        if batch > width:
            most = max(most, sum(one.elements for one in found))
    assert max(written.values()) <= 24
    assert len(found) <= 24
    assert most <= 1.5 * width + 24
