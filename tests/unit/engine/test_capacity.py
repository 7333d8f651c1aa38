"""A view of limited capacity: it starts empty and is filled by what windows need."""

import pytest

from bestbefore.errors import StateError

from .conftest import BATCHES, integer, random_events, user


@pytest.mark.parametrize("policy", ["MP(CWSJ,WBM,FRP)", "MP(FWSJ,WBM,LRU)", "MP(AW,RND,LRU)"])
@pytest.mark.parametrize("seed", range(3))
def test_the_view_starts_empty_and_never_holds_more_than_its_capacity(rig, policy, seed):
    run = rig(policy, rows=[(user(n), integer(n)) for n in range(12)], budget=3, capacity=4)
    events = random_events(seed)
    most = 0
    for last in range(1, len(BATCHES) + 1):
        run.run(events, batches=BATCHES[:last])
        held = len(run.held())
        assert held <= 4
        assert len(run.view) == held
        most = max(most, held)
    assert most == 4
    assert sum(len(outcome["evicted"]) for outcome in run.outcomes) > 0
    for outcome in run.outcomes:
        sets = outcome["sets"]
        assert sets.a + sets.b + sets.c + sets.d <= 4
        assert set(outcome["used"]) >= set(outcome["answered"])


def test_units_leave_only_for_what_really_came(rig):
    run = rig("MP(CWSJ,LRU,LRU)", budget=2, capacity=2)
    events = [(1_000, user(1)), (1_000, user(2)), (12_000, user(3)), (12_000, user(4))]
    run.service.down.add((user(4),))
    run.run(events, batches=[[1], [2], [3]])
    assert len(run.outcomes[2]["evicted"]) == 1
    assert len(run.held()) == 2
    assert (user(3),) in run.held()


def test_evicted_units_are_in_no_answer(rig):
    run = rig("MP(CWSJ,LRU,LRU)", budget=2, capacity=2)
    events = [(4_000, user(1)), (4_000, user(2)), (6_000, user(3)), (6_000, user(4))]
    run.run(events, batches=[[1, 2]])
    answered = run.slices.to_pylist()
    assert sorted(row["?user"] for row in answered if row["evaluation"] == 1) == [user(1), user(2)]
    assert sorted(row["?user"] for row in answered if row["evaluation"] == 2) == [user(3), user(4)]


def test_the_least_recently_used_leaves_first_also_after_a_restart(rig):
    events = [(1_000, user(1)), (2_000, user(2)), (9_000, user(1)), (21_000, user(3))]
    for batches in ([[1, 2, 3, 4, 5]], [[1], [2], [3], [4], [5]]):
        run = rig("MP(CWSJ,LRU,LRU)", capacity=2, folder=f"checkpoint{len(batches)}")
        for last in range(1, len(batches) + 1):
            run.run(events, batches=batches[:last])
        assert run.outcomes[4]["evicted"] == ((user(2),),)
        assert run.held() == {(user(1),), (user(3),)}


def test_a_checkpoint_with_more_units_than_the_capacity_is_refused(rig):
    run = rig("CWSJ-LRU").run([(1_000, user(1))], batches=[[1]])
    smaller = rig("CWSJ-LRU", capacity=5)
    smaller.state = run.state
    with pytest.raises(StateError, match="view.capacity = 5, but the view .* holds 8 units"):
        smaller.run([], batches=[])
