"""Units whose requests fail, or can never be sent, do not eat the budget of the others."""

import pytest

from bestbefore.errors import DamagedState
from bestbefore.service import Fetched

from .conftest import BATCHES, integer, random_events, user

USERS = range(10)
DOWN = {(user(2),), (user(5),), (user(7),)}


def always_mentioned():
    return [(1_000 + 5_000 * step, user(number)) for step in range(13) for number in USERS]


@pytest.mark.parametrize("policy", ["WSJ-LRU", "WSJ-WBM(fill=true)", "FBA(LRU)", "CWSJ-LRU"])
def test_unreachable_units_back_off_and_the_others_are_refreshed(rig, policy):
    rows = [(user(n), integer(n)) for n in USERS]
    run = rig(policy, rows=rows, budget=3, change_interval="10s")
    run.service.down |= DOWN
    run.run(always_mentioned(), batches=[[1, 2, 3], [4], [5, 6], [7, 8, 9, 10, 11, 12]])
    wasted = sum(len(outcome["failed"]) for outcome in run.outcomes)
    answered = [key for outcome in run.outcomes for key in outcome["answered"]]
    # After each failure the three wait for 2, 4 and 8 evaluations: in twelve they fail thrice.
    assert 0 < wasted <= 3 * 3
    assert set(answered) == {(user(n),) for n in USERS} - DOWN
    assert min(answered.count(key) for key in set(answered)) >= 3
    assert max(outcome["waiting"] for outcome in run.outcomes) in (2, 3)


def test_a_unit_that_answers_again_is_as_any_other(rig):
    run = rig("WSJ-LRU", rows=[(user(n), integer(n)) for n in USERS], budget=10)
    run.service.down |= DOWN
    run.run(always_mentioned(), batches=[[1]])
    run.service.down.clear()
    run.run(always_mentioned(), batches=[[1], [2], [3], [4]])
    asked = [len(outcome["elected"]) for outcome in run.outcomes]
    assert asked == [10, 7, 10, 10]
    assert run.view.units.failures.tolist() == [0] * 10
    assert [outcome["waiting"] for outcome in run.outcomes] == [0, 3, 0, 0]


def test_a_missing_unit_that_fails_backs_off_across_batches(rig):
    run = rig("CWSJ-LRU", rows=[], budget=1)
    run.service.down.add((user(3),))
    events = [(1_000 + 5_000 * step, user(3)) for step in range(9)]
    run.run(events, batches=[[number] for number in range(1, 9)])
    elected = [len(outcome["elected"]) for outcome in run.outcomes]
    assert elected == [1, 0, 1, 0, 0, 0, 1, 0]
    again = rig("CWSJ-LRU", rows=[], budget=1, folder="restarted")
    again.service.down.add((user(3),))
    for last in range(1, 9):
        again.run(events, batches=[[number] for number in range(1, last + 1)])
    assert [len(outcome["elected"]) for outcome in again.outcomes] == elected


@pytest.mark.parametrize("policy", ["CWSJ-LRU", "AW-RND", "WSJ-LRU", "GNR-LRU"])
def test_keys_that_can_never_be_sent_are_no_candidates(rig, policy):
    rows = [(user(1), integer(1)), ("_:blank", integer(2)), ("<relative>", integer(3))]
    run = rig(policy, rows=rows, budget=9)
    names = [user(1), "_:blank", "<relative>", "_:other"]
    run.run([(1_000, name) for name in names], batches=[[1]])
    assert run.service.asked == [[(user(1),)]]
    (outcome,) = run.outcomes
    assert outcome["candidates"] == 1
    assert outcome["waiting"] == (3 if policy in ("CWSJ-LRU", "AW-RND") else 2)


def test_a_unit_of_which_the_service_says_nothing_has_failed(rig):
    run = rig("WSJ-LRU", rows=[(user(n), integer(n)) for n in USERS], budget=10)
    whole = run.service.fetch

    def forgetful(keys, *, requests_allowed=None):
        fetched = whole(keys)
        stranger = {(user(99),): ((user(99), integer(1)),)}
        kept = {key: rows for key, rows in fetched.rows.items() if key not in DOWN}
        return Fetched({**kept, **stranger}, {}, requests=1)

    run.service.fetch = forgetful
    run.run(always_mentioned(), batches=[[1]])
    (outcome,) = run.outcomes
    assert outcome["failed"] == dict.fromkeys(sorted(DOWN), "the service said nothing of it")
    assert len(outcome["answered"]) == 7
    assert run.view.units.failures.sum() == 3
    assert len(run.view) == 10


def test_a_snapshot_lets_go_of_missing_units_that_nobody_asks_for_any_more(rig, monkeypatch):
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_EVERY", 4)
    run = rig("CWSJ-LRU", rows=[], budget=1)
    run.service.down.add((user(3),))
    run.run([(1_000, user(3))], batches=[[number] for number in range(1, 5)])
    assert run.view.keys == [(user(3),)]
    run.run([(1_000, user(3))], batches=[[number] for number in range(1, 9)])
    assert run.view.keys == []


def test_a_journal_that_lost_a_batch_is_not_applied_to_the_wrong_units(rig):
    run = rig("MP(CWSJ,LRU,LRU)", rows=[(user(n), integer(n)) for n in range(12)], capacity=4)
    run.run(random_events(1), batches=BATCHES)
    journal = run.folder / "services" / "bkg" / "journal"
    first = sorted(journal.iterdir())[0]
    for file in first.iterdir():
        file.unlink()
    first.rmdir()
    with pytest.raises(DamagedState, match="names the unit .*, which the view does not know"):
        run.run(random_events(1), batches=BATCHES)


def test_a_journal_of_failures_is_replaced_by_a_snapshot_too(rig, monkeypatch):
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_EVERY", 4)
    rows = [(user(n), integer(n)) for n in range(64)]
    run = rig("LRU", rows=rows, budget=2)
    run.service.down |= {(user(n),) for n in range(64)}
    events = [(time, user(n)) for time in range(1_000, 60_000, 5_000) for n in range(64)]
    run.run(events, batches=[[number] for number in range(1, 9)])
    assert run.state.view("bkg").snapshot_batch >= 3
