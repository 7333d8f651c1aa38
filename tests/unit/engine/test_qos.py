"""A job that says how fresh or how soon it wants its answers."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from bestbefore.engine.alerts import deadline_alert, freshness_alert
from bestbefore.engine.deadline import Deadline, RequestPace
from bestbefore.job import Qos
from bestbefore.maintenance import EventClock
from bestbefore.service import Fetched
from tests.row_service import RowService

from .conftest import integer, user

EVENTS = [(1_000 + 100 * number, user(number)) for number in range(8)]
LATER = [*EVENTS, *((6_000 + 100 * number, user(number)) for number in range(8))]


@pytest.mark.parametrize(("wanted", "refreshes"), [(0.3, 0), (0.7, 5), (0.95, 8)])
def test_no_more_is_refreshed_than_the_wanted_freshness_takes(rig, wanted, refreshes):
    """Five seconds old with an interval of about five: some .39 of eight are fresh."""
    run = rig("WSJ-WBM", budget=None, qos={"freshness": wanted}, change_interval="5s")
    run.run(EVENTS, batches=[[1]])
    outcome = run.raw[-1]
    assert len(outcome.elected) == refreshes
    assert outcome.window.freshness(outcome.fresh) >= wanted
    assert freshness_alert(run.job, outcome) is None


def test_what_is_missing_is_not_fresh(rig):
    run = rig("WSJ-WBM", budget=None, qos={"freshness": 0.5}, fill="on-demand")
    run.run(EVENTS, batches=[[1]])
    assert len(run.outcomes[0]["elected"]) == 4


def test_an_alert_says_that_the_budget_is_too_small_and_which_would_do(rig):
    run = rig("WSJ-WBM", budget=1, qos={"freshness": 0.7}, change_interval="5s")
    run.run(EVENTS, batches=[[1]])
    alert = freshness_alert(run.job, run.raw[-1])
    assert alert.promise == "freshness"
    assert "the budget is 1 refreshes, 5 are needed" in alert.why
    assert alert.remedy == "budget.refreshes = 5 would keep it"
    better = rig("WSJ-WBM", budget=5, qos={"freshness": 0.7}, change_interval="5s", folder="more")
    better.run(EVENTS, batches=[[1]])
    assert freshness_alert(better.job, better.raw[-1]) is None


def test_an_alert_names_the_service_that_fails(rig):
    run = rig("WSJ-WBM", budget=None, qos={"freshness": 0.9}, change_interval="5s")
    run.service.down.update((user(number),) for number in range(8))
    run.run(EVENTS, batches=[[1]])
    assert "7 refreshes failed (down)" in freshness_alert(run.job, run.raw[-1]).why


def test_an_alert_names_the_limit_that_bound(rig):
    run = rig(
        "WSJ-WBM",
        budget=None,
        qos={"freshness": 0.9},
        limits={"units_per_evaluation": 2},
        change_interval="5s",
    )
    run.run(EVENTS, batches=[[1]])
    alert = freshness_alert(run.job, run.raw[-1])
    assert "limits.units_per_evaluation leaves 2 refreshes, 7 are needed" in alert.why
    assert alert.remedy == "raise limits.units_per_evaluation"


def test_an_alert_says_what_cannot_be_kept_at_all(rig):
    """Writing takes a second, and units change every second."""
    run = rig("WSJ-WBM", budget=None, qos={"freshness": 0.9}, change_interval="1s")
    run.clock = EventClock(lambda: 10_000, 10_000, live=True, writing_ms=1_000)
    run.run(LATER, batches=[[1], [2]])
    alert = freshness_alert(run.job, run.raw[-1])
    # By the interval alone e^(−1) = .37; what was fetched in the meantime had not changed.
    window = run.raw[-1].window
    lasting = run.view.units.unchanged(window.unit, np.full(len(window), 1_000.0)).mean()
    assert 0.37 < lasting < 0.7
    told = re.search(r"too fast: with everything refreshed it would be ([\d.]+)%", alert.why)
    best = float(told[1]) / 100
    assert best == pytest.approx(lasting, abs=0.01)
    assert f"qos.freshness = {best:.2f} can be kept, or answer sooner" in alert.remedy


def test_a_late_answer_says_whether_the_service_or_the_query_was_slow(rig):
    run = rig("WSJ-WBM").run(EVENTS, batches=[[1]])
    slow = [run.raw[0].__class__(1, 0, reply=run.raw[0].reply.__class__(seconds=1.5))]
    assert deadline_alert(Qos(deadline_ms=2_000), slow, 2_000) is None
    assert "the service was slower" in deadline_alert(Qos(deadline_ms=2_000), slow, 2_600).why
    alert = deadline_alert(Qos(deadline_ms=2_000), slow, 4_010)
    assert "the query itself took 2510 ms" in alert.why
    assert '"4100ms" would have been kept' in alert.remedy


@dataclass
class SlowService(RowService):
    """It is told deadlines; whenever it was asked, the next window has just closed."""

    now_ms: int = 5_000
    each_ms: int = 200

    def fetch(self, keys, *, requests_allowed=None, deadline_s=None):
        self.deadlines = [*getattr(self, "deadlines", []), deadline_s]
        self.now_ms += 5_000
        found = super().fetch(keys)
        return Fetched(found.rows, requests=len(keys), request_seconds=(self.each_ms / 1000,) * 4)


def test_as_many_are_elected_as_fit_into_the_deadline(rig):
    """Four connections, 200 ms each, a deadline of 1 s of which writing takes 300 ms: 12 fit."""
    service = {"units_per_request": 1, "connections": 4}
    rows = [(user(number), integer(number)) for number in range(40)]
    events = [(at, user(number)) for at in (1_000, 6_000, 11_000) for number in range(40)]
    run = rig("WSJ-LRU", rows=rows, budget=None, qos={"deadline": "1s"}, service=service)
    run.service = SlowService(rows)
    run.clock = EventClock(lambda: run.service.now_ms, 0, live=True, writing_ms=300)
    run.run(events, batches=[[1], [2], [3]])
    # Nothing is known before the first; a request that is cut off would be the client's matter.
    assert [len(outcome["elected"]) for outcome in run.outcomes] == [40, 12, 12]
    assert run.service.deadlines == [0.7, 0.7, 0.7]
    assert [outcome.budget for outcome in run.raw[1:]] == [12, 12]


def test_requests_leave_time_for_the_rest_of_an_evaluation_within_a_slide():
    """Else the windows that follow would come later and later."""
    clock = EventClock(lambda: 5_100, 5_100, live=True, writing_ms=200, busy_ms=700)
    assert Deadline(2_000, clock, 5_000, slide_ms=1_000).left_s() == 0.3
    assert Deadline(2_000, clock, 5_000, slide_ms=9_000).left_s() == 1.7
    assert Deadline(2_000, clock, 5_000, slide_ms=500).left_s() == 0.0


def test_without_a_deadline_nobody_waits_for_one():
    clock = EventClock(lambda: 0, 0, live=False)
    assert Deadline(None, clock, 0, 1).left_s() is None
    assert RequestPace().fitting(1.0, None) is None


def test_without_a_cache_all_is_asked_for_and_nothing_is_kept(rig):
    run = rig("WST", budget=1, mode="none", fill="on-demand")
    run.run([*EVENTS[:3], (6_000, user(5))], batches=[[1], [2], [3]])
    asked = [sorted(keys) for keys in run.service.asked]
    first, fifth = [(user(number),) for number in range(3)], (user(5),)
    assert asked == [first, [*first, fifth], [fifth]]
    assert run.held() == {fifth}
    assert run.outcomes[1]["sets"].completeness == 1.0


def test_without_a_cache_what_fails_is_missing(rig):
    run = rig("WST", mode="none", fill="on-demand")
    run.run([*EVENTS[:3], *LATER[8:11]], batches=[[1]])
    run.service.down.add((user(1),))
    run.run([*EVENTS[:3], *LATER[8:11]], batches=[[1], [2]])
    assert run.held() == {(user(0),), (user(2),)}


def test_a_frozen_cache_is_filled_and_never_refreshed(rig):
    run = rig("WST", budget=9, mode="frozen", fill="on-demand", change_interval="1s")
    run.run(LATER, batches=[[1], [2], [3]])
    assert [len(outcome["elected"]) for outcome in run.outcomes] == [8, 0, 0]
