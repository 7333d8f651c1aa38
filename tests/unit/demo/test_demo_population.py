from itertools import groupby

import pytest

from bestbefore.demo.population import THRESHOLD, changes, insertion, update, users


@pytest.fixture(scope="module")
def population():
    return users(400, seed=7)


def test_users_stand_on_both_sides_of_the_threshold_and_change_at_paces_of_their_own(population):
    above = sum(user.followers > THRESHOLD for user in population)
    intervals = {user.interval_s for user in population}
    assert 100 < above < 350
    assert len(intervals) > 300
    assert max(intervals) > 10 * min(intervals)


def test_the_same_seed_gives_the_same_world(population):
    assert users(400, seed=7) == population
    assert users(400, seed=8) != population
    assert changes(population, span_ms=5000, seed=7) == changes(population, span_ms=5000, seed=7)


def test_a_longer_stretch_of_time_begins_with_the_same_changes(population):
    short, long = (changes(population, span_ms=span, seed=7) for span in (10_000, 20_000))
    assert long[: len(short)] == short


def test_changes_come_in_order_and_change_something(population):
    plan = changes(population, span_ms=60_000, seed=7)
    assert plan == sorted(plan, key=lambda change: change.offset_ms)
    assert all(0 <= change.offset_ms < 60_000 for change in plan)
    for user in population:
        values = [user.followers, *(c.followers for c in plan if c.user == user)]
        assert all(value > 0 for value in values)
        assert [value for value, _ in groupby(values)] == values


def test_users_change_as_often_as_they_say(population):
    span_s = 600
    plan = changes(population, span_ms=span_s * 1000, seed=7)
    expected = sum(span_s / user.interval_s for user in population)
    assert len(plan) == pytest.approx(expected, rel=0.05)


def test_the_updates_are_sparql(population):
    pyoxigraph = pytest.importorskip("pyoxigraph")
    store = pyoxigraph.Store()
    store.update(insertion(population))
    assert len(store) == 800
    plan = changes(population, span_ms=2_000, seed=7)
    store.update(update({change.user.iri: change.followers for change in plan}))
    assert len(store) == 800
    last = {change.user.iri: change.followers for change in plan}
    query = "SELECT ?u ?f { ?u <http://example.org/demo/hasFollowers> ?f }"
    found = {row["u"].value: int(row["f"].value) for row in store.query(query)}
    assert {iri: found[iri] for iri in last} == last
