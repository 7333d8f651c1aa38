"""Tables 1 and 2 of acqua, real data, on the trace that imitates it (ten data sets)."""

from statistics import mean

import pytest

from tests.experiments.averages import Table, averages

BUDGETS = [3, 5, 10]
PAPER = {
    "WST": [0.30, 0.30, 0.30],
    "GNR-RND": [0.34, 0.36, 0.41],
    "GNR-LRU": [0.33, 0.35, 0.41],
    "WSJ-RND": [0.46, 0.57, 0.68],
    "WSJ-LRU": [0.47, 0.58, 0.80],
    "WSJ-WBM": [0.52, 0.61, 0.80],
    "WSJ-WBM*": [0.59, 0.77, 0.98],
    "BST": [0.56, 0.74, 0.98],
}


@pytest.fixture(scope="module")
def table() -> Table:
    return averages(
        "twitter-like",
        policies=[*PAPER],
        budgets=BUDGETS,
        seeds=10,
        width="100s",
        slide="60s",
    )


def column(table, name):
    return [table[name, budget] for budget in BUDGETS]


def test_the_columns_of_wsj_and_bst_are_those_of_the_paper(table):
    distances = [
        abs(found - wanted)
        for name in ("WSJ-RND", "WSJ-LRU", "BST")
        for found, wanted in zip(column(table, name), PAPER[name], strict=True)
    ]
    assert max(distances) <= 0.08
    assert mean(distances) <= 0.05


def test_so_are_the_others_if_less_closely(table):
    """What the real trace gave GNR and WBM* is lower: its changes came in bursts, perhaps."""
    for name, wanted in PAPER.items():
        assert column(table, name) == pytest.approx(wanted, abs=0.11)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_order_is_that_of_the_paper(table, budget):
    """RND and LRU after WSJ differ by 0.01 at the smallest budgets in the paper: noise here."""
    of = {name: table[name, budget] for name in PAPER}
    assert of["WST"] < min(of["GNR-RND"], of["GNR-LRU"])
    assert max(of["GNR-RND"], of["GNR-LRU"]) < min(of["WSJ-RND"], of["WSJ-LRU"])
    assert of["WSJ-LRU"] > of["WSJ-RND"] - 0.01
    assert max(of["WSJ-RND"], of["WSJ-LRU"]) < of["WSJ-WBM"] < of["BST"] <= of["WSJ-WBM*"] + 0.002


def test_wsj_gains_more_from_a_larger_budget_than_gnr(table):
    for ranker in ("RND", "LRU"):
        general, joined = column(table, f"GNR-{ranker}"), column(table, f"WSJ-{ranker}")
        assert joined[-1] - joined[0] > general[-1] - general[0]
