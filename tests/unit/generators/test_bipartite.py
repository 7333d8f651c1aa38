import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators.bipartite import random_links, zipf_degrees


@pytest.mark.parametrize("skew", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("edges", [1, 100, 1_000, 2_499, 2_500])
def test_there_are_as_many_links_as_wanted_and_none_twice(rng, skew, edges):
    join_key, unit = random_links(50, 50, edges=edges, skew=skew, rng=rng)
    assert len({*zip(join_key.tolist(), unit.tolist(), strict=True)}) == edges
    assert set(join_key) | set(unit) <= set(range(50))


def test_without_skew_every_unit_is_as_likely(rng):
    degrees = np.zeros(20)
    for _ in range(400):
        _, unit = random_links(30, 20, edges=60, skew=0.0, rng=rng)
        degrees += np.bincount(unit, minlength=20)
    assert degrees / 400 == pytest.approx(np.full(20, 3.0), rel=0.1)


def test_degrees_follow_zipf_s_law():
    degrees = zipf_degrees(50, 1_000, most=10_000, skew=1.0)
    assert degrees.sum() == 1_000
    assert degrees[0] / degrees[9] == pytest.approx(10, rel=0.05)
    assert np.all(np.diff(degrees) <= 0)


def test_no_degree_exceeds_the_join_keys():
    degrees = zipf_degrees(50, 1_000, most=50, skew=1.5)
    assert degrees.sum() == 1_000
    assert degrees.max() == 50
    assert (degrees == 50).sum() > 1


def test_more_skew_is_a_larger_spread(rng):
    spreads = []
    for skew in (0.0, 0.5, 1.0):
        _, unit = random_links(50, 50, edges=1_000, skew=skew, rng=rng)
        spreads.append(np.bincount(unit, minlength=50).std())
    assert spreads == sorted(spreads)


def test_more_links_than_pairs(rng):
    with pytest.raises(InputError, match="edges = 7: 2 join keys and 3 units have at most 6 links"):
        random_links(2, 3, edges=7, skew=0.0, rng=rng)


def test_no_links(rng):
    with pytest.raises(InputError, match="edges = 0: it must be 1 or more"):
        random_links(2, 3, edges=0, skew=0.0, rng=rng)
