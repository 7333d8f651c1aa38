"""The worked example of planning-ahead section 5.2: ω = 150, β = 30, a mapping at t = 100.

Its remaining lifetime L is 5 at 100 and 3 at 160. A unit that is refreshed at 100 and stale again
at 190 is fresh for B = 3 evaluations, at 100, 130 and 160. Its score is min(L, B).
"""

import numpy as np
import pytest

from bestbefore.maintenance import Moment, Situation, elect, resolve_policy
from bestbefore.maintenance.election import describe
from bestbefore.simulator.windows import window_contents
from bestbefore.view.units import new_units
from bestbefore.windows import SlidingWindow

WINDOW = SlidingWindow(width_ms=150, slide_ms=30, t0_ms=10)
EXAMPLE, RIVAL = 0, 1
LONG = 10_000


@pytest.fixture
def situation_at():
    """Window and units at a time: the paper's mapping, and a rival that has just come in."""

    def at(t_ms, *, intervals):
        mappings = np.array([100, t_ms])
        numbers = np.arange(2)
        index = WINDOW.first_with(t_ms)
        assert WINDOW.closing(index) == t_ms
        (content,) = window_contents(
            mappings,
            numbers,
            numbers,
            window=WINDOW,
            evaluations=range(index, index + 1),
            links=None,
        )
        units = new_units(numbers, np.ones(2, dtype=np.int64), 1)
        units.best_before_ms[:] = t_ms
        units.interval_ms[:] = intervals
        return units, content

    return at


def scores(name, units, content, t_ms):
    situation = Situation(Moment(t_ms, width_ms=150, slide_ms=30), budget=1)
    candidates = describe(units, content.unit, content, situation)
    return resolve_policy(name).ranker.score(candidates, situation.moment).tolist()


def elected(name, units, content, t_ms, seed):
    situation = Situation(Moment(t_ms, width_ms=150, slide_ms=30), budget=1)
    rng = np.random.default_rng(seed)
    return elect(resolve_policy(name), units, content, situation, rng=rng).elected.tolist()


@pytest.mark.parametrize("name", ["IBM-BGP", "WSJ-WBM"])
@pytest.mark.parametrize(("t_ms", "remaining"), [(100, 5), (160, 3)])
def test_a_unit_that_stays_fresh_for_long_scores_its_remaining_lifetime(
    situation_at, name, t_ms, remaining
):
    units, content = situation_at(t_ms, intervals=[LONG, LONG])
    assert scores(name, units, content, t_ms)[EXAMPLE] == remaining


@pytest.mark.parametrize("name", ["IBM-BGP", "WSJ-WBM"])
def test_a_unit_that_is_stale_again_at_190_scores_3_at_100(situation_at, name):
    units, content = situation_at(100, intervals=[90, LONG])
    assert scores(name, units, content, 100)[EXAMPLE] == 3


@pytest.mark.parametrize("name", ["IBM-BGP", "WSJ-WBM"])
@pytest.mark.parametrize(
    ("t_ms", "interval_ms", "winner"),
    [
        # At 100 the paper's unit is worth 5 answers: a rival that is fresh for 4 is worth less.
        (100, 4 * 30, EXAMPLE),
        # At 160 it is worth 3: more than a rival's 2, less than a rival's 4.
        (160, 2 * 30, EXAMPLE),
        (160, 4 * 30, RIVAL),
    ],
)
def test_the_unit_with_more_correct_answers_to_come_is_elected(
    situation_at, name, t_ms, interval_ms, winner
):
    units, content = situation_at(t_ms, intervals=[LONG, interval_ms])
    for seed in range(5):
        assert elected(name, units, content, t_ms, seed) == [winner]
