"""What a crash at any write leaves of view and budget."""

from dataclasses import fields

import numpy as np
import pytest

from bestbefore.view import Units

from .conftest import BATCHES, Crash, CrashingStorage, integer, random_events, user


def state_of(rig):
    """All that elections depend on; where rows lie is no part of it."""
    names = [each.name for each in fields(Units) if each.name != "row_start"]
    columns = {name: np.nan_to_num(getattr(rig.view.units, name)).tolist() for name in names}
    rows = [sorted(rig.view.rows_of(number)) for number in range(len(rig.view))]
    learned = None if rig.view.rates is None else rig.view.rates.log_weight.tolist()
    return rig.view.keys, columns, rows, rig.state.view("bkg").saved, learned


CASES = {
    "capacity": ("MP(CWSJ,WBM,LRU)", {"capacity": 4}),
    "replacement by freshness": ("MP(AW,RND,FRP)", {"capacity": 5}),
    "missing": ("FWSJ-RND", {}),
    "flexible": ("FBA(SBM-BGP)", {"change_interval": "7s"}),
    "learned": ("CWSJ-WBM(fill=true)", {"change_interval": "learned"}),
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
        if not run.job.policy.flexible:
            assert sum(map(len, run.service.asked)) <= 2 * 11
        assert len(run.held()) <= view.get("capacity", 99)
        assert run.outcomes[-1]["sets"].mappings == whole.outcomes[-1]["sets"].mappings
