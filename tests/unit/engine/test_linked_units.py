"""Units by another key than the join key: view rows link the two (M:N)."""

import pytest

from bestbefore.errors import StateError
from bestbefore.service import Loaded

from .conftest import EX, integer, query, user

LINKED = "?user :owns ?unit . ?unit :price ?price"


def unit(number):
    return f"<{EX}i{number}>"


EDGES = [(user(n % 3), unit(n % 4), integer(n)) for n in range(12)]


def test_a_unit_serves_several_join_keys_with_one_refresh(rig):
    run = rig("IBM-BGP", rows=EDGES, key=(1,), text=query(LINKED), budget=1, refresh_key=["unit"])
    run.run([(1_000, user(0)), (1_000, user(1)), (1_000, user(2))], batches=[[1]])
    assert run.view.join_key == ("user",)
    run.service.rows = [(who, what, integer(99)) for who, what, _ in EDGES]
    run.run([(6_000, user(0)), (6_000, user(1)), (6_000, user(2))], batches=[[1], [2]])
    ((asked,),) = run.service.asked[1:]
    new = [row for row in run.slices.to_pylist() if row["?price"] == integer(99)]
    assert {row["?unit"] for row in new} == set(asked)
    assert {row["?user"] for row in new} == {user(0), user(1), user(2)}
    assert len(run.slices) == 12


def test_ibm_elects_the_unit_with_the_most_answers_over_its_rows(rig):
    rows = [(user(1), unit(1), integer(1)), (user(2), unit(1), integer(1))]
    rows += [(user(3), unit(2), integer(1))]
    run = rig("IBM-BGP", rows=rows, key=(1,), text=query(LINKED), budget=1, refresh_key=["?unit"])
    # One mapping for u1 and u2, both in the unit i1; one that outlasts them for u3 in i2.
    run.run([(1_000, user(1)), (1_000, user(2)), (1_000, user(3))], batches=[[1]])
    assert run.service.asked == [[(unit(1),)]]
    run = rig("IBM-BGP", rows=rows, key=(1,), text=query(LINKED), budget=1, refresh_key=["?unit"],
              folder="other")  # fmt: skip
    run.run([(1_000, user(1)), (1_000, user(2)), *[(1_000, user(3))] * 3], batches=[[1]])
    assert run.service.asked == [[(unit(2),)]]


def test_rows_that_a_refresh_brings_or_takes_are_joined_in_the_same_batch(rig):
    run = rig("WSJ-LRU", rows=EDGES, key=(1,), text=query(LINKED), budget=9, refresh_key=["unit"])
    newcomer = "<http://example.org/newcomer>"
    run.service.load = lambda: Loaded(tuple(EDGES), 1, 0.0)
    run.service.rows = [(newcomer if who == user(0) else who, what, n) for who, what, n in EDGES]
    events = [(1_000, user(0)), *[(1_000, newcomer)] * 2, (1_000, user(1)), (6_000, newcomer)]
    run.run(events, batches=[[1, 2]])
    for window in (1, 2):
        cut = [row["?user"] for row in run.slices.to_pylist() if row["evaluation"] == window]
        assert sorted(set(cut)) == [newcomer, user(1)]
        assert len(cut) == 8
    # u0 has no row any more.
    assert [outcome["sets"].g for outcome in run.outcomes] == [1, 1]
    assert run.outcomes[1]["sets"].completeness == 4 / 5


def test_the_refresh_key_of_a_checkpoint_cannot_change(rig):
    run = rig("WSJ-LRU", rows=EDGES, key=(1,), text=query(LINKED), refresh_key=["unit"])
    run.run([(1_000, user(0))], batches=[[1]])
    other = rig("WSJ-LRU", rows=EDGES, text=query(LINKED))
    other.state = run.state
    with pytest.raises(StateError, match=r"has units by \?unit, the job by \?user: restore"):
        other.run([], batches=[])
