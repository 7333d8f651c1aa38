"""EFG is held against its formula, written out as a sum over evaluations."""

from dataclasses import replace

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, elect, resolve_policy
from bestbefore.maintenance.candidates import CandidateSet
from bestbefore.maintenance.rankers.expected_gain import ExpectedGain
from bestbefore.maintenance.rankers.membership import Membership, Steps, student_tail
from bestbefore.maintenance.window_units import WindowUnits, units_of_links
from bestbefore.view import ChangeRates
from bestbefore.view.links import link
from bestbefore.view.units import new_units

MOMENT = Moment(60_000, 4_000, 1_000)
EFG = ExpectedGain()


def some_units(size, *, seed=1):
    """Units of whole ages in evaluations, needed more or less often."""
    rng = np.random.default_rng(seed)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    units.interval_ms[:] = rng.integers(500, 20_000, size)
    units.refreshed_ms[:] = 60_000 - 1_000 * rng.integers(0, 30, size)
    units.set_needed(np.arange(size), rng.integers(1, 50, size).astype(float))
    units.watched = 60
    return units


def window_of(units, *, remaining=None, mappings=None):
    size = len(units)
    ones = np.ones(size, dtype=np.int64)
    return WindowUnits(
        np.arange(size),
        ones if remaining is None else remaining,
        ones if mappings is None else mappings,
    )


def candidates_of(units, window=None, **more):
    return CandidateSet(np.arange(len(units)), units, window or window_of(units), **more)


def plainly(wrong, age, remaining, rows, later):
    """Σ_{k<K} w_k (d(K) − d(k))."""
    return sum(
        (rows if k < remaining else later) * (wrong(age) - wrong(k)) for k in range(int(age))
    )


def test_the_gain_is_the_sum_over_the_evaluations_until_the_age_has_come_again():
    units, rng = some_units(40), np.random.default_rng(2)
    remaining, mappings = rng.integers(1, 5, 40), rng.integers(1, 4, 40)
    candidates = candidates_of(units, window_of(units, remaining=remaining, mappings=mappings))
    occupancy, found = candidates.occupancy(MOMENT), EFG.score(candidates, MOMENT)
    for unit in range(40):
        rate = 1_000 / units.interval_ms[unit]
        age = (60_000 - units.refreshed_ms[unit]) / 1_000
        expected = plainly(
            lambda k, rate=rate: -np.expm1(-rate * k),
            age,
            remaining[unit],
            mappings[unit],
            mappings[unit] * occupancy[unit],
        )
        assert found[unit] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_where_rates_are_learned_it_is_the_mean_over_all_that_they_may_be():
    units = some_units(30)
    rates = units.rates = ChangeRates(30, width_ms=4_000, slide_ms=1_000)
    rng, everyone = np.random.default_rng(4), np.arange(30)
    for _ in range(3):
        rates.observe(
            everyone, units.hints(everyone), rng.integers(1_000, 9_000, 30), rng.random(30) < 0.4
        )
    candidates = candidates_of(units)
    found = EFG.score(candidates, MOMENT)
    ((_, weights),) = rates.weights(everyone, units.hints(everyone))
    weights /= weights.sum(axis=1, keepdims=True)
    units.rates = None
    expected = np.zeros(30)
    for rate, weight in zip(rates.rate, weights.T, strict=True):
        units.interval_ms = np.full(30, 1 / rate)
        expected += weight * EFG.score(candidates, MOMENT)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_of_units_with_regular_changes_what_is_due_comes_before_what_has_just_changed():
    """Fifty units change every 20 s; all were last refreshed 6 s ago, when half had changed."""
    units, everyone = some_units(50), np.arange(50)
    units.refreshed_ms[:] = 54_000
    units.set_needed(everyone, np.full(50, 30.0))
    rates = units.rates = ChangeRates(50, width_ms=4_000, slide_ms=1_000)
    first, last = np.where(everyone < 25, 1, 17) * 1_000, 0
    for now in range(6_000, 600_001, 6_000):
        changed = (now - first) // 20_000 > (last - first) // 20_000
        rates.observe(everyone, np.zeros(50), np.full(50, now - last), changed)
        last = now
    assert rates.tells_regular
    just_changed = changed
    assert 0 < np.count_nonzero(just_changed) < 50
    due = (600_000 + 6_000 - first) // 20_000 > (600_000 - first) // 20_000
    assert (due & ~just_changed).any()
    candidates = candidates_of(units)
    found = EFG.score(candidates, MOMENT)
    assert found[due].min() > 1.2 * found[just_changed].max()
    rates.regular.found = False
    at_random = EFG.score(candidates, MOMENT)
    assert at_random[due].min() < 1.2 * at_random[just_changed].max()


def test_known_times_of_change_make_it_what_wbm_ranks_by_and_what_comes_later():
    units = some_units(20)
    units.periodic[:] = True
    units.best_before_ms[:] = np.where(np.arange(20) % 2, 58_500, 61_500)
    remaining = np.full(20, 3)
    candidates = candidates_of(units, window_of(units, remaining=remaining))
    occupancy, found = candidates.occupancy(MOMENT), EFG.score(candidates, MOMENT)
    for unit in range(20):
        change, interval = 58_500, int(units.interval_ms[unit])
        while change <= 60_000:
            change += interval
        lasts = -(-(change - 60_000) // 1_000)
        stale = unit % 2 == 1
        gain = min(3, lasts) + occupancy[unit] * max(0, lasts - 3) if stale else 0
        assert found[unit] == pytest.approx(gain)


def test_a_unit_that_is_missing_is_wrong_for_certain():
    units = some_units(6)
    units.interval_ms[:] = 5_000
    units.set_needed(np.arange(6), np.full(6, 10.0))
    units.refreshed_ms[:] = [59_000, 55_000, 50_000, 40_000, 35_000, 60_000]
    units.held[5] = False
    found = EFG.score(candidates_of(units), MOMENT)
    assert np.argmax(found) == 5
    assert (np.diff(found[:5]) > 0).all()


def test_what_is_hardly_ever_wrong_gets_a_tenth_of_the_budget():
    units = some_units(500)
    units.interval_ms[:], units.refreshed_ms[:] = 10**9, 59_000
    units.interval_ms[:7] = 1_000
    situation = Situation(MOMENT, 30)
    policy, window = resolve_policy("EFG"), window_of(units)
    elected = elect(policy, units, window, situation, rng=np.random.default_rng(1)).elected
    assert len(elected) == 7 + 3
    assert sorted(elected[:7]) == list(range(7))
    smaller = Situation(MOMENT, 12)
    counts = [
        len(elect(policy, units, window, smaller, rng=np.random.default_rng(n)).elected)
        for n in range(60)
    ]
    assert set(counts) == {8, 9}
    assert np.mean(counts) == pytest.approx(7 + 1.2, abs=0.2)


def test_with_a_filter_only_what_may_cross_the_threshold_counts():
    units = some_units(5)
    units.interval_ms[:], units.refreshed_ms[:] = 10_000, 50_000
    units.set_needed(np.arange(len(units)), np.full(len(units), 30.0))
    units.value[:] = [1_010, 1_300, 990, 100_000, np.nan]
    units.moves[:], units.squares[:] = 10, 10 * 50**2
    units.rises[:] = 10
    found = EFG.score(candidates_of(units, threshold=1_000.0), MOMENT)
    # All values rise: the one below the threshold will cross it, the one above hardly.
    assert np.argmax(found) == 2
    assert found[0] > found[1] > found[3] >= 0
    # What has no number may get one.
    assert found[3] < found[4] < found[2]
    assert found[3] < 0.05 * found[2]


def test_before_any_was_seen_a_step_is_the_way_to_the_threshold_of_the_nearest_tenth():
    units = some_units(31)
    units.interval_ms[:], units.refreshed_ms[:] = 10_000, 50_000
    units.set_needed(np.arange(len(units)), np.full(len(units), 30.0))
    # A third lies on the threshold, which tells nothing, and one has no number yet.
    units.value[:] = [1_000.0] * 10 + [1_000.0 - 50.0 * n for n in range(1, 21)] + [np.nan]
    candidates = candidates_of(units, threshold=1_000.0)
    assert Steps.of(candidates).square == pytest.approx(145.0**2)
    found = EFG.score(candidates, MOMENT)
    assert found[10] > found[15] > found[29] > 0.005 * found[10]
    units.value[:] = 1_000.0
    assert Steps.of(candidates).square == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[np.inf] * 5, [np.inf, 1e308, -1e308, 5.0, np.nan]])
def test_values_of_any_size_have_a_gain(values):
    units = some_units(5)
    units.value[:] = values
    candidates = candidates_of(units, threshold=1_000.0)
    assert np.isfinite(Steps.of(candidates).square)
    assert np.isfinite(EFG.score(candidates, MOMENT)).all()


def test_where_none_was_seen_to_move_all_are_alike():
    units = some_units(6)
    units.value[:] = [1_010, 1_300, 990, 100_000, np.nan, 1_000]
    candidates, rate = candidates_of(units, threshold=1_000.0), np.full(6, 0.3)
    common = Steps.of(candidates)
    assert not common.seen
    ages = np.arange(6.0)
    found, plain = (
        Membership.of(candidates, rate, replace(common, seen=seen)).wrong(ages)
        for seen in (False, True)
    )
    assert found == pytest.approx(plain)
    units.moves[0], units.squares[0], units.rises[0] = 1, 400.0, 1
    assert Steps.of(candidates).seen


def test_that_values_rise_as_often_as_they_fall_counts_as_ten_of_each():
    units = some_units(4)
    units.value[:], units.rises[:] = 900.0, [1, 2, 3, 4]
    common = Steps.of(candidates_of(units, threshold=1_000.0))
    assert common.rises == pytest.approx(20 / 30)


def test_values_that_an_answer_shows_are_wrong_as_soon_as_they_change():
    units = some_units(4)
    units.interval_ms[:], units.refreshed_ms[:] = 10_000, 50_000
    units.set_needed(np.arange(len(units)), np.full(len(units), 30.0))
    units.value[:] = [1_010, 90_000, 10, 995]
    units.moves[:], units.squares[:] = 10, 10 * 50**2
    gains = {
        shown: EFG.score(candidates_of(units, threshold=1_000.0, shown_above=shown), MOMENT)
        for shown in (None, True, False)
    }
    assert gains[True][1] == pytest.approx(gains[True][0])
    assert gains[True][2] < 0.05 * gains[True][0]
    assert gains[False][2] == pytest.approx(gains[False][3])
    assert gains[None][1] < 0.05 * gains[True][1]


def test_aggregated_units_are_completed_join_key_by_join_key():
    """Two doubtful units make a whole answer; one of four does not."""
    units = some_units(6)
    units.interval_ms[:], units.refreshed_ms[:] = 2_000, 40_000
    links, _ = link(np.array([0, 0, 1, 1, 1, 1]), np.arange(6), keys=2)
    window = units_of_links(links, np.array([0, 1]), np.array([2, 2]), np.array([1, 1]))
    situation = Situation(MOMENT, 3, aggregated=True)
    found = elect(resolve_policy("EFG"), units, window, situation, rng=np.random.default_rng(1))
    assert sorted(found.elected[:2]) == [0, 1]
    assert len(found.elected) == 3
    assert len(set(found.elected)) == 3


@pytest.mark.parametrize(
    ("z", "freedom", "tail"),
    [(0, 3, 0.5), (2.0, 2, 0.0918), (-2.0, 2, 0.9082), (1.0, 5, 0.1816), (3.0, 10, 0.0067)],
)
def test_tails_of_students_distribution(z, freedom, tail):
    found = student_tail(np.array([float(z)]), np.array([float(freedom)]))
    assert found[0] == pytest.approx(tail, abs=0.01)
