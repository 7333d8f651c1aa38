"""The M:N experiments of planning-ahead section 6, with its default data (ten data sets)."""

import pytest

from tests.experiments.averages import Table, averages

BUDGETS = [5, 10, 15, 20]


def freshness(policies: list[str], budgets: list[int] = BUDGETS, **parameters: object) -> Table:
    return averages(
        "bipartite",
        policies=policies,
        budgets=budgets,
        seeds=10,
        parameters=parameters,
        width="4s",
        slide="1s",
        warmup=0.1,
    )


@pytest.fixture(scope="module")
def defaults() -> Table:
    return freshness(["RND", "LRU", "SBM-BGP", "IBM-BGP"])


@pytest.mark.parametrize("budget", [5, 10, 20])
def test_ibm_over_sbm_over_the_baselines(defaults, budget):
    of = {name: defaults[name, budget] for name in ("RND", "LRU", "SBM-BGP", "IBM-BGP")}
    assert of["IBM-BGP"] > of["SBM-BGP"] + 0.05
    assert of["SBM-BGP"] > max(of["LRU"], of["RND"]) + 0.05
    # In the paper the two are level at every budget; here LRU pulls ahead as the budget grows.
    assert -0.01 < of["LRU"] - of["RND"] < 0.03 + 0.002 * budget


def test_sbm_is_better_on_skewed_than_on_uniform_links(defaults):
    skewed = freshness(["SBM-BGP"], [10], skew=1.0)
    slightly = freshness(["SBM-BGP"], [10], skew=0.5)
    assert skewed["SBM-BGP", 10] > slightly["SBM-BGP", 10] > defaults["SBM-BGP", 10]


def test_the_lead_of_ibm_over_sbm_grows_with_the_range_of_intervals(defaults):
    leads = [defaults["IBM-BGP", 10] - defaults["SBM-BGP", 10]]
    for low, high in ((500, 2_000), (800, 1_200)):
        found = freshness(["SBM-BGP", "IBM-BGP"], [10], interval_low_ms=low, interval_high_ms=high)
        leads.append(found["IBM-BGP", 10] - found["SBM-BGP", 10])
    assert leads[0] > leads[1] > leads[2] > 0


def test_density_matters_little_to_the_baselines(defaults):
    sparse = freshness(["LRU", "SBM-BGP"], [10], edges=500)
    assert sparse["LRU", 10] == pytest.approx(defaults["LRU", 10], abs=0.03)
    assert sparse["SBM-BGP", 10] > defaults["SBM-BGP", 10]


def test_fba_over_ibm_on_the_non_homogeneous_stream():
    found = freshness(["IBM-BGP", "FBA(IBM-BGP)"], [5, 15], arrival_factor=0.95)
    lead = {b: found["FBA(IBM-BGP)", b] - found["IBM-BGP", b] for b in (5, 15)}
    assert lead[15] > lead[5] > 0


def test_fba_moves_budget_between_evaluations_but_keeps_it():
    spent = averages(
        "bipartite",
        policies=["FBA(IBM-BGP)"],
        budgets=[15],
        seeds=3,
        figure=lambda each: each.refreshes / each.evaluations,
        width="4s",
        slide="1s",
    )
    assert spent["FBA(IBM-BGP)", 15] == pytest.approx(15, abs=15 * 3 / 50)


@pytest.mark.parametrize("budget", [5, 10])
def test_aggregates_gain_from_completing_cheap_join_keys(budget):
    """Figure 3: sparse links, where completing a join key is within reach of the budget."""
    found = averages(
        "bipartite",
        policies=["RND", "LRU", "SBM-Agg", "IBM-Agg"],
        budgets=[budget],
        seeds=10,
        parameters={"edges": 100},
        aggregate="sum",
        width="4s",
        slide="1s",
        warmup=0.1,
    )
    of = {name: value for (name, _), value in found.items()}
    assert of["SBM-Agg"] > max(of["RND"], of["LRU"]) + 0.02
    assert of["IBM-Agg"] > of["SBM-Agg"] - 0.01
