"""Policies for FILTER queries on the data sets of rank-aggregation section 5.2 (budget 3).

The figure is the cumulative Jaccard distance of the answers: the lower, the better. `make
reproduce` writes the whole table with its spread; here are the claims.
"""

import pytest

from tests.experiments.averages import averages

POLICIES = [
    "RND",
    "LRU",
    "WBM",
    "Filter",
    "LRU.F(fdt=500)",
    "WBM.F(fdt=500)",
    "LRU.F+(alpha=0.5)",
    "WBM.F+",
    "WBM.F*",
]


@pytest.fixture(scope="module")
def distances() -> dict[str, dict[str, float]]:
    return {name: of_data(name) for name in ("DEC70", "INC70", "MIX70", "DS10", "DS50", "DS90")}


def of_data(name: str) -> dict[str, float]:
    found = averages(
        name,
        policies=POLICIES,
        budgets=[3],
        seeds=6,
        figure=lambda each: each.jaccard,
        condition=">100000",
        width="100s",
        slide="60s",
    )
    return {policy: value for (policy, _), value in found.items()}


@pytest.mark.parametrize("data", ["DEC70", "INC70", "MIX70", "DS50", "DS90"])
def test_a_band_around_the_threshold_improves_every_ranker(distances, data):
    of = distances[data]
    assert of["LRU.F(fdt=500)"] < of["LRU"] < of["RND"]
    assert of["WBM.F(fdt=500)"] < of["WBM"]


@pytest.mark.parametrize("data", ["DEC70", "INC70", "MIX70", "DS50", "DS90"])
def test_rank_aggregation_with_lru_needs_no_band(distances, data):
    """Hp.1 for LRU.F+: as good as the banded LRU, to a tenth, without knowing the band.

    The paper sets α = 0.2; on these data that leans too much on LRU, and 0.5 is as good as LRU.F.
    """
    of = distances[data]
    assert of["LRU.F+(alpha=0.5)"] < 1.15 * of["LRU.F(fdt=500)"]
    assert of["LRU.F+(alpha=0.5)"] < min(of["LRU"], of["Filter"])


@pytest.mark.parametrize("data", ["DEC70", "INC70", "MIX70", "DS50", "DS90"])
def test_wbm_star_matches_the_banded_wbm_and_plus_does_not(distances, data):
    of = distances[data]
    assert of["WBM.F*"] < 1.05 * of["WBM.F(fdt=500)"]
    assert of["WBM.F*"] < of["WBM.F+"]


def test_the_filter_ranker_is_best_where_few_series_cross_and_worst_where_most_do(distances):
    """The paper finds it best at a selectivity above 60 %.

    If selectivity is the share of series that cross the threshold, as its section 5.2 says, then
    it is the other way round: with few near the threshold the nearest are the ones to watch, with
    many the same three are refreshed over and over.
    """
    assert min(distances["DS10"], key=distances["DS10"].get) == "Filter"
    assert max(distances["DS90"], key=distances["DS90"].get) == "Filter"
