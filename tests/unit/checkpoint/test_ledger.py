from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.checkpoint import DurableLedger, Journal, Reservations
from bestbefore.checkpoint.journal import entry_of
from bestbefore.checkpoint.ledger import LEDGER_FILE
from bestbefore.errors import DamagedState
from bestbefore.limits import Limits, RequestAccount
from bestbefore.storage import LocalStorage
from bestbefore.view import view_of
from tests.outcomes import outcome_of, told

A, B, C = "<http://e/a>", "<http://e/b>", "<http://e/c>"


class Memory:
    """Storage that survives a crash of its user."""

    root = "memory"

    def __init__(self):
        self.files = {}

    def read(self, name):
        return self.files.get(name)

    def write(self, name, content):
        self.files[name] = content

    def names(self, folder):
        start = f"{folder}/"
        return sorted(one.removeprefix(start) for one in self.files if one.startswith(start))

    def delete(self, name):
        self.files.pop(name, None)


def ledger(storage, account=None, reservations=None):
    view, reservations = view_of([], ["k"], ["k"]), reservations or Reservations(storage)
    return DurableLedger(
        reservations, Journal(storage), 0, view, account or RequestAccount(Limits())
    )


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 20)), max_size=20), st.integers(0, 15))
def test_never_grants_more_than_the_limit_whatever_crashes(attempts, limit):
    storage, granted = Memory(), {}
    for evaluation, wanted in attempts:
        # A new ledger each time: the one before it crashed after its grant.
        share = ledger(storage).reserve(evaluation, wanted, limit=limit)
        assert 0 <= share <= wanted
        granted[evaluation] = granted.get(evaluation, 0) + share
    for evaluation, total in granted.items():
        assert total <= limit
        assert ledger(storage).spent(evaluation) == total


def noted(evaluation, *, share=1):
    """The outcome of an evaluation that refreshed something, or did nothing."""
    view = view_of([(A, '"1"')], ["k", "v"], ["k"])
    outcome = outcome_of(view, 900, {(A,): []}, evaluation=evaluation)
    return outcome if share else replace(outcome, elected=outcome.elected[:0])


def ledger_of_many(storage, evaluations, *, together_s):
    """A ledger that expects evaluations, over a view that knows what they fetch."""
    found = ledger(storage)
    found.view = view_of([(A, '"1"')], ["k", "v"], ["k"])
    found.coming, found.together_s = evaluations, together_s
    return found


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=8), min_size=1, max_size=5),
    st.integers(0, 12),
    st.sampled_from([0.0, 1e-4, 3600.0]),
)
def test_reserving_ahead_never_grants_more_than_the_limit_whatever_crashes(
    attempts, limit, together_s
):
    storage, granted = Memory(), Counter()
    for wanted in attempts:
        # Each attempt gets so far, then it crashes.
        found = ledger_of_many(storage, range(1, 9), together_s=together_s)
        for evaluation, units in enumerate(wanted, start=1):
            if found.recall(evaluation) is not None:
                continue
            before = found.spent(evaluation)
            assert before >= granted[evaluation]
            share = found.reserve(evaluation, units, limit=limit)
            assert 0 <= share <= units
            granted[evaluation] += share
            assert found.spent(evaluation) == before + share
            # What may be sent now is on disk.
            assert Reservations(storage).of(evaluation).units >= granted[evaluation]
            found.record(noted(evaluation, share=share))
    assert max(granted.values(), default=0) <= limit


def test_many_evaluations_are_written_down_by_few_writes():
    storage, many = Memory(), range(5, 145)
    found = ledger_of_many(storage, many, together_s=3600.0)
    for evaluation in many:
        assert found.reserve(evaluation, 3, limit=5) == 3
        found.record(noted(evaluation))
    # The first by itself, which tells how long one takes; the others together.
    assert found.reservations.written == 2
    assert found.journal.names(0) == [f"journal/batch-{0:012d}/evaluation-{n:012d}.json"
                                      for n in (5, 6)]  # fmt: skip
    assert list(found.journal.entries(0)) == list(many)
    again = ledger_of_many(storage, many, together_s=3600.0)
    assert again.recall(77).evaluation == 77
    assert again.spent(77) == 3


def test_who_needs_more_than_was_reserved_ahead_gets_it_and_what_was_noted_is_written_first():
    storage = Memory()
    found = ledger_of_many(storage, range(1, 9), together_s=3600.0)
    for evaluation, units in ((1, 2), (2, 2), (3, 2)):
        found.reserve(evaluation, units, limit=5)
        found.record(noted(evaluation))
    assert list(found.journal.entries(0)) == [1]
    assert found.reserve(4, 4, limit=5) == 4
    assert list(found.journal.entries(0)) == [1, 2, 3]
    assert [Reservations(storage).of(n).units for n in (3, 4, 5)] == [2, 4, 4]
    assert [found.spent(n) for n in (3, 4, 5)] == [2, 4, 0]


def test_as_much_is_reserved_ahead_as_any_took_of_late():
    """Evaluations take four or five in turns: none but the first has to wait for the disk."""
    storage, many = Memory(), range(1, 41)
    found = ledger_of_many(storage, many, together_s=3600.0)
    for evaluation in many:
        units = 4 + evaluation % 2
        assert found.reserve(evaluation, units, limit=5) == units
        found.record(noted(evaluation))
    assert found.reservations.written == 2
    assert Reservations(storage).of(40).units == 5


def test_what_was_fetched_is_written_though_the_last_evaluations_fetch_nothing():
    found = ledger_of_many(Memory(), range(1, 5), together_s=3600.0)
    for evaluation in (1, 2):
        found.reserve(evaluation, 2, limit=5)
        found.record(noted(evaluation))
    for evaluation in (3, 4):
        found.record(noted(evaluation, share=0))
    assert list(found.journal.entries(0)) == [1, 2]


class Watch:
    """A clock that tests move on."""

    def __init__(self, monkeypatch):
        self.now_s = 100.0
        monkeypatch.setattr("bestbefore.checkpoint.ledger.monotonic_s", lambda: self.now_s)

    def run(self, found, evaluation, *, seconds, units=2):
        """An evaluation that takes so long to reserve, fetch and note so many units."""
        share = found.reserve(evaluation, units, limit=5)
        self.now_s += seconds
        found.record(noted(evaluation, share=share))


def test_a_service_that_has_become_slow_is_noted_at_once(monkeypatch):
    watch, found = Watch(monkeypatch), ledger_of_many(Memory(), range(1, 50), together_s=0.25)
    for evaluation in (1, 2, 3):
        watch.run(found, evaluation, seconds=0.01)
    assert list(found.journal.entries(0)) == [1]
    for evaluation in (4, 5):
        watch.run(found, evaluation, seconds=10.0)
        assert list(found.journal.entries(0)) == list(range(1, evaluation + 1))


def test_one_that_has_become_somewhat_slower_is_noted_every_now_and_then(monkeypatch):
    watch, found = Watch(monkeypatch), ledger_of_many(Memory(), range(1, 50), together_s=0.25)
    watch.run(found, 1, seconds=0.005)
    for evaluation in range(2, 50):
        watch.run(found, evaluation, seconds=0.05)
    assert len(found.journal.entries(0)) == 49
    assert len(found.journal.names(0)) < 10


def test_no_more_is_reserved_ahead_than_soon_is_done_by_those_who_fetch(monkeypatch):
    """Evaluations that do nothing, as those that a crash left nothing, take next to no time."""
    storage = Memory()
    watch, found = Watch(monkeypatch), ledger_of_many(storage, range(1, 500), together_s=0.25)
    for evaluation in range(1, 100):
        watch.run(found, evaluation, seconds=0.0001, units=0)
    watch.run(found, 100, seconds=0.01)
    assert Reservations(storage).of(101).units == 0
    for evaluation in range(101, 200):
        watch.run(found, evaluation, seconds=0.0001, units=0)
    watch.run(found, 200, seconds=0.01)
    reserved = [n for n in range(201, 500) if Reservations(storage).of(n).units]
    assert reserved == list(range(201, 212))


def test_requests_of_all_attempts_count_for_the_limit_of_an_evaluation():
    storage, requests = Memory(), []
    for _ in range(6):
        account = RequestAccount(Limits(requests_per_evaluation=10), units_per_request=1)
        ledger(storage, account).reserve(1, 1, limit=100)
        requests.append(account.allowed)
    assert requests == [3, 3, 3, 1, 0, 0]


def test_what_cannot_be_written_down_is_not_granted():
    class Full(Memory):
        def write(self, name, content):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        ledger(Full()).reserve(1, 3, limit=5)


def test_what_is_committed_is_forgotten_and_what_is_under_way_is_not():
    storage = Memory()
    for evaluation in (4, 5, 6):
        ledger(storage).reserve(evaluation, 3, limit=5)
    reservations = Reservations(storage)
    assert reservations.written == 3
    reservations.close(6)
    assert [reservations.of(evaluation).units for evaluation in (4, 5, 6)] == [0, 0, 3]
    # The file is only ever replaced: one that is gone was lost.
    ledger(storage, reservations=reservations).reserve(7, 2, limit=5)
    again = Reservations(storage)
    assert again.written == 4
    assert [again.of(evaluation).units for evaluation in (4, 5, 6, 7)] == [0, 0, 3, 2]


def test_a_batch_whose_ledger_was_lost_makes_no_refresh_and_the_next_one_does():
    storage = Memory()
    Reservations(storage).replace_lost(written=9)
    assert ledger(storage).reserve(1, 3, limit=5) == 0
    assert ledger(storage).spent(2) > 5
    found = Reservations(storage)
    assert found.written == 9
    found.close(3)
    repaired = ledger(storage, reservations=found)
    assert repaired.reserve(3, 3, limit=5) == 3
    assert ledger(storage).reserve(3, 3, limit=5) == 2


@pytest.mark.parametrize("damage", [lambda _: b"", lambda text: text[:-3], lambda _: b"{}"])
def test_a_damaged_ledger_is_named(damage):
    storage = Memory()
    ledger(storage).reserve(4, 3, limit=5)
    storage.files[LEDGER_FILE] = damage(storage.files[LEDGER_FILE])
    with pytest.raises(DamagedState, match=r"memory/ledger\.json is (damaged|empty)"):
        Reservations(storage)


def test_the_journal_gives_back_what_was_written(tmp_path):
    view = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"])
    journal = Journal(LocalStorage(str(tmp_path)))
    rows = {(B,): [], (A,): [(A, '"1"'), (A, None)]}
    written = outcome_of(
        view,
        900,
        rows,
        evaluation=7,
        intervals_ms={(A,): 50},
        failed={(C,): "timeout"},
        evicted=[(C,)],
        used=[(B,), (A,)],
        candidates=9,
        requests=2,
        seconds=0.5,
    )
    journal.write(3, [entry_of(written, view)])
    again = view_of([(C, '"3"')], ["k", "v"], ["k"])
    (found,) = journal.of_batch(3, again)
    assert told(found, again.keys) == told(written, view.keys)
    assert found.reply.content == list(rows.values())
    assert found.reply.seconds == 0.5
    assert list(journal.entries(3)) == [7]
    assert journal.batches() == [3]
    assert journal.entries(4) == {}


def test_an_entry_of_another_evaluation_is_damage(tmp_path):
    """Both files are whole: only their names were exchanged."""
    view = view_of([(A, '"1"')], ["k", "v"], ["k"])
    journal = Journal(LocalStorage(str(tmp_path)))
    for evaluation in (7, 8):
        outcome = outcome_of(view, 900, {(A,): []}, evaluation=evaluation)
        journal.write(3, [entry_of(outcome, view)])
    first, second = (tmp_path / name for name in journal.names(3))
    first.rename(tmp_path / "kept")
    second.rename(first)
    (tmp_path / "kept").rename(second)
    with pytest.raises(DamagedState, match=r"000007\.json is damaged: it tells of evaluation 8"):
        journal.entries(3)


def test_what_a_batch_needed_is_known_again(tmp_path):
    view = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"])
    journal = Journal(LocalStorage(str(tmp_path)))
    view.units.note_needed(np.array([0, 2]))
    view.units.note_needed(np.array([2]))
    journal.write_needed(3, view)
    again = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"])
    journal.restore_needed(3, again)
    assert again.units.needed.tolist() == view.units.needed.tolist() == [1.0, 0.0, 2.0]
    assert again.units.watched == 2
    assert journal.names(3) == []
    # An evaluation that needs nothing counts, too.
    view.units.note_needed(np.array([], dtype=np.int64))
    journal.write_needed(4, view)
    journal.restore_needed(4, again)
    assert again.units.watched == 3
    assert again.units.needs.sum == view.units.needs.sum == 3.0
    other = view_of([(A, '"1"')], ["k", "v"], ["k"])
    with pytest.raises(DamagedState, match="is that of another view"):
        journal.restore_needed(3, other)


def test_a_unit_that_the_view_does_not_know_is_named(tmp_path):
    view = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"])
    journal = Journal(LocalStorage(str(tmp_path)))
    journal.write(3, [entry_of(outcome_of(view, 900, evicted=[(A,), (B,), (C,)]), view)])
    again = view_of([(A, '"1"'), (C, '"3"')], ["k", "v"], ["k"])
    with pytest.raises(DamagedState, match=f"the journal names the unit {B}, which the view does"):
        journal.of_batch(3, again)
