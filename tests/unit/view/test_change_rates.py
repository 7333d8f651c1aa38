import numpy as np
import pytest

from bestbefore.view import ChangeRates

ALIKE = np.zeros(1)  # needed as often as all others


def learn(true_interval_ms, age_ms, polls, seed=0):
    rng = np.random.default_rng(seed)
    rates = ChangeRates(1, width_ms=10_000, slide_ms=1_000)
    unit = np.array([0])
    for _ in range(polls):
        changed = rng.random(1) < -np.expm1(-age_ms / true_interval_ms)
        rates.observe(unit, ALIKE, np.array([age_ms]), changed)
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


def test_when_it_changed_says_more_than_that_it_did():
    """Units that change between any two polls are told apart by when they last did."""
    rng, unit, polls_ms = np.random.default_rng(3), np.array([0]), np.array([10_000])
    found = {}
    for true_ms in (300, 1_500):
        told, silent = (ChangeRates(1, width_ms=10_000, slide_ms=1_000) for _ in range(2))
        for since in rng.exponential(true_ms, 300).astype(np.int64):
            told.observe(unit, ALIKE, polls_ms, np.array([True]), np.array([since]))
            silent.observe(unit, ALIKE, polls_ms, np.array([True]))
        found[true_ms] = (int(told.interval_ms(unit)[0]), int(silent.interval_ms(unit)[0]))
    # As near as the grid of rates has it.
    step = told.rate[-1] / told.rate[-2]
    assert all(true_ms / step < found[true_ms][0] < true_ms * step for true_ms in found)
    assert found[300][1] == found[1_500][1]
    # Not known when: as if nothing was said.
    told, silent = (ChangeRates(2, width_ms=10_000, slide_ms=1_000) for _ in range(2))
    both, changed = np.arange(2), np.array([True, False])
    told.observe(both, ALIKE, np.full(2, 5_000), changed, np.array([-1, 10]))
    silent.observe(both, ALIKE, np.full(2, 5_000), changed)
    assert (told.likelihood == silent.likelihood).all()


def test_units_are_learned_apart():
    rates = ChangeRates(2, width_ms=1_000, slide_ms=1_000)
    for _ in range(50):
        rates.observe(np.arange(2), ALIKE, np.full(2, 1_000), np.array([True, False]))
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
    assert 1 / rates.rate[[-1, 1]] == pytest.approx([shortest_ms, longest_ms])
    assert 1 / rates.rate[0] > 10 * longest_ms
    assert slide_ms < rates.interval_ms(np.array([0])) < 10 * slide_ms


def test_a_new_unit_is_like_the_others():
    """Of units that never change, or always do, a further one is expected to be one of them."""
    for changes, (least, most) in {False: (0.9, 1.0), True: (0.0, 0.1)}.items():
        rates = ChangeRates(41, width_ms=10_000, slide_ms=1_000)
        for _ in range(5):
            rates.observe(np.arange(40), ALIKE, np.full(40, 10_000), np.full(40, changes))
        fresh = rates.fresh(np.array([40]), ALIKE, np.array([10_000.0]))
        assert least <= fresh[0] <= most


def test_probabilities_of_being_fresh_are_kept_on_average():
    """Of all units that are fresh with a probability p by the estimate, about p are."""
    rng = np.random.default_rng(3)
    units = np.arange(400)
    interval_ms = np.where(units % 3 == 0, 10**8, rng.uniform(3_000, 60_000, 400))
    rates = ChangeRates(400, width_ms=10_000, slide_ms=1_000)
    expected, found = [], []
    for step in range(12):
        age_ms = rng.integers(1_000, 40_000, 400)
        changed = rng.random(400) < -np.expm1(-age_ms / interval_ms)
        if step >= 4:
            expected.append(rates.fresh(units, np.zeros(400), age_ms.astype(float)))
            found.append(~changed)
        rates.observe(units, ALIKE, age_ms, changed)
    expected, found = np.concatenate(expected), np.concatenate(found)
    for low in np.arange(0, 1, 0.2):
        among = (expected >= low) & (expected < low + 0.2)
        assert found[among].mean() == pytest.approx(expected[among].mean(), abs=0.06)


def rarely_and_often(rates, *, often_ms, rarely_ms, polled=40, polls=3):
    """Poll some of 200 units, every other of which is needed often, at the rates of either kind."""
    rng, units = np.random.default_rng(8), np.arange(200)
    need = np.where(units % 2, 1.0, -1.0)
    # Those needed often are polled more.
    chosen = np.concatenate([units[1::2][: 3 * polled // 2], units[::2][: polled // 2]])
    for _ in range(polls):
        age_ms = rng.integers(1_000, 60_000, len(chosen))
        mean_ms = np.where(need > 0, often_ms, rarely_ms)[chosen]
        changed = rng.random(len(chosen)) < -np.expm1(-age_ms / mean_ms)
        rates.observe(chosen, need[chosen], age_ms, changed)
    return need[150:152], units[150:152]


def test_units_needed_rarely_are_like_those_needed_rarely_not_like_those_refreshed():
    for rarely_ms, often_ms in ((200_000, 10_000), (10_000, 200_000)):
        rates = ChangeRates(200, width_ms=10_000, slide_ms=1_000)
        need, new = rarely_and_often(rates, rarely_ms=rarely_ms, often_ms=often_ms)
        found = rates.fresh(new, need, np.full(2, 20_000.0))
        true = np.exp(-20_000 / np.array([rarely_ms, often_ms]))
        assert found == pytest.approx(true, abs=0.15)


def test_where_need_tells_nothing_of_changes_it_is_not_listened_to():
    rates = ChangeRates(200, width_ms=10_000, slide_ms=1_000)
    need, new = rarely_and_often(rates, rarely_ms=30_000, often_ms=30_000)
    rarely, often = rates.fresh(new, need, np.full(2, 30_000.0))
    assert rarely == pytest.approx(often, abs=0.1)


def test_a_rate_that_changes_is_followed_within_a_few_refreshes():
    rates = ChangeRates(1, width_ms=10_000, slide_ms=1_000)
    unit, age_ms = np.array([0]), np.array([5_000])

    def fresh():
        return rates.fresh(unit, ALIKE, np.array([5_000.0]))[0]

    for _ in range(40):
        rates.observe(unit, ALIKE, age_ms, np.array([False]))
    assert fresh() > 0.95
    for _ in range(4):
        rates.observe(unit, ALIKE, age_ms, np.array([True]))
    assert fresh() < 0.5


def test_what_is_stated_and_what_is_seen_may_be_as_far_apart_as_can_be():
    """Stated to change every second, and unchanged for years; or the other way round."""
    year_ms = 365 * 86_400_000
    rates = ChangeRates(2, width_ms=10_000, slide_ms=1_000, stated=True)
    units, stated_ms = np.arange(2), np.array([1, 100 * year_ms])
    for age_ms in (10 * year_ms, *[1_000] * 8, 10 * year_ms):
        rates.observe(units, stated_ms, np.full(2, age_ms), np.array([False, True]))
        fresh = rates.fresh(units, stated_ms, np.full(2, 5_000.0))
        assert np.isfinite(rates.mean(units, stated_ms)).all()
        assert ((fresh >= 0) & (fresh <= 1)).all()
    assert fresh[0] > 0.9
    assert fresh[1] < 0.7


def test_a_stated_interval_is_where_learning_starts():
    rates = ChangeRates(1, width_ms=10_000, slide_ms=1_000, stated=True)
    unit, stated_ms = np.array([0]), np.array([20_000])
    assert rates.fresh(unit, stated_ms, np.array([20_000.0]))[0] == pytest.approx(0.37, abs=0.05)
    for _ in range(60):
        rates.observe(unit, stated_ms, np.array([20_000]), np.array([False]))
    assert rates.fresh(unit, stated_ms, np.array([20_000.0]))[0] > 0.8


def test_what_is_known_of_units_does_not_depend_on_their_order():
    rates = ChangeRates(10, width_ms=4_000, slide_ms=1_000)
    rates.observe(np.array([7]), np.ones(1), np.array([9_000]), np.array([True]))
    rates.observe(np.array([9]), np.ones(1), np.array([9_000]), np.array([False]))
    mixed = np.array([5, 9, 7])
    one_by_one = [int(rates.interval_ms(np.array([unit]))[0]) for unit in mixed]
    assert rates.interval_ms(mixed).tolist() == one_by_one


def refreshed(units):
    """What was learned when each of some units was refreshed once, in turns of ten."""
    rates = ChangeRates(units, width_ms=4_000, slide_ms=1_000)
    rng = np.random.default_rng(3)
    for some in np.split(np.arange(units), units // 10):
        changed = rng.random(len(some)) < 0.3
        rates.observe(some, np.zeros(len(some)), rng.integers(1, 60_000, len(some)), changed)
    return rates


def test_the_more_is_known_the_more_has_to_be_learned_before_the_prior_is_another():
    """Of 1,280 units that were refreshed, ten more refreshes tell something of all."""
    rates = refreshed(1_280)
    before, left = rates.prior, 10 - rates.unfitted
    assert 0 < left <= 10
    for unit in range(left):
        assert rates.prior is before
        rates.observe(np.array([unit]), ALIKE, np.array([3_000]), np.array([True]))
    assert rates.prior.tolist() != before.tolist()


def test_what_is_restored_is_fitted_when_it_would_have_been():
    rates = refreshed(1_280)
    again = ChangeRates(1_280, width_ms=4_000, slide_ms=1_000)
    again.restore(np.arange(1_280), rates.learned(np.arange(1_280)))
    again.restore_population(rates.population)
    for unit in range(40):
        for each in (rates, again):
            each.observe(np.array([unit]), ALIKE, np.array([3_000]), np.array([unit % 2 == 0]))
        assert again.prior.tolist() == rates.prior.tolist()
