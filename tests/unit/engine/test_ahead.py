"""Refreshes that are made in the slide before the evaluation that they are for."""

import json
import time
from dataclasses import dataclass, field
from threading import Event

import pytest

from bestbefore.engine.ahead import Ahead, Plan
from bestbefore.engine.deadline import RequestPace
from bestbefore.errors import JobError
from bestbefore.maintenance import EventClock
from tests.row_service import RowService

from .conftest import integer, user

ROWS = [(user(number), integer(number)) for number in range(6)]
EVENTS = [(at, user(number)) for at in (1_000, 6_000, 11_000, 16_000) for number in range(6)]
BATCHES = [[1], [2], [3]]


@pytest.fixture
def live(rig):
    """A rig whose stream is live; batches are run one by one."""

    def make(**options):
        run = rig("WSJ-LRU", rows=ROWS, ahead=True, **options)
        run.clock = EventClock(lambda: 9_950, 9_950, live=True)
        # The next window closes at 10 s.
        run.wall = lambda: 9_940
        return run

    return make


def wait_until(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


def next_batch(run, number):
    run._batch(number, BATCHES[number], EVENTS)


def test_what_the_next_evaluation_elects_is_fetched_before_it_and_nothing_during_it(live):
    run = live(budget=2).run(EVENTS, batches=[[1]])
    wait_until(lambda: len(run.service.asked) == 2)
    asked = run.service.asked[1]
    run.service.rows[:] = [(user(number), integer(100 + number)) for number in range(6)]
    next_batch(run, 1)
    assert run.outcomes[1]["elected"] == tuple(asked)
    # It was asked before the rows changed: nothing was asked for when it was due.
    assert run.outcomes[1]["changed"] == 0
    assert run.raw[1].reply.seconds == 0.0
    assert len(set(asked) | set(run.service.asked[0])) == 4, "LRU goes on where it was"


def test_the_refreshes_are_reserved_in_the_name_of_the_evaluation_and_before_they_are_sent(live):
    run = live(budget=2)
    sent = Event()

    @dataclass
    class Looking(RowService):
        reserved: list = field(default_factory=list)

        def fetch(self, keys, **options):
            ledger = json.loads((run.folder / "services/bkg/ledger.json").read_text())
            self.reserved.append([evaluation for evaluation, *_ in ledger["evaluations"]])
            if len(self.asked) == 1:
                sent.set()
            return super().fetch(keys)

    run.service = Looking(ROWS)
    run.run(EVENTS, batches=[[1]])
    assert sent.wait(10)
    assert run.service.reserved == [[1], [2]]
    run.served.close()


def test_a_crash_in_between_wastes_them_and_adds_none(live):
    run = live(budget=2).run(EVENTS, batches=[[1]])
    wait_until(lambda: len(run.service.asked) == 2)
    run.served.close()
    # The process ends here; the next one finds the reservation and no reply.
    run.run(EVENTS, batches=BATCHES[:2])
    assert sum(map(len, run.service.asked[:3])) <= 3 * 2
    assert run.outcomes[1]["elected"] == ()


def test_an_evaluation_that_comes_before_its_time_finds_nothing_asked(rig):
    """There is an hour left, and nobody waits for it."""
    job, service = rig("WSJ-LRU").job, RowService(ROWS)
    ahead = Ahead(job, service, RequestPace(), lambda: 1 / 0, lambda: 0)
    ahead.plan(Plan(2, 3_600_000, ((user(1),),), candidates=1, limit=1))
    ahead.start()
    assert ahead.take(2) is None
    assert service.asked == []


def test_a_replay_asks_when_evaluations_are_due(rig):
    run = rig("WSJ-LRU", rows=ROWS, budget=2, ahead=True).run(EVENTS, batches=BATCHES)
    assert [len(keys) for keys in run.service.asked] == [2, 2, 2]


def test_trouble_on_the_way_is_raised_by_the_next_evaluation(live):
    run, failed = live(budget=2), Event()

    class Failing(RowService):
        def fetch(self, keys, **options):
            if self.asked:
                failed.set()
                raise ZeroDivisionError
            return super().fetch(keys)

    run.service = Failing(ROWS)
    run.run(EVENTS, batches=[[1]])
    assert failed.wait(10)
    with pytest.raises(ZeroDivisionError):
        next_batch(run, 1)


@pytest.mark.parametrize("view", [{"capacity": 3}, {"mode": "none"}])
def test_what_cannot_be_foreseen_is_refused(rig, view):
    with pytest.raises(JobError, match="budget.ahead = true goes with"):
        rig("WST" if "mode" in view else "WSJ-LRU", ahead=True, **view)
