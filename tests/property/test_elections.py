"""Elections without sorting elect what the papers' formulas, written out plainly, elect.

The same units in the same order, by the same draws of chance, where most scores have equals.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.maintenance import (
    Moment,
    Situation,
    WindowUnits,
    elect,
    resolve_policy,
    selection,
)
from bestbefore.maintenance.rankers import rank_aggregation, ranker, rankers
from bestbefore.maintenance.window_units import units_of_keys, units_of_links
from bestbefore.view.links import link
from bestbefore.view.units import Units, new_units

NEVER, THRESHOLD, BAND = -np.inf, 1_000.0, 200.0
MOMENTS = [Moment(10_000, 4_000, 1_000), Moment(10_000, 1_000, 1_000)]


@dataclass
class Case:
    """A view and a window, unit by unit; `edges` and `counts` are the window as it is built."""

    units: Units
    window: WindowUnits
    edges: list[tuple[int, int]]
    counts: list[tuple[int, int, int]]
    moment: Moment
    is_stale: np.ndarray
    changes_ms: np.ndarray

    def stale(self, units):
        return self.is_stale[units]

    def next_change_ms(self, units):
        return self.changes_ms[units]

    def scheduled(self, units):
        return self.is_stale[units]


def a_case(seed, size, moment, *, linked):
    """Units whose columns have few distinct values, some of them missing or waiting."""
    rng = np.random.default_rng(seed)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    units.interval_ms[:] = 500 * rng.integers(1, 8, size)
    units.refreshed_ms[:] = 2_000 * rng.integers(0, 5, size)
    units.best_before_ms[:] = 500 * rng.integers(14, 26, size)
    units.value[:] = 100 * rng.integers(5, 16, size)
    units.value[rng.random(size) < 0.1] = np.nan
    units.held[:] = rng.random(size) < rng.choice([0.9, 1])
    units.retry_at[rng.random(size) < rng.choice([0, 0.1])] = 5
    keys = np.flatnonzero(rng.random(size) < rng.choice([0.6, 1])).repeat(2)
    remaining, mappings = np.tile([1, 4], len(keys) // 2), rng.integers(1, 4, len(keys))
    edges = [(key, key) for key in range(size)]
    window = units_of_keys(keys, remaining, mappings)
    if linked:
        edges = sorted({(int(a), int(b)) for a, b in rng.integers(0, size, (2 * size, 2))})
        join_key, unit = np.array(edges).T
        links, _ = link(join_key, unit, keys=size)
        window = units_of_links(links, keys, remaining, mappings)
    counts = list(zip(keys.tolist(), remaining.tolist(), mappings.tolist(), strict=True))
    stale, changes_ms = rng.random(size) < 0.5, 500 * rng.integers(21, 30, size)
    return Case(units, window, edges, counts, moment, stale, changes_ms)


def expired(case, unit):
    return case.units.best_before_ms[unit] <= case.moment.t_ms


def fresh_for(case, unit):
    """V: the evaluations up to the first expected change after t."""
    change = int(case.units.best_before_ms[unit])
    while change <= case.moment.t_ms:
        change += int(case.units.interval_ms[unit])
    return ceil((change - case.moment.t_ms) / case.moment.slide_ms)


def pairs(case, unit):
    """(L, count) of the window's mappings that each row of a unit joins with."""
    keys = [key for key, other in case.edges if other == unit]
    return [(left, count) for each in keys for key, left, count in case.counts if key == each]


def served(case, unit, fresh):
    latest = max((left for left, _ in pairs(case, unit)), default=0)
    return fresh if case.moment.tumbling else min(latest, fresh)


def distance(case, unit):
    value = case.units.value[unit]
    return np.finfo(float).max if np.isnan(value) else abs(value - THRESHOLD)


def ranked(scores):
    """Positions in the sorted list, best first, equals at the mean of theirs."""
    ordered = sorted(scores, reverse=True)
    return [ordered.index(each) + (ordered.count(each) - 1) / 2 for each in scores]


def borda(case, pool, alpha, scores):
    near, other = ranked([-distance(case, unit) for unit in pool]), ranked(scores)
    return [-(alpha * a + (1 - alpha) * b) for a, b in zip(near, other, strict=True)]


def lru(case, pool):
    return [float(case.moment.t_ms - case.units.refreshed_ms[unit]) for unit in pool]


def wbm(case, pool, *, fill=False):
    scores = [float(served(case, unit, fresh_for(case, unit))) for unit in pool]
    others = [-1 / (1 + score) - 1 if fill else NEVER for score in scores]
    both = zip(pool, scores, others, strict=True)
    return [score if expired(case, unit) else other for unit, score, other in both]


def true_wbm(case, pool):
    ahead = (case.changes_ms - case.moment.t_ms) / case.moment.slide_ms
    found = [served(case, unit, ceil(ahead[unit])) for unit in pool]
    return [v if case.is_stale[unit] else NEVER for unit, v in zip(pool, found, strict=True)]


def answers(case, pool, *, ahead):
    """Σ c_i or, over the evaluations ahead, Σ min(L, B)."""
    found = (
        sum(count * (min(left, fresh_for(case, unit)) if ahead else 1)
            for left, count in pairs(case, unit))
        for unit in pool
    )  # fmt: skip
    return [v if expired(case, unit) else NEVER for unit, v in zip(pool, found, strict=True)]


def in_band(case, pool, scores):
    inside = [distance(case, unit) <= BAND for unit in pool]
    return [score if near else NEVER for score, near in zip(scores, inside, strict=True)]


def any_wbm(case, pool):
    return [float(served(case, unit, fresh_for(case, unit))) for unit in pool]


SCORES = {
    "RND": lambda case, pool: [0.0] * len(pool),
    "LRU": lru,
    "TTL(ttl=4s)": lambda case, pool: [age if age >= 4_000 else NEVER for age in lru(case, pool)],
    "BOUND": lambda case, pool: [0.0 if case.is_stale[unit] else NEVER for unit in pool],
    "WBM": wbm,
    "WBM(fill=true)": lambda case, pool: wbm(case, pool, fill=True),
    "WBM*": true_wbm,
    "Filter": lambda case, pool: [-distance(case, unit) for unit in pool],
    "RND.F(fdt=200)": lambda case, pool: in_band(case, pool, [0.0] * len(pool)),
    "LRU.F(fdt=200)": lambda case, pool: in_band(case, pool, lru(case, pool)),
    "WBM.F(fdt=200)": lambda case, pool: in_band(case, pool, wbm(case, pool)),
    "SBM-BGP": lambda case, pool: answers(case, pool, ahead=False),
    "IBM-BGP": lambda case, pool: answers(case, pool, ahead=True),
    "LRU.F+": lambda case, pool: borda(case, pool, 0.2, lru(case, pool)),
    "LRU.F+(alpha=0)": lambda case, pool: borda(case, pool, 0, lru(case, pool)),
    "LRU.F+(alpha=1)": lambda case, pool: borda(case, pool, 1, lru(case, pool)),
    "WBM.F+": lambda case, pool: borda(case, pool, 0.2, any_wbm(case, pool)),
    "WBM.F+(alpha=0.7)": lambda case, pool: borda(case, pool, 0.7, any_wbm(case, pool)),
}


def elect_sorted(scores, budget, rng):
    """The `budget` highest, by sorting all; who is level with the last is drawn."""
    if budget <= 0 or not scores:
        return []
    chosen = [place for place, score in enumerate(scores) if score > NEVER]
    if budget < len(scores):
        bar = sorted(scores, reverse=True)[budget - 1]
        above = [place for place in chosen if scores[place] > bar]
        level = [place for place in chosen if scores[place] == bar]
        wanted = min(budget - len(above), len(level))
        chosen = above + [level[n] for n in rng.choice(len(level), wanted, replace=False)]
    chosen = [chosen[n] for n in rng.permutation(len(chosen))]
    return sorted(chosen, key=lambda place: -scores[place])


def elect_parts(case, pool, budget, rng):
    """WBM.F*: the expired, then the others with what is left of the budget."""
    elected = []
    for part in (True, False):
        units = [unit for unit in pool if expired(case, unit) == part]
        scores = borda(case, units, 0.5, any_wbm(case, units))
        chosen = elect_sorted(scores, budget - len(elected), rng)
        elected += [units[place] for place in chosen]
    return elected


def elect_keys(case, pool, budget, rng, *, ahead):
    """Key after key by its stale units left, what is preferred, and chance."""
    held, keys = set(pool), sorted({key for key, _, _ in case.counts})
    graph = {key: [u for k, u in case.edges if k == key and u in held] for key in keys}
    latest = {key: max(left for k, left, _ in case.counts if k == key) for key in keys}
    prefers = {
        key: -min([latest[key], *(fresh_for(case, u) for u in graph[key])]) if ahead else 0
        for key in keys
    }
    chance = dict(zip(keys, rng.random(len(keys)).tolist(), strict=True))
    elected = []
    while len(elected) < budget:
        left = {k: [u for u in graph[k] if expired(case, u) and u not in elected] for k in keys}
        open_keys = [key for key in keys if left[key]]
        if not open_keys:
            break
        key = min(open_keys, key=lambda k: (len(left[k]), prefers[k], chance[k], k))
        elected += rng.permutation(left[key])[: budget - len(elected)].tolist()
    return elected


SETS = {
    "SBM-Agg": lambda *more: elect_keys(*more, ahead=False),
    "IBM-Agg": lambda *more: elect_keys(*more, ahead=True),
    "WBM.F*(alpha=0.5)": elect_parts,
}


def elect_plainly(name, case, budget, rng):
    window = case.window.unit.tolist()
    ready = [u for u in window if case.units.held[u] and case.units.retry_at[u] <= 0]
    if not ready or budget <= 0:
        return []
    if name in SETS:
        return SETS[name](case, ready, budget, rng)
    scores = SCORES[name](case, ready)
    return [ready[place] for place in elect_sorted(scores, budget, rng)]


@contextmanager
def few_are_many():
    """Have what is done for many candidates done for some dozens."""
    with (
        mock.patch.multiple(selection, _MANY=20, _STRIDE=2),
        mock.patch.object(rank_aggregation, "_MANY", 15),
    ):
        yield


def test_every_ranker_is_held_against_its_formula():
    """That of EFG is in tests/unit/maintenance/test_expected_gain.py."""
    assert {name.split("(")[0] for name in [*SCORES, *SETS]} | {"EFG"} == set(rankers)


@pytest.mark.parametrize("linked", [False, True], ids=["1:1", "M:N"])
@pytest.mark.parametrize("name", [*SCORES, *SETS])
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.integers(0, 30), st.sampled_from(MOMENTS))
def test_elections_follow_the_formulas(name, linked, seed, size, budget, moment):
    case = a_case(seed, size, moment, linked=linked)
    expected_rng = np.random.default_rng(seed)
    expected = elect_plainly(name, case, budget, expected_rng)
    situation = Situation(moment, budget, threshold=THRESHOLD, oracle=case)
    rng = np.random.default_rng(seed)
    with few_are_many():
        found = elect(resolve_policy(name), case.units, case.window, situation, rng=rng)
    assert found.elected.tolist() == expected
    assert rng.bit_generator.state == expected_rng.bit_generator.state


@pytest.mark.parametrize("kind", ["at random", "sorted", "sampled first", "sampled last"])
@pytest.mark.parametrize(("values", "size"), [(1, 20_000), (3, 30_000), (10**9, 100_000)])
def test_many_are_elected_from_as_few_are(kind, values, size):
    """Many candidates as they are, also where the sample that is looked at misleads."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, values, size).astype(float)
    scores[rng.random(size) < 0.4] = NEVER
    if kind == "sorted":
        scores.sort()
    elif kind != "at random":
        scores[::64] += 10**9 * (1 if kind == "sampled first" else -1)
    for budget in (1, 100, 1_000, size // 3, size - 1):
        first, second = (np.random.default_rng(budget) for _ in range(2))
        expected = elect_sorted(scores.tolist(), budget, first)
        found = ranker.elect_highest(scores, budget=budget, rng=second)
        assert found.tolist() == expected
        assert first.bit_generator.state == second.bit_generator.state
