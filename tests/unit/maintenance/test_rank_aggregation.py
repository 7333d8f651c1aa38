from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.errors import PolicyError
from bestbefore.maintenance import Moment, Situation, WindowUnits, resolve_policy
from bestbefore.maintenance.election import describe
from bestbefore.maintenance.rankers import rank_aggregation
from bestbefore.maintenance.rankers.rank_aggregation import aggregate, elect_aggregated
from bestbefore.maintenance.rankers.ranker import elect_highest
from bestbefore.view.units import new_units

KINDS = ["independent", "equal", "opposite", "misleading"]


def two_lists(kind, size, values, rng):
    """Few distinct values make many ties; a sample misleads where its lists agree and no others."""
    distance, others = (rng.integers(0, values, size).astype(float) for _ in range(2))
    if kind == "equal":
        others = -distance
    elif kind != "independent":
        others = distance + rng.integers(0, 3, size)
    if kind == "misleading":
        sampled = slice(None, None, max(1, round(size ** (1 / 3))))
        others[sampled] = values - distance[sampled]
    return distance, others


@settings(max_examples=500)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3_000),
    st.integers(0, 60),
    st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.9, 1.0]),
    st.sampled_from([2, 10, 10_000]),
    st.sampled_from(KINDS),
)
def test_the_best_are_found_without_sorting_all(seed, size, budget, alpha, values, kind):
    """The short cut must count ties as the sort does, and leave as much to chance."""
    rng = np.random.default_rng(seed)
    distance, others = two_lists(kind, size, values, rng)
    scores = aggregate(alpha, distance, others)
    sorting, finding = (np.random.default_rng(seed) for _ in range(2))
    expected = elect_highest(scores, budget=budget, rng=sorting)
    with mock.patch.object(rank_aggregation, "_MANY", 30):
        chosen = elect_aggregated(alpha, distance, others, budget=budget, rng=finding)
    assert chosen.tolist() == expected.tolist()
    assert scores[chosen].tolist() == np.sort(scores)[::-1][:budget].tolist()
    assert finding.bit_generator.state == sorting.bit_generator.state


def candidates(values, refreshed, best_before):
    size = len(values)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 10)
    units.value[:], units.refreshed_ms[:] = values, refreshed
    units.best_before_ms[:] = best_before
    window = WindowUnits(np.arange(size), np.full(size, 2), np.ones(size, dtype=np.int64))
    situation = Situation(Moment(100, 40, 10), 2, threshold=50.0)
    return describe(units, window.unit, window, situation), situation.moment


def order(name, *columns):
    found, moment = candidates(*columns)
    scores = resolve_policy(name).ranker.score(found, moment)
    return np.argsort(-scores, kind="stable").tolist()


# Filter list: 2 1 0 3 (distances 30 20 10 40); LRU list: 0 1 2 3 (refreshed 10 20 30 40).
VALUES, REFRESHED, EXPIRED = [80, 30, 60, 90], [10, 20, 30, 40], [90, 90, 90, 90]


@pytest.mark.parametrize(
    ("alpha", "expected"), [(0, [0, 1, 2, 3]), (1, [2, 1, 0, 3]), (0.4, [0, 1, 2, 3])]
)
def test_alpha_weighs_the_filter_list(alpha, expected):
    assert order(f"LRU.F+(alpha={alpha})", VALUES, REFRESHED, EXPIRED) == expected


def test_filter_takes_the_nearest_and_a_value_that_is_no_number_last():
    assert order("Filter", [80, np.nan, 60, 90], REFRESHED, EXPIRED) == [2, 0, 3, 1]


def test_a_band_leaves_out_what_is_farther():
    found, moment = candidates(VALUES, REFRESHED, EXPIRED)
    scores = resolve_policy("LRU.F(fdt=20)").ranker.score(found, moment)
    assert np.isfinite(scores).tolist() == [False, True, True, False]


def test_the_star_elects_all_expired_before_any_other():
    best_before = [200, 90, 200, 90]
    assert order("WBM.F*(alpha=1)", VALUES, REFRESHED, best_before) == [1, 3, 2, 0]
    assert order("WBM.F+(alpha=1)", VALUES, REFRESHED, best_before) == [2, 1, 0, 3]


@pytest.mark.parametrize("name", ["LRU.F+(alpha=1.5)", "WBM.F*(alpha=-1)", "LRU.F(fdt=-3)"])
def test_weights_and_distances_out_of_range_are_refused(name):
    with pytest.raises(PolicyError, match="must"):
        resolve_policy(name)
