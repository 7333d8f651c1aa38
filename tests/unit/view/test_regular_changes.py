import numpy as np
import pytest

from bestbefore.view import ChangeRates

SLIDE_MS, UNITS, POLLS = 1_000, 100, 30


def polled(gaps, seed=0):
    """Units that were polled at random times, and when each has changed and was polled last.

    `gaps` draws the times between the changes of a unit, given a generator and a mean.
    """
    rng = np.random.default_rng(seed)
    rates = ChangeRates(UNITS, width_ms=10_000, slide_ms=SLIDE_MS)
    mean_ms = rng.uniform(8_000, 30_000, UNITS)
    first = rng.random((UNITS, 1)) * mean_ms[:, None]
    changes = np.hstack([first, gaps(rng, mean_ms[:, None], (UNITS, 200))]).cumsum(axis=1)
    last = np.zeros(UNITS)
    for _ in range(POLLS):
        now = last + rng.integers(1, 20, UNITS) * SLIDE_MS
        changed = ((changes > last[:, None]) & (changes <= now[:, None])).any(axis=1)
        rates.observe(np.arange(UNITS), np.zeros(UNITS), (now - last).astype(np.int64), changed)
        last = now
    return rates, changes, last


def evenly(rng, mean_ms, shape):
    return np.broadcast_to(mean_ms, shape)


def nearly_evenly(rng, mean_ms, shape):
    return mean_ms * rng.uniform(0.8, 1.2, shape)


def at_random(rng, mean_ms, shape):
    return rng.exponential(1.0, shape) * mean_ms


@pytest.mark.parametrize("gaps", [evenly, nearly_evenly])
def test_regular_intervals_are_found(gaps):
    for seed in range(3):
        rates, _, _ = polled(gaps, seed)
        assert rates.tells_regular
        assert rates.regular.share > 0.7


def test_what_changes_at_random_is_not_taken_for_regular():
    for seed in range(3):
        rates, _, _ = polled(at_random, seed)
        assert not rates.tells_regular
        assert rates.regular.share < 0.3


def test_estimates_are_as_often_true_as_they_say_and_nearer_the_truth_than_at_random():
    said, blind, true = [], [], []
    units = np.arange(UNITS)
    for seed in range(5):
        rates, changes, last = polled(evenly, seed)
        for age_ms in np.arange(1, 15) * float(SLIDE_MS):
            ages = np.full(UNITS, age_ms)
            within = (changes > last[:, None]) & (changes <= (last + ages)[:, None])
            true.append(~within.any(axis=1))
            said.append(rates.still_fresh(units, np.zeros(UNITS), ages))
            blind.append(rates.fresh(units, np.zeros(UNITS), ages))
    said, blind, true = (np.concatenate(each) for each in (said, blind, true))
    for low in np.arange(0.0, 1.0, 0.25):
        among = (said >= low) & (said < low + 0.25)
        assert said[among].mean() == pytest.approx(true[among].mean(), abs=0.08)
    assert ((said - true) ** 2).mean() < 0.85 * ((blind - true) ** 2).mean()


def test_sums_are_those_of_the_probability_that_nothing_changes_from_now_on():
    rates, _, _ = polled(evenly)
    units, slide = np.arange(UNITS), SLIDE_MS // 10
    age, lasting = np.full(UNITS, 65.0), np.full(UNITS, 20.0)
    fresh, whole, present = rates.regular.sums(units, age, lasting, slide)
    assert fresh == pytest.approx(rates.regular.fresh(units, age * slide))
    assert (present <= 20.0 + 1e-9).all()
    assert (present <= whole).all()
    assert (whole <= 65.0 + 1e-9).all()
    # Refreshed just now, a unit does not change as long as it stays fresh.
    none = np.zeros(UNITS)
    (_, _, ahead) = rates.regular.sums(units, none, lasting, slide)
    later = [rates.regular.fresh(units, np.full(UNITS, float(k * slide))) for k in range(20)]
    assert ahead == pytest.approx(np.sum(later, axis=0), abs=0.05)


def test_without_a_last_change_any_time_is_as_likely():
    rates, _, _ = polled(evenly)
    unit, age_ms = np.array([0]), np.array([9_000.0])
    rates.regular.lose_track(unit)
    periods = 1.0 / rates.rate
    weight = rates.regular.likelihood[0] * rates.regular.prior
    mean = (weight * np.clip(1 - age_ms / periods, 0, None)).sum() / weight.sum()
    assert rates.regular.fresh(unit, age_ms)[0] == pytest.approx(mean, abs=0.1)
