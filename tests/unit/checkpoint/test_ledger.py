import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.checkpoint import DurableLedger, Journal
from bestbefore.checkpoint.ledger import close_evaluations
from bestbefore.errors import StateError
from bestbefore.limits import Limits, RequestAccount
from bestbefore.storage import LocalStorage
from bestbefore.view import view_of
from tests.outcomes import outcome_of, told


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
        return sorted(name.removeprefix(folder + "/") for name in self.files)

    def delete(self, name):
        self.files.pop(name, None)


def ledger(storage):
    return DurableLedger(storage, 0, view_of([], ["k"], ["k"]))


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


def test_requests_of_all_attempts_count_for_the_limit_of_an_evaluation():
    storage, requests = Memory(), []
    for _ in range(6):
        account = RequestAccount(Limits(requests_per_evaluation=10), units_per_request=1)
        view = view_of([], ["k"], ["k"])
        DurableLedger(storage, 0, view, account).reserve(1, 1, limit=100)
        requests.append(account.allowed)
    assert requests == [3, 3, 3, 1, 0, 0]


def test_what_cannot_be_written_down_is_not_granted():
    class Full(Memory):
        def write(self, name, content):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        ledger(Full()).reserve(1, 3, limit=5)


def test_closing_forgets_an_evaluation():
    storage = Memory()
    ledger(storage).reserve(4, 3, limit=5)
    close_evaluations(storage, [4])
    assert storage.files == {}


A, B, C = "<http://e/a>", "<http://e/b>", "<http://e/c>"


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
    journal.write(3, written, view)
    again = view_of([(C, '"3"')], ["k", "v"], ["k"])
    (found,) = journal.of_batch(3, again)
    assert told(found, again.keys) == told(written, view.keys)
    assert found.reply.content == list(rows.values())
    assert found.reply.seconds == 0.5
    assert told(journal.read(3, 7, again), again.keys) == told(written, view.keys)
    assert journal.batches() == [3]
    assert journal.read(3, 8, again) is None
    journal.forget(3)
    assert journal.batches() == []


def test_a_unit_that_the_view_does_not_know_is_named(tmp_path):
    view = view_of([(A, '"1"'), (B, '"2"'), (C, '"3"')], ["k", "v"], ["k"])
    journal = Journal(LocalStorage(str(tmp_path)))
    journal.write(3, outcome_of(view, 900, evicted=[(A,), (B,), (C,)]), view)
    again = view_of([(A, '"1"'), (C, '"3"')], ["k", "v"], ["k"])
    with pytest.raises(StateError, match=f"the journal names the unit {B}, which the view does"):
        journal.of_batch(3, again)
