import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.maintenance import Ledger


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


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 20)), max_size=20), st.integers(0, 15))
def test_never_grants_more_than_the_limit_whatever_crashes(attempts, limit):
    storage, granted = Memory(), {}
    for evaluation, wanted in attempts:
        # A new ledger each time: the one before it crashed after its grant.
        share = Ledger(storage).reserve(evaluation, wanted, limit=limit)
        assert 0 <= share <= wanted
        granted[evaluation] = granted.get(evaluation, 0) + share
    for evaluation, total in granted.items():
        assert total <= limit
        assert Ledger(storage).spent(evaluation) == total


def test_what_cannot_be_written_down_is_not_granted():
    class Full(Memory):
        def write(self, name, content):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Ledger(Full()).reserve(1, 3, limit=5)


def test_closing_forgets_an_evaluation():
    storage = Memory()
    Ledger(storage).reserve(4, 3, limit=5)
    Ledger(storage).close(4)
    assert storage.files == {}
