"""Elections in which most candidates are never scored elect what they would if all were."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.maintenance import Moment, Situation, elect, resolve_policy, selection
from bestbefore.maintenance.candidates import CandidateSet
from bestbefore.maintenance.rankers import expected_gain
from bestbefore.maintenance.rankers.membership import Membership
from bestbefore.maintenance.selection import Bounds, highest_scores
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view import ChangeRates
from bestbefore.view.change_rates import NEEDS
from bestbefore.view.units import new_units

MOMENT = Moment(100_000, 10_000, 1_000)
SEEDS = st.integers(0, 2**32 - 1)
CASES = ["random", "regular", "FILTER", "FILTER, told", "FILTER, stated"]


def few_are_many():
    """Have what is done for many candidates done for some dozens."""
    return mock.patch.multiple(selection, _MANY=20, _STRIDE=2, _BLOCK=16, _WORTHWHILE=1)


def a_view(rng, size, *, case):
    """Units that were polled a few times, some of which are missing, needed by a window or not."""
    regular = case == "regular"
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    period_ms, phase = rng.choice([1_500, 6_000, 30_000], size), rng.random(size)
    stated, units.interval_ms[:] = case == "FILTER, stated", period_ms
    rates = ChangeRates(size, width_ms=MOMENT.width_ms, slide_ms=MOMENT.slide_ms, stated=stated)
    times_ms = 1_000 * np.sort(rng.integers(1, 100, (size, 5)), axis=1)
    for before_ms, now_ms in zip(times_ms.T[:-1], times_ms.T[1:], strict=True):
        turns = np.stack([before_ms, now_ms]) / period_ms + phase
        changed = np.diff(np.floor(turns), axis=0)[0] > 0
        if not regular:
            changed = rng.random(size) < -np.expm1(-np.diff(turns, axis=0)[0])
        polled = np.flatnonzero((now_ms > before_ms) & (rng.random(size) < 0.9))
        age_ms = (now_ms - before_ms)[polled]
        hints = period_ms.astype(float) if stated else rng.choice(NEEDS, size)
        rates.observe(polled, hints[polled], age_ms, changed[polled])
    rates.regular.found = regular
    units.rates, units.refreshed_ms[:] = rates, times_ms[:, -1] - rng.choice([0, 900])
    if case == "FILTER, told":
        units.rates = None
    units.value[:] = np.where(rng.random(size) < 0.1, np.nan, rng.normal(1_000, 300, size))
    units.moves[:], units.squares[:] = rng.integers(0, 4, size), rng.gamma(2.0, 5_000.0, size)
    units.rises[:], units.falls[:] = rng.integers(0, rng.choice([1, 3, 30], (2, 1)), (2, size))
    if rng.random() < 0.3:
        units.moves[:] = units.squares[:] = 0.0
    units.held[:] = rng.random(size) < rng.choice([0.9, 1.0])
    units.watched = 100
    units.set_needed(np.arange(size), rng.integers(0, 100, size).astype(float))
    return units


def a_window(rng, size):
    unit = np.flatnonzero(rng.random(size) < rng.choice([0.7, 1.0]))
    return WindowUnits(unit, rng.integers(1, 11, len(unit)), rng.integers(1, 4, len(unit)))


@pytest.mark.parametrize("case", CASES)
@given(SEEDS, st.integers(30, 300), st.integers(1, 12))
def test_an_election_is_the_one_in_which_every_candidate_is_scored(case, seed, size, budget):
    rng = np.random.default_rng(seed)
    units, window = a_view(rng, size, case=case), a_window(rng, size)
    threshold = 1_000.0 if "FILTER" in case else None
    situation = Situation(MOMENT, budget, threshold=threshold, shown_above=bool(seed % 2))
    candidates = CandidateSet(
        window.unit, units, window, threshold=threshold, shown_above=bool(seed % 2)
    )
    gains = expected_gain._Gains.of(candidates, MOMENT)
    scores = dict(zip(window.unit.tolist(), gains.priority(slice(None)), strict=True))

    def elected():
        policy = resolve_policy("EFG")
        found = elect(policy, units, window, situation, rng=np.random.default_rng(seed))
        return [scores[unit] for unit in found.elected.tolist()]

    with few_are_many():
        found = elected()
    assert found == pytest.approx(elected(), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("case", CASES)
@given(SEEDS)
def test_no_gain_is_above_its_bounds(case, seed):
    rng = np.random.default_rng(seed)
    units, window = a_view(rng, 60, case=case), a_window(rng, 60)
    threshold = 1_000.0 if "FILTER" in case else None
    shown_above = rng.choice([None, False, True])
    gains = expected_gain._Gains.of(
        CandidateSet(window.unit, units, window, threshold=threshold, shown_above=shown_above),
        MOMENT,
    )
    everyone, bounds = np.arange(len(window)), gains.bounds()
    score, bound = gains.priority(everyone), bounds.loose(everyone)
    assert (score <= bound).all()
    for closer in bounds.closer:
        bound = closer(everyone, bound)
        assert (score <= bound).all()


@pytest.mark.parametrize("shown", [False, True])
@given(SEEDS)
def test_no_value_is_farther_above_its_mean_than_the_loose_bounds_allow(shown, seed):
    rng = np.random.default_rng(seed)
    size, drift = 500, rng.choice([0.0, rng.uniform(0.0, 0.75)])
    member = Membership(
        rate=10.0 ** rng.uniform(-4, 1, size),
        distance=rng.choice([0.0, 1.0], size) * 10.0 ** rng.uniform(-2, 3, size),
        drift=drift * rng.choice([-1.0, rng.uniform(-1.0, 1.0), 1.0], size),
        freedom=1.5 + rng.choice([0.0, 100.0], size) * rng.random(size),
        shown=np.full(size, shown),
    )
    age = 10.0 ** rng.uniform(0, 3, size)
    low = (age - 0.5) * rng.choice([0.0, rng.random()], size)
    wrong, least = member.wrong_at_least(age)
    until, whole = member.integrals(low, age - 0.5)
    for found, bound in zip((until, whole), least(low, age - 0.5), strict=True):
        assert (bound <= found * (1 + 1e-6) + 1e-12).all()
    spreads = 0.4 * np.abs(member.drift) / np.sqrt(1.0 - 0.5 * drift**2)
    spreads *= np.sqrt(1.0 + member.rate * age)
    most = expected_gain._RANDOM * (1.0 if shown else 0.5)
    assert (wrong <= (1.0 if shown else 0.5 + spreads) + 1e-6).all()
    span = age - 0.5 - low
    assert (span * wrong - whole <= span * (most + spreads) + 0.5 * wrong).all()
    faster = replace(member, rate=member.rate * (1.0 + rng.exponential(1.0, size)))
    assert (wrong <= faster.wrong_at_most(age) * (1 + 1e-6) + 1e-12).all()


@given(SEEDS, st.floats(-0.5, 0.5))
def test_no_mean_rate_is_above_its_bound(seed, lean):
    rng = np.random.default_rng(seed)
    for case in ("random", "FILTER, stated"):
        units = a_view(rng, 60, case=case)
        units.rates.lean, everyone = lean, np.arange(60)
        hints = units.interval_ms.astype(float) if units.rates.stated else rng.choice(NEEDS, 60)
        mean = units.rates.mean(everyone, hints)
        assert (mean <= units.rates.mean_at_most(everyone) * (1 + 1e-5)).all()


@given(SEEDS, st.integers(1, 400), st.integers(0, 40), st.booleans())
def test_the_highest_scores_are_all_known_whatever_the_bounds(seed, size, n, closer):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-5, rng.choice([0, 10, 1_000]), size).astype(float)
    scores[:: rng.choice([2, 7])] += rng.choice([-50, 0, 50])
    loose, close = scores + rng.exponential(5.0, size), scores + rng.exponential(1.0, size)
    bounds = Bounds(lambda which: loose[which], (lambda which, _: close[which],) if closer else ())
    with few_are_many():
        pool, known = highest_scores(size, n, lambda which: scores[which], bounds)
    found = np.full(size, -np.inf)
    found[slice(None) if pool is None else pool] = known
    assert ((found == scores) | (found == -np.inf)).all()
    among = scores >= np.sort(scores)[-min(n, size)] if n else np.zeros(size, dtype=bool)
    assert (found[among] == scores[among]).all()
