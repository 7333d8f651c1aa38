"""Runs of a few evaluations, worked out by hand."""

from dataclasses import replace
from itertools import cycle, islice

import numpy as np
import pytest

import bestbefore
from bestbefore.generators import make_traces
from bestbefore.maintenance import resolve_policy
from bestbefore.simulator import run

from .test_scenario import periodic, scenario


def simulated(made, policy, *, budget):
    """What came of each evaluation."""
    return run(made, resolve_policy(policy), budget=budget, seed=0)


@pytest.mark.parametrize(
    ("budget", "refreshes"),
    [(9, [0, 0, 2, 0, 0, 2, 0, 0, 2]), (1, [0, 0, 1, 1, 0, 1, 1, 0, 1])],
)
def test_ttl_refreshes_what_has_become_old_and_leaves_the_rest_of_the_budget(budget, refreshes):
    """Every 10 ms two units are needed; they are loaded at 0 and live for 30."""
    stream = [(ts, key) for ts in range(1, 92, 10) for key in "ab"]
    made = scenario(stream, [(0, "a", "1"), *periodic("b", 0, 5, 35, 65)])
    assert simulated(made, "TTL(ttl=30ms)", budget=budget).refreshes.tolist() == refreshes


def test_ttl_knows_nothing_of_changes():
    """The unit changes at 5, 35 and 65, and is refreshed at 30, 60 and 90."""
    made = scenario([(ts, "b") for ts in range(1, 92, 10)], periodic("b", 0, 5, 35, 65))
    found = simulated(made, "TTL(ttl=30ms)", budget=1)
    assert found.correct.tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values", [("1e308", "-1e308"), ("1e200", "3e200", "7e200"), ("INF", "1e308", "-INF", "5")]
)
def test_values_of_any_size_move_and_the_budget_is_spent(values):
    """The squares of such steps are no numbers any more."""
    traces = make_traces("DS50", 1, minutes=40)
    background = traces.background
    texts = np.array([*islice(cycle(values), len(background.value))], dtype=np.object_)
    (found,) = bestbefore.simulate(
        replace(traces, background=replace(background, value=texts)),
        policies=["EFG"],
        budgets=[5],
        seeds=[0],
        intervals="learned",
        condition=">100000",
        width="100s",
        slide="60s",
    )
    assert found.spent > 2.5
