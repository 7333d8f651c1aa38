"""The states of the latest batches: which are kept, and who may go on from them."""

from dataclasses import replace

import pytest

from bestbefore.checkpoint.state import Commits, State
from bestbefore.errors import StateError
from bestbefore.job import read_job
from bestbefore.query import print_query
from tests.limited_service import MemoryStorage


def job(pattern):
    text = (
        "PREFIX : <http://example.org/> REGISTER RSTREAM :out AS SELECT ?user\n"
        "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]\n"
        f"WHERE {{ WINDOW :w {{ ?user {pattern} ?post }} }}"
    )
    return read_job({"query": {"text": text}, "streams": {"http://example.org/s": {"path": "in"}}})


def commit(storage, batch, text=None):
    state = State(text or print_query(job(":by").query), needed=job(":by").needed_elements)
    Commits(storage).commit(replace(state, batch=batch))


def test_the_last_batch_and_the_one_before_it_are_kept():
    storage = MemoryStorage()
    for batch in range(5):
        commit(storage, batch)
        assert len(storage.names("commits")) == min(batch + 1, 2)
    assert Commits(storage).latest(job(":by")).batch == 4
    storage.delete(f"commits/{storage.names('commits')[-1]}")
    assert Commits(storage).latest(job(":by")).batch == 3


def test_a_query_that_is_printed_otherwise_is_the_same_and_another_is_refused():
    storage = MemoryStorage()
    commit(storage, 0, print_query(job(":by").query).replace(" ", "  "))
    assert Commits(storage).latest(job(":by")).batch == 0
    with pytest.raises(StateError, match="belongs to another query"):
        Commits(storage).latest(job(":of"))
    commit(storage, 1, "no query of this version")
    with pytest.raises(StateError, match="belongs to another query"):
        Commits(storage).latest(job(":by"))
