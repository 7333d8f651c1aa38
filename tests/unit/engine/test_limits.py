"""A view whose service is asked within limits."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil

import pytest

from bestbefore.engine import Engine
from bestbefore.engine.quality import Answer, quality_of
from bestbefore.errors import InputError, ServiceError
from bestbefore.limits.usage import LANDING_MS
from bestbefore.maintenance import Outcome
from bestbefore.service import Fetched
from bestbefore.storage import LocalStorage
from tests.row_service import RowService

from .conftest import BATCHES, Crash, CrashingStorage, integer, random_events, user

EVENTS = random_events(7)
ROWS = [(user(n), integer(n)) for n in range(12)]
MINUTE = 60_000


@dataclass
class CountingService(RowService):
    """A service that counts the requests for its units, and sends no more than it may."""

    size: int = 1
    sent: int = 0
    confirms: bool = False

    def fetch(self, keys, *, requests_allowed=None):
        batches = ceil(len(keys) / self.size)
        requests = batches * 2 if self.confirms else batches
        if requests_allowed is not None and requests > requests_allowed:
            batches = requests_allowed // 2 if self.confirms else requests_allowed
            requests = requests_allowed
        asked = keys[: batches * self.size]
        self.sent += requests
        unsent = frozenset(keys) - frozenset(asked)
        fetched = super().fetch(asked)
        failed = {**fetched.failed, **dict.fromkeys(unsent, "no request was left")}
        return Fetched(fetched.rows, failed, requests, unsent=unsent)


@pytest.fixture
def limited(rig):
    """Make a rig with limits over a service that counts."""

    def make(limits, *, size=1, policy="WSJ-LRU", **more):
        service = {"units_per_request": size}
        made = rig(policy, rows=ROWS, limits=limits, service=service, **{"budget": 4, **more})
        made.service = CountingService(ROWS, size=size)
        return made

    return make


def bound(rig):
    return [outcome["bound_by"] for outcome in rig.outcomes]


def asked(rig):
    return sum(map(len, rig.service.asked))


def test_without_limits_nothing_is_written_and_nothing_binds(limited):
    run = limited({}).run(EVENTS, batches=BATCHES)
    assert set(bound(run)) == {None}
    assert not (run.folder / "limits").exists()


def test_a_rate_binds_and_those_left_out_do_not_fail(limited):
    # Loading took one of them; eleven evaluations come in no time.
    run = limited({"per_minute": 9}).run(EVENTS, batches=BATCHES)
    assert run.service.sent == 8
    assert asked(run) == 8
    assert "per_minute" in bound(run)
    assert all(not outcome["failed"] for outcome in run.outcomes)
    assert not run.view.units.failures.any()
    assert not any(outcome["waiting"] for outcome in run.outcomes)


def test_the_elected_are_those_that_are_asked(limited):
    free = limited({}, folder="free").run(EVENTS, batches=BATCHES)
    run = limited({"per_minute": 4}, folder="bound").run(EVENTS, batches=BATCHES)
    assert len(run.outcomes[0]["elected"]) == 3
    assert set(run.outcomes[0]["elected"]) <= set(free.outcomes[0]["elected"])
    assert [outcome["elected"] for outcome in run.outcomes[1:]] == [()] * 10


def test_requests_that_carry_several_units_count_once(limited):
    run = limited({"per_minute": 3}, size=3).run(EVENTS, batches=BATCHES)
    assert run.service.sent == 2
    assert asked(run) == 6


@pytest.mark.parametrize("limits", [{"units_per_evaluation": 1}, {"requests_per_evaluation": 1}])
def test_an_evaluation_has_limits_of_its_own(limited, limits):
    run = limited(limits).run(EVENTS, batches=BATCHES)
    assert {len(outcome["elected"]) for outcome in run.outcomes} <= {0, 1}
    assert next(iter(limits)) in bound(run)


def test_flexible_allocation_stays_within_limits(limited):
    limits = {"units_per_evaluation": 2, "total": 9}
    run = limited(limits, policy="FBA(SBM-BGP)", change_interval="7s")
    run.run(EVENTS, batches=BATCHES)
    assert max(len(outcome["elected"]) for outcome in run.outcomes) == 2
    assert run.service.sent == 8


def test_a_unit_that_no_request_was_left_for_is_a_candidate_again(limited):
    run = limited({"requests_per_evaluation": 2}, size=2)
    run.service.confirms = True
    run.run(EVENTS, batches=BATCHES)
    assert run.service.sent <= 2 * 11
    assert all(not outcome["failed"] for outcome in run.outcomes)
    assert not run.view.units.failures.any()
    assert {len(outcome["elected"]) for outcome in run.outcomes} <= {0, 1, 2}


@pytest.mark.parametrize("folder", ["services/bkg/ledger", "services/bkg/journal", "limits"])
def test_no_crash_adds_requests(limited, folder):
    limits = {"total": 12, "requests_per_evaluation": 2}
    for at in range(1, 14):
        run = limited(limits, folder=f"{folder}{at}".replace("/", "-"))
        storage = CrashingStorage(str(run.folder), folder=folder, at=at)
        try:
            run.run(EVENTS, batches=BATCHES, storage=storage)
        except Crash:
            run.run(EVENTS, batches=BATCHES)
        assert run.service.sent <= 12
        assert asked(run) <= 2 * 11


def test_what_is_recalled_takes_no_request(limited):
    run = limited({"total": 100})
    storage = CrashingStorage(str(run.folder), folder="services/bkg/journal", at=3)
    with pytest.raises(Crash):
        run.run(EVENTS, batches=[[1, 2, 3]], storage=storage)
    sent = run.service.sent
    run.run(EVENTS, batches=[[1, 2, 3]])
    # The third asked, and its answer was lost with its budget; the others have theirs.
    assert run.service.sent == sent
    assert [len(outcome["elected"]) > 0 for outcome in run.outcomes] == [True, True, False]


def test_after_a_minute_there_is_more(limited):
    run = limited({"per_minute": 4})
    run.run(EVENTS, batches=[[1, 2]])
    assert run.service.sent == 3
    run.clocks.now_ms += MINUTE + LANDING_MS + 1
    run.run(EVENTS, batches=[[1, 2], [3]])
    assert run.service.sent == 7


def test_a_view_is_not_loaded_when_no_request_is_left(limited):
    run = limited({"quiet": ["00:00-12:00 UTC", "12:00-23:59 UTC"]})
    with pytest.raises(ServiceError, match=r"bkg cannot be loaded from: limits.quiet .* before 20"):
        run.run(EVENTS, batches=BATCHES)
    assert asked(run) == 0


def test_queries_of_a_process_share_the_ledger_of_a_service(limited, tmp_path):
    engine, storage = Engine(None), LocalStorage(str(tmp_path))
    job, other = (limited({"total": most}).job for most in (5, 6))
    assert engine._requests(limited({"per_second": 2}).job, storage, ExitStack()) is None
    with ExitStack() as opened:
        first = engine._requests(job, storage, opened)
        assert engine._requests(job, storage, opened) is first
        with pytest.raises(InputError, match="under other limits"):
            engine._requests(other, storage, opened)
    with ExitStack() as opened:
        assert engine._requests(other, storage, opened) is not first


def test_the_journal_and_the_quality_record_say_what_bound(limited):
    run = limited({"per_minute": 3, "total": 50}).run(EVENTS, batches=[[1]])
    (file,) = (run.folder / "services/bkg/journal/batch-000000000000").glob("evaluation-*")
    (noted,) = json.loads(file.read_text())["outcomes"]
    assert noted["limits"] == ["per_minute", {"total": 47, "per_minute": 0}]
    answer = Answer(1, 5_000, (0, 5_000), 3, 0.5, 0)
    outcome = Outcome(1, 5_000, bound_by="per_minute", left={"total": 46, "per_minute": 0})
    other = replace(outcome, bound_by=None, left={"total": 7})
    record = quality_of(answer, [(run.job, outcome), (run.job, other)])
    assert record.limits == {"bound": "per_minute", "left": {"total": 7, "per_minute": 0}}
    assert quality_of(answer, [(run.job, Outcome(1, 5_000))]).limits == {}
