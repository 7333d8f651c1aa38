"""BOUND's schedule: by hand where that is possible, and against the best of all schedules."""

from itertools import combinations, product
from math import exp

import numpy as np
import pytest

from bestbefore.errors import PolicyError
from bestbefore.experiments.runs import Simulation, Task
from bestbefore.maintenance import resolve_policy
from bestbefore.maintenance.proposers import proposers
from bestbefore.simulator import Condition, Setting, run
from bestbefore.simulator.bound import offline_schedule

from .test_scenario import periodic, scenario


def laid_out(needs, background, **more):
    """A scenario whose evaluations, every 10 ms, need the units that the words spell."""
    stream = [(10 * at + 1, key) for at, word in enumerate([*needs, needs[0]]) for key in word]
    return scenario(stream, background, width_ms=10, **more)


def constant(units):
    return [(0, unit, "1") for unit in units]


def scheduled(made, budget, proposer="WSJ"):
    """What each evaluation refreshes, spelled."""
    found = offline_schedule(made, proposers[proposer], budget)
    return ["".join(made.units[unit] for unit in units) for units in found]


@pytest.mark.parametrize(
    ("needs", "schedule"),
    [
        # a serves twice, and c is at least fresh when it is needed: 2 + 2x, all others 2 + x + x².
        (["ab", "ac"], ["a", "c"]),
        # c is still needed when a no longer is: 3 + 3x, the other way round 3 + 2x + x².
        (["ac", "ac", "bc"], ["a", "c", "b"]),
        # The middle is where a gains most, as long as nothing else is scheduled: then 3 + x² in
        # all. Between two others of a it gains less than b, and 3 + x is reached.
        (["a", "ab", "a"], ["a", "b", "a"]),
    ],
)
def test_schedules_by_hand(needs, schedule):
    """Every unit is fresh after a slide with the probability x = 1/e."""
    made = laid_out(needs, constant("abc"), intervals=dict.fromkeys("abc", 10))
    assert scheduled(made, 1) == schedule


PERIODIC = [*periodic("p", 0, *range(5, 200, 10)), *periodic("q", 0, 12, 52, 92, 132)]


def test_periodic_changes_are_foreseen():
    """The unit p changes before every evaluation; q before the second one, then not till 52."""
    made = laid_out(["pq"] * 4, PERIODIC)
    assert scheduled(made, 1) == ["p", "q", "p", "p"]
    series = run(made, resolve_policy("BOUND"), budget=1, seed=0)
    assert series.correct.tolist() == [2, 1, 2, 2]
    assert series.refreshes.tolist() == [1, 1, 1, 1]


def test_what_gains_nothing_is_not_refreshed():
    assert scheduled(laid_out(["q"] * 6, PERIODIC), 5) == ["", "q", "", "", "", "q"]


def test_stated_intervals_tell_no_phase():
    """By its rate alone, q may have changed before the first evaluation too."""
    made = laid_out(["q"] * 6, PERIODIC, intervals={"q": 40})
    assert scheduled(made, 5) == ["q"] * 6


def test_among_all_units_it_also_refreshes_before_they_are_needed():
    background = [
        (0, "c", "1"),
        *(row for key in "ab" for row in periodic(key, 0, 5, 105, 205, 305)),
    ]
    made = laid_out(["c", "c", "ab"], background)
    correct = {
        name: run(made, resolve_policy(name), budget=1, seed=0).correct.tolist()
        for name in ("BOUND", "GNR-BOUND")
    }
    assert correct == {"BOUND": [1, 1, 1], "GNR-BOUND": [1, 1, 2]}


def test_a_unit_without_a_value_at_the_start_is_not_in_the_view():
    made = laid_out(["ab", "ab"], [(0, "a", "1"), (9, "b", "1")])
    assert scheduled(made, 2) == ["a", "a"]
    assert scheduled(laid_out(["b"], [(9, "b", "1")]), 1) == [""]


def test_no_budget_no_refresh():
    made = laid_out(["ab", "ab"], constant("ab"))
    assert scheduled(made, 0) == ["", ""]


def expected(made, schedule):
    """The expected number of fresh answers, unit by unit and evaluation by evaluation."""
    initial, total = made.background.versions(0), 0.0
    refreshed = {unit: (0, initial[unit]) for unit in range(len(made.units))}
    for evaluation, window, names in zip(made.evaluations, made.contents, schedule, strict=True):
        t_ms = made.window.closing(evaluation)
        version = made.background.versions(t_ms)
        for unit in map(made.units.index, names):
            refreshed[unit] = t_ms, version[unit]
        for unit, rows in zip(window.unit, window.mappings, strict=True):
            then_ms, had = refreshed[unit]
            age = (t_ms - then_ms) / made.interval_ms[unit]
            total += rows * (had == version[unit] if made.periodic[unit] else exp(-age))
    return total


def best(made, budget, proposer):
    """The most that any schedule is worth: all are tried."""
    offered = [
        [
            made.units[unit]
            for unit in (window.unit if proposer == "WSJ" else range(len(made.units)))
        ]
        for window in made.contents
    ]
    choices = [combinations(units, min(budget, len(units))) for units in offered]
    return max(expected(made, schedule) for schedule in product(*choices))


def some_scenario(rng):
    """Five evaluations of join keys that share four units, some of which change periodically."""
    keys = "klm"
    links = [(key, unit) for key in keys for unit in rng.choice(list("abcd"), 2, replace=False)]
    background, units = [], sorted({unit for _, unit in links})
    for unit in units:
        if rng.random() < 0.5:
            background += periodic(
                unit, 0, *(rng.integers(1, 30) + np.arange(6) * rng.integers(5, 40))
            )
        else:
            background += periodic(unit, 0, *rng.choice(50, rng.integers(0, 6), replace=False) + 1)
    needs = ["".join(key for key in keys if rng.random() < 0.6) for _ in range(5)]
    stream = [(1, "k"), (51, "k")]
    stream += [(10 * at + 2, key) for at, word in enumerate(needs) for key in word]
    return scenario(stream, background, width_ms=10, links=links)


def greedy(made, budget):
    """The schedule that whatever gains most of all that is left is added to, among all units."""
    schedule = [""] * len(made.contents)
    possible = {(at, name) for at in range(len(schedule)) for name in made.units}
    while possible:
        worth = {step: expected(made, added(schedule, *step)) for step in possible}
        schedule = added(schedule, *max(worth, key=worth.get))
        full = {at for at, names in enumerate(schedule) if len(names) == budget}
        possible = {
            (at, name) for at, name in possible if at not in full and name not in schedule[at]
        }
    return schedule


def added(schedule, at, name):
    return [*schedule[:at], schedule[at] + name, *schedule[at + 1 :]]


def test_it_is_worth_no_less_than_the_greedy_schedule():
    rng = np.random.default_rng(1)
    units = "abcdefgh"
    needs = ["".join(unit for unit in units if rng.random() < 0.4) for _ in range(8)]
    intervals = dict(zip(units, rng.integers(10, 80, len(units)).tolist(), strict=True))
    made = laid_out(["a" + needs[0].strip("a"), *needs[1:]], constant(units), intervals=intervals)
    for budget in (1, 2):
        found = expected(made, scheduled(made, budget, "GNR"))
        assert found >= expected(made, greedy(made, budget)) - 1e-9


@pytest.mark.parametrize(("proposer", "budget"), [("WSJ", 1), ("WSJ", 2), ("GNR", 1)])
def test_it_is_worth_hardly_less_than_the_best_of_all_schedules(proposer, budget):
    shares = []
    for seed in range(25):
        made = some_scenario(np.random.default_rng(seed))
        found = scheduled(made, budget, proposer)
        assert all(len(units) <= budget for units in found)
        shares.append(expected(made, found) / best(made, budget, proposer))
    assert min(shares) > 0.8
    assert np.mean(shares) > 0.99
    assert max(shares) <= 1 + 1e-9


@pytest.mark.parametrize(
    "setting", [Setting(Condition(">", 0.5)), Setting(aggregate="sum"), Setting(capacity=3)]
)
def test_it_is_refused_where_answers_are_not_plain_rows(setting):
    made = laid_out(["ab"], constant("ab"))
    with pytest.raises(PolicyError, match="'BOUND' needs .* without filter, aggregate and cache"):
        Simulation(made, setting).check([Task("BOUND", 1, 0)])
    Simulation(made, Setting(learned=True)).check([Task("BOUND", 1, 0)])


@pytest.mark.parametrize("name", ["FBA(BOUND)", "BST-BOUND", "MP(CWSJ,BOUND)"])
def test_combinations_that_make_no_sense(name):
    with pytest.raises(PolicyError, match="an oracle knows what will be|with WSJ or GNR"):
        resolve_policy(name)
