import numpy as np
import pytest

from bestbefore.view import ChangeRates


def learn(true_interval_ms, age_ms, polls, seed=0):
    rng = np.random.default_rng(seed)
    rates = ChangeRates(1, width_ms=10_000, slide_ms=1_000)
    unit = np.array([0])
    for _ in range(polls):
        changed = rng.random(1) < -np.expm1(-age_ms / true_interval_ms)
        rates.observe(unit, np.array([age_ms]), changed)
    return int(rates.interval_ms(unit)[0])


@pytest.mark.parametrize(
    ("true_interval_ms", "age_ms"),
    [(10_000, 20_000), (60_000, 20_000), (60_000, 60_000), (600_000, 20_000), (600_000, 60_000)],
)
def test_intervals_are_learned_from_polls(true_interval_ms, age_ms):
    found = [learn(true_interval_ms, age_ms, 400, seed) for seed in range(5)]
    assert np.median(found) == pytest.approx(true_interval_ms, rel=0.4)


def test_several_changes_between_polls_do_not_make_the_rate_too_low():
    """Every poll of a unit that changes ten times in between finds it changed."""
    assert learn(1_000, 10_000, 200) < 3_000


def test_units_are_learned_apart():
    rates = ChangeRates(2, width_ms=1_000, slide_ms=1_000)
    for _ in range(50):
        rates.observe(np.arange(2), np.full(2, 1_000), np.array([True, False]))
    fast, slow = rates.interval_ms(np.arange(2))
    assert fast < 1_000
    assert slow > 20_000


@pytest.mark.parametrize(
    ("width_ms", "slide_ms", "shortest_ms", "longest_ms"),
    [(10_000, 1_000, 100, 10**7), (1_000, 5_000, 500, 5 * 10**6), (40, 4, 1, 40_000)],
)
def test_before_it_was_seen_a_unit_may_change_at_any_rate_that_matters(
    width_ms, slide_ms, shortest_ms, longest_ms
):
    rates = ChangeRates(1, width_ms=width_ms, slide_ms=slide_ms)
    assert 1 / rates.rate[[-1, 0]] == pytest.approx([shortest_ms, longest_ms])
    assert rates.interval_ms(np.array([0])) == round((shortest_ms * longest_ms) ** 0.5)
