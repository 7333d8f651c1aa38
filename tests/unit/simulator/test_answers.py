import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.maintenance.window_units import units_of_keys, units_of_links
from bestbefore.simulator.answers import (
    AggregatedComparison,
    Condition,
    FilteredComparison,
    Side,
    compare_rows,
)
from bestbefore.view.links import link

FRESH = np.array([0.5, 1.0, 0.25, 0.0])


def side(*values):
    number = np.array([np.nan if value is None else value for value in values], dtype=float)
    present = ~np.isnan(number)
    return Side(present, np.where(present, number, -1).astype(np.int64), number)


@pytest.fixture
def window():
    return units_of_keys(np.arange(4), np.ones(4, dtype=np.int64), np.array([1, 2, 3, 4]))


def test_rows(window):
    tally = compare_rows(window, side(1, 5, None, None), side(1, 6, 7, None), FRESH)
    assert (tally.correct, tally.wrong, tally.missing) == (1, 2, 3)
    assert tally.union == 1 + 2 + 2 + 3
    assert tally.estimated == pytest.approx((0.5 * 1 + 1.0 * 2) / 3)


def test_predictions_are_held_against_what_is_correct_by_tenth(window):
    fresh = np.array([0.5, 1.0, 0.55, 0.0])
    tally = compare_rows(window, side(1, 5, 7, 8), side(1, 6, 7, None), fresh)
    told = {tenth: row.tolist() for tenth, row in enumerate(tally.calibration) if row.any()}
    assert told == {
        0: [4, 0, 0],
        5: [1 + 3, pytest.approx(1 * 0.5 + 3 * 0.55), 1 + 3],
        9: [2, 2, 0],
    }


def test_a_row_that_the_service_no_longer_has_is_wrong(window):
    tally = compare_rows(window, side(1, 5, None, None), side(1, None, None, None), FRESH)
    assert (tally.correct, tally.wrong, tally.missing, tally.union) == (1, 2, 0, 3)


def test_no_answers(window):
    tally = compare_rows(window, side(*[None] * 4), side(*[None] * 4), FRESH)
    assert (tally.correct, tally.wrong, tally.missing, tally.union) == (0, 0, 0, 0)
    assert np.isnan(tally.estimated)
    assert not tally.calibration.any()


def test_filtered_answers_are_keys_whatever_their_value(window):
    compare = FilteredComparison(Condition.parse(">10"))
    tally = compare(window, side(11, 20, 5, None), side(99, 3, 12, 50), FRESH)
    assert (tally.correct, tally.wrong, tally.missing) == (1, 2, 3 + 4)
    assert tally.union == 10
    assert tally.calibration[5].tolist() == [1, 0.5, 1]
    assert tally.calibration[9].tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    ("function", "correct"),
    [("sum", 0), ("count", 2), ("avg", 0), ("min", 1), ("max", 1)],
)
def test_aggregates(function, correct):
    links, _ = link(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), keys=2)
    ones = np.ones(2, dtype=np.int64)
    window = units_of_links(links, np.arange(2), ones, ones)
    ours, truth = side(1, 5, 7, 8), side(1, 6, 6, 8)
    tally = AggregatedComparison(function)(window, ours, truth, FRESH)
    assert tally.correct == correct
    assert tally.estimated == pytest.approx((0.5 + 0.0) / 2)
    assert tally.calibration.sum(axis=0).tolist() == [2, 0.5, correct]


@pytest.mark.parametrize(
    ("function", "correct"), [("sum", 0), ("count", 0), ("avg", 3), ("min", 3), ("max", 3)]
)
def test_aggregates_over_fewer_units_than_there_are(function, correct):
    links, _ = link(np.array([0, 0]), np.array([0, 1]), keys=1)
    window = units_of_links(links, np.array([0]), np.array([1]), np.array([3]))
    tally = AggregatedComparison(function)(window, side(4, None), side(4, 4), FRESH[:2])
    assert (tally.correct, tally.wrong, tally.missing) == (correct, 3 - correct, 0)
    assert tally.union == 3 + tally.wrong


@pytest.mark.parametrize("function", ["sum", "count", "avg", "min", "max"])
def test_an_aggregate_over_no_units_is_no_answer(function):
    links, _ = link(np.array([0, 0, 1]), np.array([0, 1, 2]), keys=2)
    window = units_of_links(links, np.arange(2), np.ones(2, dtype=np.int64), np.array([3, 5]))
    ours, truth = side(None, None, 1), side(4, 4, None)
    tally = AggregatedComparison(function)(window, ours, truth, FRESH[:3])
    assert (tally.correct, tally.wrong, tally.missing, tally.union) == (0, 5, 3, 8)
    assert tally.estimated == 0.25


@pytest.mark.parametrize("text", ["", "100", "=5", "> ten", ">", "< nan", "<1 2"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(InputError, match="write for example '>100000'"):
        Condition.parse(text)


@pytest.mark.parametrize("text", ["<= 3.5", "?followers<=3.5", "  <=3.5 "])
def test_conditions(text):
    assert Condition.parse(text) == Condition("<=", 3.5)
