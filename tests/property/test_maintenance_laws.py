"""Laws of the maintenance process, over random views, windows and traces."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.experiments import simulate
from bestbefore.generators import make_traces
from bestbefore.maintenance import (
    Moment,
    Situation,
    elect,
    resolve_policy,
)
from bestbefore.maintenance.allocation import Allocation, allowance, savings
from bestbefore.maintenance.window_units import units_of_keys, units_of_links
from bestbefore.view.links import link
from bestbefore.view.units import new_units

MOMENT = Moment(10_000, width_ms=4_000, slide_ms=1_000)
seeds = st.integers(0, 2**32 - 1)


def some_units(size: int, rng: np.random.Generator):
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    units.interval_ms[:] = rng.integers(200, 5_000, size)
    units.best_before_ms[:] = rng.integers(8_000, 12_000, size)
    units.used_ms[:] = rng.integers(0, 10_000, size)
    return units


def a_graph(keys: int, units: int, rng: np.random.Generator):
    edges = rng.random((keys, units)) < 0.4
    join_key, unit = np.nonzero(edges)
    links, _ = link(join_key, unit, keys=keys)
    present = np.flatnonzero(rng.random(keys) < 0.8)
    remaining = rng.integers(1, 5, len(present))
    mappings = rng.integers(1, 6, len(present))
    window = units_of_links(links, present, remaining, mappings)
    return edges, present, mappings, window


def elected(name, units, window, budget, rng):
    return elect(resolve_policy(name), units, window, Situation(MOMENT, budget), rng=rng).elected


@given(seeds, st.integers(0, 4))
def test_sbm_bgp_makes_as_many_answers_fresh_now_as_any_choice_could(seed, budget):
    rng = np.random.default_rng(seed)
    edges, present, mappings, window = a_graph(6, 7, rng)
    units = some_units(7, rng)
    stale = [unit for unit in window.unit.tolist() if units.best_before_ms[unit] <= MOMENT.t_ms]

    def gained(chosen):
        return sum(
            int(mappings[place])
            for place, key in enumerate(present)
            for unit in chosen
            if edges[key, unit]
        )

    best = max(gained(choice) for choice in combinations(stale, min(budget, len(stale))))
    assert gained(elected("SBM-BGP", units, window, budget, rng)) == best


@pytest.mark.parametrize("name", ["SBM-Agg", "IBM-Agg"])
@given(seeds, st.integers(0, 8))
def test_aggregate_rankers_elect_only_what_completes_join_keys(name, seed, budget):
    rng = np.random.default_rng(seed)
    edges, present, _, window = a_graph(6, 7, rng)
    units = some_units(7, rng)
    stale = set(np.flatnonzero(units.best_before_ms <= MOMENT.t_ms).tolist())
    needs = [stale & set(np.flatnonzero(edges[key]).tolist()) for key in present]
    chosen = elected(name, units, window, budget, rng).tolist()
    wanted = set().union(*needs)
    assert set(chosen) <= wanted
    assert len(chosen) == min(budget, len(wanted))
    complete = [need for need in needs if need and need <= set(chosen)]
    # What is elected beyond the completed keys is the rest of the budget, spent on one more key.
    rest = set(chosen) - set().union(*complete)
    assert any(rest <= need for need in needs) or not rest
    if budget and any(needs):
        cheapest = min(len(need) for need in needs if need)
        assert bool(complete) == (budget >= cheapest)


@given(seeds, st.integers(0, 20), st.integers(1, 40))
def test_the_ledger_of_fba_never_overspends_its_horizon(seed, budget, evaluations):
    rng = np.random.default_rng(seed)
    policy, units = resolve_policy("FBA(IBM-BGP)"), some_units(60, rng)
    saved = spent = 0
    for number in range(1, evaluations + 1):
        moment = MOMENT.later(number)
        keys = np.sort(rng.choice(60, rng.integers(0, 60), replace=False))
        counts = rng.integers(1, 5, len(keys)), rng.integers(1, 9, len(keys))
        window = units_of_keys(keys, *counts)
        situation = Situation(moment, budget, saved=saved)
        now = len(elect(policy, units, window, situation, rng=rng).elected)
        assert now <= allowance(budget, saved, moment, Allocation.FBA)
        spent += now
        saved = savings(budget, saved, now, moment)
        assert spent <= budget * (number + moment.horizon - 1)
        assert -(moment.horizon - 1) * budget <= saved <= moment.horizon * budget


@given(seeds, st.integers(1, 12), st.sampled_from(["CWSJ", "FWSJ", "AW"]))
def test_frp_never_evicts_what_the_window_needs_and_the_view_fits(seed, budget, proposer):
    rng = np.random.default_rng(seed)
    units = some_units(30, rng)
    units.held[:] = rng.random(30) < 0.5
    capacity = int(units.held.sum()) + int(rng.integers(0, 3))
    keys = np.sort(rng.choice(30, 12, replace=False))
    window = units_of_keys(keys, np.full(12, 2), np.ones(12, dtype=np.int64))
    situation = Situation(MOMENT, budget, capacity=capacity)
    for replacement in ("FRP", "FRP(slowest_first=true)", "LRU"):
        policy = resolve_policy(f"MP({proposer},RND,{replacement})")
        election = elect(policy, units, window, situation, rng=rng)
        held = set(np.flatnonzero(units.held).tolist()) - set(election.evicted.tolist())
        assert len(held | set(election.elected.tolist())) <= capacity
        assert set(election.evicted.tolist()) <= set(np.flatnonzero(units.held).tolist())
        assert not set(election.evicted.tolist()) & set(election.elected.tolist())
        if replacement != "LRU":
            assert not set(election.evicted.tolist()) & set(keys.tolist())


def freshness(traces, policies, budget, repeats=6):
    results = simulate(
        traces, width="40s", slide="10s", budgets=[budget], policies=policies, seeds=repeats
    )
    return {
        name: np.mean([each.freshness for each in results if each.policy == name])
        for name in policies
    }


def small_traces(seed, **parameters):
    return make_traces(
        "poisson",
        seed,
        keys=20,
        duration_ms=400_000,
        arrival_low_ms=5_000,
        arrival_high_ms=60_000,
        interval_low_ms=5_000,
        interval_high_ms=120_000,
        **parameters,
    )


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8), st.sampled_from(["periodic", "poisson"]))
def test_the_oracles_never_lose_to_chance(seed, budget, changes):
    found = freshness(small_traces(seed, changes=changes), ["BST", "WBM*", "RND"], budget)
    assert found["BST"] >= found["RND"] - 0.02
    assert found["WBM*"] >= found["RND"] - 0.02


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["periodic", "poisson"]))
def test_with_budget_for_all_candidates_every_answer_is_fresh(seed, changes):
    traces = small_traces(seed, changes=changes)
    found = freshness(traces, ["RND", "LRU", "WBM(fill=true)", "BST", "WBM*"], 20, repeats=1)
    assert set(found.values()) == {1.0}


def test_without_a_budget_nothing_is_refreshed():
    policies = ["WBM", "FBA(IBM-BGP)"]
    results = simulate(small_traces(1), width="40s", slide="10s", budgets=[0], policies=policies)
    assert {result.policy: result.refreshes for result in results} == dict.fromkeys(policies, 0)


def test_wbm_alone_trusts_its_estimate_and_may_leave_stale_answers():
    found = freshness(small_traces(1, changes="poisson"), ["WBM"], 20, repeats=1)
    assert 0.5 < found["WBM"] < 1.0
