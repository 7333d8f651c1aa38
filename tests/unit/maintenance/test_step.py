"""One evaluation's maintenance over a local view: what is spent, learned and told."""

import numpy as np
import pytest

from bestbefore.maintenance import (
    MemoryLedger,
    Moment,
    Reply,
    Situation,
    apply_outcome,
    maintain,
    resolve_policy,
)
from bestbefore.maintenance.window_units import units_of_keys
from bestbefore.view import ChangeRates, UnitDefaults, view_of
from tests.outcomes import outcome_of

KEYS = [(f"<http://e/{letter}>",) for letter in "abcdef"]


class Table:
    """A source that has one row per unit, and remembers what it was asked."""

    def __init__(self, view):
        self.view, self.asked = view, []

    def fetch(self, units):
        self.asked.append(units.tolist())
        content = [[(*self.view.keys[unit], '"new"')] for unit in units.tolist()]
        return Reply(answered=units, content=content, requests=1)


def evaluate(policy, *, held, needed, ledger=None, **situation):
    """The first evaluation over a view of some held units, all stale, and its outcome."""
    rows = [(*key, '"old"') for key in KEYS[:held]]
    view = view_of(rows, ["k", "v"], ["k"], defaults=UnitDefaults(1_000))
    view.begin(0)
    view.learn(KEYS[:needed])
    number = np.sort(view.numbers(KEYS[:needed]))
    window = units_of_keys(number, np.full(needed, 2), np.ones(needed, np.int64))
    return maintain(
        resolve_policy(policy),
        view,
        lambda: window,
        Situation(Moment(10_000, 2_000, 1_000), evaluation=1, **situation),
        source=Table(view),
        ledger=ledger or MemoryLedger(),
    )


def test_a_ledger_in_memory_grants_an_evaluation_no_more_than_its_limit_in_all():
    ledger = MemoryLedger()
    assert [ledger.reserve(1, 3, limit=5) for _ in range(3)] == [3, 2, 0]
    assert ledger.spent(1) == 5
    assert ledger.reserve(2, 3, limit=5) == 3


@pytest.mark.parametrize(
    ("missing", "started"), [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 3)]
)
def test_only_what_is_spent_beyond_the_budget_counts_as_the_first_fill(missing, started):
    outcome = evaluate("WSJ-LRU", held=0, needed=missing, budget=2, start=3, fill=True)
    assert len(outcome.elected) == min(missing, 5)
    assert outcome.started == started
    assert outcome.saved == 0


def test_an_evaluation_that_needs_nothing_asks_nothing_and_takes_no_time():
    outcome = evaluate("WSJ-LRU", held=2, needed=0, budget=2)
    reply = outcome.reply
    assert (len(outcome.elected), outcome.candidates, outcome.changed, outcome.waiting) == (0,) * 4
    assert (reply.requests, reply.seconds, reply.dropped, reply.state) == (0, 0.0, 0, "ok")


def test_without_an_allowance_for_the_first_fill_the_budget_is_all_there_is():
    outcome = evaluate("WSJ-LRU", held=0, needed=6, budget=2, fill=True)
    assert len(outcome.elected) == 2
    assert outcome.started == 0


@pytest.mark.parametrize(("missing", "saved"), [(0, 2), (1, 1), (2, 0), (3, 0), (5, 0), (6, 0)])
def test_what_the_first_fill_took_is_not_borrowed_from_later_evaluations(missing, saved):
    outcome = evaluate("FBA(IBM-BGP)", held=0, needed=missing, budget=2, start=3, fill=True)
    assert outcome.saved == saved


def test_units_are_learned_of_also_when_others_enter_in_the_same_reply():
    rates = ChangeRates(0, width_ms=10_000, slide_ms=5_000)
    view = view_of([(*KEYS[0], '"1"')], ["k", "v"], ["k"], rates=rates)
    view.begin(0)
    unknown = int(view.units.interval_ms[0])
    rows = {KEYS[0]: [(*KEYS[0], '"1"')], KEYS[1]: [(*KEYS[1], '"2"')]}
    apply_outcome(view, outcome_of(view, 60_000, rows))
    assert view.units.interval_ms[0] > unknown
    assert view.units.interval_ms[1] == unknown


@pytest.mark.parametrize("changes", [False, True])
def test_what_is_learned_does_not_depend_on_when_the_stream_is(changes):
    learned = []
    for begun_ms in (0, 1_750_000_000_000):
        rates = ChangeRates(0, width_ms=10_000, slide_ms=5_000)
        view = view_of([(*KEYS[0], '"1"')], ["k", "v"], ["k"], rates=rates)
        view.begin(begun_ms)
        for ms in (5_000, 20_000, 21_000):
            content = [(*KEYS[0], f'"{ms if changes else 1}"')]
            apply_outcome(view, outcome_of(view, begun_ms + ms, {KEYS[0]: content}))
            learned.append(int(view.units.interval_ms[0]))
    assert learned[:3] == learned[3:]
    assert len(set(learned)) == 3
