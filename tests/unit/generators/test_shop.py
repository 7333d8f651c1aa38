"""The generated shop: as large, as fresh and as dependent as it was asked to be."""

import numpy as np
import pyarrow.compute as pc
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import ShopStore
from bestbefore.market import read_shape


@pytest.fixture(scope="module")
def shop():
    return ShopStore(products=100, free_queries=20, bound_queries=20).make(3)


def freshness(store):
    found = store.triples.group_by("p").aggregate([("fresh", "mean"), ("fresh", "count")])
    return found["fresh_mean"].to_numpy(), found["fresh_count"].to_numpy()


def test_a_product_comes_with_about_375_triples_of_40_predicates(shop):
    assert 36_000 < len(shop.triples) < 39_000
    assert pc.count_distinct(shop.triples["p"]).as_py() == 40
    assert len(set(zip(*(shop.triples[name].to_pylist() for name in "spo"), strict=True))) == len(
        shop.triples
    )


def test_the_same_seed_gives_the_same_store(shop):
    again = ShopStore(products=100, free_queries=20, bound_queries=20).make(3)
    assert again.triples.equals(shop.triples)
    assert again.queries == shop.queries
    assert not ShopStore(products=100).make(4).triples.equals(shop.triples)


def test_predicates_are_fresh_in_ten_levels(shop):
    share, count = freshness(shop)
    level = np.round(share * 10 - 0.5)
    known = count > 500
    assert np.abs(share - (level + 0.5) / 10)[known].max() < 0.04
    # Beta(0.5, 0.5) has most of its mass at both ends.
    many = np.concatenate([freshness(ShopStore(products=2).make(seed))[0] for seed in range(30)])
    assert np.mean((many < 0.2) | (many > 0.8)) > 0.5


def test_triples_of_a_subject_can_be_stale_together():
    spread = []
    for dependence in (0.0, 1.0):
        store = ShopStore(products=20, dependence=dependence).make(0)
        by_subject = store.triples.group_by("s").aggregate([("fresh", "mean")])
        spread.append(float(np.var(by_subject["fresh_mean"].to_numpy())))
    assert spread[1] > 2 * spread[0]


def test_queries_are_stars_and_the_second_half_binds_objects(shop):
    shapes = [read_shape(text) for text in shop.queries]
    assert all(len(shape.stars) == 1 for shape in shapes)
    bound = [sum(part.bound[2] is not None for part in shape.parts) for shape in shapes]
    assert set(bound[:20]) == {0}
    assert set(bound[20:]) <= {1, 2}


def test_a_store_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="more than 100,000,000"):
        ShopStore(products=1_000_000)


def test_every_query_that_binds_an_object_has_an_answer():
    made = ShopStore(products=30, free_queries=0, bound_queries=200).make(1)
    triples = {tuple(row[name] for name in "spo") for row in made.triples.to_pylist()}
    subjects = dict[tuple[str, str | None], set[str]]()
    for s, p, o in triples:
        for key in ((p, o), (p, None)):
            subjects.setdefault(key, set()).add(s)
    for text in made.queries:
        (star,) = read_shape(text).stars
        assert set.intersection(*(subjects[part.p, part.bound[2]] for part in star.parts)), text
