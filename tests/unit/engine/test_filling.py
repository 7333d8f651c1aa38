"""A view that is filled with what windows need."""

import pytest

from .conftest import Crash, CrashingStorage, integer, random_events, user

POLICIES = ["WSJ-WBM", "WST", "GNR-LRU", "FBA(IBM-BGP)", "IBM-BGP", "MP(FWSJ,LRU,FRP)", "AW-RND"]
EVENTS = [(1_000 + 100 * number, user(number % 6)) for number in range(12)]


@pytest.mark.parametrize("policy", POLICIES)
def test_whatever_the_policy_nothing_is_asked_for_but_what_the_window_needs_and_lacks(rig, policy):
    run = rig(policy, budget=4, fill="on-demand").run(EVENTS, batches=[[1]])
    asked = [key for keys in run.service.asked for key in keys]
    assert len(asked) == len(set(asked)) == 4
    assert set(asked) <= {(user(number),) for number in range(6)}
    assert run.held() == set(asked)
    assert run.outcomes[0]["sets"].completeness == pytest.approx(4 / 6)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_missing_goes_before_what_may_be_stale(rig, policy):
    """Everything that is held is stale at the second evaluation."""
    events = [*EVENTS, (6_000, user(6)), (6_000, user(7))]
    run = rig(policy, budget=3, fill="on-demand", change_interval="1s")
    run.run(events, batches=[[1], [2], [3]])
    first, second, third = (set(outcome["elected"][:3]) for outcome in run.outcomes)
    assert not first & second
    assert first | second | third >= {(user(number),) for number in range(8)}


def test_those_go_first_that_most_answers_wait_for(rig):
    events = [(1_000, user(1)), (1_001, user(2)), (1_002, user(2)), (4_000, user(3))]
    run = rig("WSJ-WBM", budget=1, fill="on-demand").run([*events, (6_000, user(3))], batches=[[2]])
    # Two mappings of user 3 have three evaluations to go, those of user 2 one.
    assert run.outcomes[0]["elected"] == ((user(3),),)


def test_a_key_that_the_service_does_not_know_is_absent_and_asked_for_again(rig):
    run = rig("WSJ-WBM", rows=[], budget=1, fill="on-demand", change_interval="4s")
    events = [(at, user(1)) for at in range(1_000, 30_000, 1_000)]
    run.run(events, batches=[[1]])
    assert run.held() == {(user(1),)}
    assert run.outcomes[0]["sets"].g == 0
    run.service.rows.append((user(1), integer(5)))
    run.run(events, batches=[[1], [2]])
    assert run.slices["?user"].to_pylist() == [user(1)]
    assert run.outcomes[-1]["changed"] == 1


def test_an_allowance_for_the_first_fill_is_spent_once_and_on_missing_units_only(rig):
    run = rig("WSJ-LRU", budget=2, start=3, fill="on-demand", change_interval="1s")
    run.run(EVENTS, batches=[[1], [2], [3]])
    assert [len(outcome["elected"]) for outcome in run.outcomes] == [5, 2, 0]
    assert run.state.view("bkg").started == 3


def test_the_allowance_is_not_granted_again_after_a_crash(rig, tmp_path):
    """Reserved and perhaps sent: what the first attempt took is gone."""
    run = rig("WSJ-LRU", budget=2, start=3, fill="on-demand", change_interval="1s")
    storage = CrashingStorage(str(run.folder), folder="services/bkg/journal", at=1)
    with pytest.raises(Crash):
        run.run(EVENTS, batches=[[1]], storage=storage)
    run.run(EVENTS, batches=[[1], [2]])
    assert sum(len(keys) for keys in run.service.asked) <= 2 + 2 + 3
    assert run.state.view("bkg").started == 3


def test_units_that_no_window_needs_any_more_leave(rig):
    events = [(1_000, user(1)), *((at, user(2)) for at in range(1_000, 100_000, 2_000))]
    run = rig("WSJ-WBM", budget=2, fill="on-demand", keep_windows=4)
    run.run(events, batches=[[number] for number in range(1, 12)])
    assert run.held() == {(user(2),)}
    evicted = [outcome["evaluation"] for outcome in run.outcomes if outcome["evicted"]]
    # Evaluation 2, at 10 s, is the last that needs it; four windows later it has left.
    assert evicted == [7]
    assert len(run.view) == 1


def test_units_that_left_do_not_come_back_with_a_restart(rig):
    """They leave at an evaluation that fetches nothing."""
    batches = [[number] for number in range(1, 12)]
    run = rig("WSJ-WBM", budget=2, fill="on-demand", keep_windows=4, change_interval="1h")
    run.run([(1_000, user(1)), (1_000, user(2))], batches=batches)
    assert run.held() == set()
    run.run([], batches=batches)
    assert run.held() == set()


@pytest.mark.parametrize("seed", range(3))
def test_a_view_that_is_filled_is_the_same_after_a_restart(rig, seed):
    events, batches = random_events(seed), [[1], [2, 3], [4], [5, 6], [7]]
    whole = rig("WSJ-WBM", fill="on-demand", folder="whole").run(events, batches=batches)
    parts = rig("WSJ-WBM", fill="on-demand", folder="parts")
    for number in range(1, len(batches) + 1):
        parts.run(events, batches=batches[:number])
    assert parts.outcomes == whole.outcomes
    assert parts.held() == whole.held()
