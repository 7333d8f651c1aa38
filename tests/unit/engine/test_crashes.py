"""What a crash at any write leaves of view and budget."""

import numpy as np
import pytest

from bestbefore.view import local_view
from bestbefore.view.units import COLUMNS

from .conftest import BATCHES, Crash, CrashingStorage, integer, random_events, user


def state_of(rig):
    """All that elections depend on; where rows lie is no part of it."""
    names = [name for name in COLUMNS if name not in {"row_start", "noted"}]
    columns = {name: np.nan_to_num(getattr(rig.view.units, name)).tolist() for name in names}
    rows = [sorted(rig.view.rows_of(number)) for number in range(len(rig.view))]
    rates, learned = rig.view.units.rates, None
    if rates is not None:
        learned = rates.learned(np.arange(len(rig.view))).tolist(), rates.population
    counted = rig.view.units.watched, vars(rig.view.units.needs)
    return rig.view.keys, columns, rows, rig.state.view("bkg").saved, learned, counted


CASES = {
    "capacity": ("MP(CWSJ,WBM,LRU)", {"capacity": 4}),
    "replacement by freshness": ("MP(AW,RND,FRP)", {"capacity": 5}),
    "missing": ("FWSJ-RND", {}),
    "flexible": ("FBA(SBM-BGP)", {"change_interval": "7s"}),
    "learned": ("CWSJ-WBM(fill=true)", {"change_interval": "learned"}),
    "expected gain": ("EFG", {"change_interval": "learned"}),
    "gain and capacity": ("MP(AW,EFG,EFG)", {"change_interval": "learned", "capacity": 5}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_crash_between_evaluations_is_repeated_identically(rig, case):
    policy, view = CASES[case]
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(7, users=16)
    whole = rig(policy, rows=rows, budget=2, **view).run(events, batches=BATCHES)
    requests = len(whole.service.asked)
    assert requests >= 8
    for at in range(1, requests + 1):
        run = rig(policy, rows=rows, budget=2, folder=f"crash{at}", **view)
        storage = CrashingStorage(str(run.folder), folder="services/bkg/ledger", at=at)
        with pytest.raises(Crash):
            run.run(events, batches=BATCHES, storage=storage)
        run.run(events, batches=BATCHES)
        assert run.service.asked == whole.service.asked
        assert run.outcomes == whole.outcomes
        assert state_of(run) == state_of(whole)


@pytest.mark.parametrize("case", CASES)
def test_a_crash_before_the_journal_wastes_budget_and_adds_none(rig, case):
    policy, view = CASES[case]
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(7, users=16)
    whole = rig(policy, rows=rows, budget=2, **view).run(events, batches=BATCHES)
    for at in range(1, len(whole.service.asked) + 1):
        run = rig(policy, rows=rows, budget=2, folder=f"crash{at}", **view)
        storage = CrashingStorage(str(run.folder), folder="services/bkg/journal", at=at)
        with pytest.raises(Crash):
            run.run(events, batches=BATCHES, storage=storage)
        run.run(events, batches=BATCHES)
        # All that was asked, whether or not its answer was lost, came out of the budgets.
        assert sum(map(len, run.service.asked)) <= 2 * (11 + 1)
        if not run.job.policy.saves:
            assert sum(map(len, run.service.asked)) <= 2 * 11
        assert len(run.held()) <= view.get("capacity", 99)
        assert run.outcomes[-1]["sets"].mappings == whole.outcomes[-1]["sets"].mappings


@pytest.mark.parametrize("case", ["capacity", "missing", "learned"])
def test_a_crash_of_a_view_whose_holes_are_left_for_later_is_repeated_identically(
    rig, case, monkeypatch
):
    monkeypatch.setattr(local_view, "_MOVED_AT_ONCE", 0)
    monkeypatch.setattr(local_view, "_MOVED_PER_HOLE", 1)
    policy, view = CASES[case]
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(7, users=16)
    whole = rig(policy, rows=rows, budget=2, **view).run(events, batches=BATCHES)
    whole.view.compact(fully=True)
    for at in range(1, len(whole.service.asked) + 1):
        run = rig(policy, rows=rows, budget=2, folder=f"crash{at}", **view)
        storage = CrashingStorage(str(run.folder), folder="services/bkg/ledger", at=at)
        with pytest.raises(Crash):
            run.run(events, batches=BATCHES, storage=storage)
        run.run(events, batches=BATCHES)
        assert run.outcomes == whole.outcomes
        run.view.compact(fully=True)
        assert state_of(run) == state_of(whole)


@pytest.mark.parametrize("case", CASES)
def test_evaluations_that_are_reserved_for_together_are_what_they_are_one_by_one(rig, case):
    """As long as nothing crashes, and after a crash while something is reserved."""
    policy, view = CASES[case]
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(7, users=16)
    whole = rig(policy, rows=rows, budget=2, **view).run(events, batches=BATCHES)
    run = rig(policy, rows=rows, budget=2, folder="together", **view)
    run.together_s = 3600.0
    run.run(events, batches=BATCHES)
    assert run.service.asked == whole.service.asked
    assert run.outcomes == whole.outcomes
    assert state_of(run) == state_of(whole)
    if run.job.policy.saves:
        # It takes more than is reserved ahead now and then: a crash there wastes what is.
        return
    written = run.state.view("bkg").ledger
    assert written < whole.state.view("bkg").ledger
    for at in range(1, written + 1):
        run = rig(policy, rows=rows, budget=2, folder=f"crash{at}", **view)
        run.together_s = 3600.0
        storage = CrashingStorage(str(run.folder), folder="services/bkg/ledger", at=at)
        with pytest.raises(Crash):
            run.run(events, batches=BATCHES, storage=storage)
        run.run(events, batches=BATCHES)
        assert run.service.asked == whole.service.asked
        assert run.outcomes == whole.outcomes


class DyingService:
    """A service whose user ends while it asks for the n-th time."""

    def __init__(self, service, at):
        self.service, self.left = service, at

    def fetch(self, keys, **options):
        fetched = self.service.fetch(keys, **options)
        self.left -= 1
        if not self.left:
            raise Crash("while asking")
        return fetched

    def __getattr__(self, name):
        return getattr(self.service, name)


def run_twice(run, events, at):
    """A run that ends while it asks for the n-th time, and the one that goes on with it.

    Evaluations are reserved for together, if they may be, however long they take.
    """
    run.together_s, service = 3600.0, run.service
    run.service = DyingService(service, at)
    with pytest.raises(Crash):
        run.run(events, batches=BATCHES)
    run.service = service
    run.run(events, batches=BATCHES)


@pytest.mark.parametrize("case", CASES)
def test_a_crash_among_evaluations_reserved_together_wastes_budget_and_adds_none(rig, case):
    policy, view = CASES[case]
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(7, users=16)
    whole = rig(policy, rows=rows, budget=2, **view).run(events, batches=BATCHES)
    for at in range(1, len(whole.service.asked) + 1):
        run = rig(policy, rows=rows, budget=2, folder=f"crash{at}", **view)
        run_twice(run, events, at)
        assert sum(map(len, run.service.asked)) <= 2 * (11 + run.job.policy.saves)
        assert len(run.held()) <= view.get("capacity", 99)
        assert run.outcomes[-1]["sets"].mappings == whole.outcomes[-1]["sets"].mappings


@pytest.mark.parametrize(
    ("policy", "options", "most"),
    [
        # At a crash other evaluations have not sent anything yet on what one of them left over.
        ("FBA(SBM-BGP)", {"change_interval": "7s"}, 2 * 12),
        ("EFG", {"change_interval": "learned", "fill": "on-demand", "start": 7}, 2 * 11 + 7),
        ("price(EFG)", {"change_interval": "learned"}, 2 * 11),
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_what_one_evaluation_leaves_to_others_is_spent_once_whatever_crashes(
    rig, policy, options, most, seed
):
    rows = [(user(n), integer(n)) for n in range(12)]
    events = random_events(seed, users=16)
    asked = len(rig(policy, rows=rows, **options).run(events, batches=BATCHES).service.asked)
    for at in range(1, asked + 1):
        run = rig(policy, rows=rows, folder=f"crash{at}", **options)
        run_twice(run, events, at)
        assert sum(map(len, run.service.asked)) <= most


def snapshots(rig):
    """The batch of the snapshot that the state refers to, after each batch."""
    batches, found = [[number] for number in range(1, 12)], []
    for last in range(1, len(batches) + 1):
        rig.run(random_events(7, users=64, until=60_000), batches=batches[:last])
        found.append(rig.state.view("bkg").snapshot_batch)
    return found


@pytest.mark.parametrize("every", [1, 3])
def test_a_snapshot_is_written_when_the_journal_has_grown_with_the_view(rig, monkeypatch, every):
    """Of 64 units, four refreshes are a sixteenth; two are made at each evaluation."""
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_EVERY", every)
    rows = [(user(n), integer(n)) for n in range(64)]
    found = snapshots(rig("WSJ-LRU", rows=rows, budget=2))
    assert (
        found
        == {1: [-1, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9], 3: [-1, -1, 2, 2, 2, 5, 5, 5, 8, 8, 8]}[every]
    )
    monkeypatch.setattr("bestbefore.engine.served_view._SHARE", 1)
    assert snapshots(rig("WSJ-LRU", rows=rows, budget=2, folder="rarely")) == [-1] * 11
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_AT_LATEST", 5)
    found = snapshots(rig("WSJ-LRU", rows=rows, budget=2, folder="at latest"))
    assert found == [-1, -1, -1, -1, 4, 4, 4, 4, 4, 9, 9]
