"""The states of the latest batches: which are kept, and who may go on from them."""

from dataclasses import replace

import pytest

from bestbefore.checkpoint.state import Commits, State, ViewState
from bestbefore.errors import StateError
from bestbefore.job import read_job
from bestbefore.query import print_query
from bestbefore.spark.buffer import Segment
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


def test_a_new_run_has_done_nothing():
    state = Commits(MemoryStorage()).latest(job(":by"))
    assert (state.batch, state.source_batch) == (-1, -1)
    assert (state.next_evaluation, state.evaluations) == (1, 0)
    assert (*state.taken_in, state.requests, state.refreshes, *state.reported) == (0,) * 8
    assert (state.t0_ms, state.begun_ms, state.latest_ms) == (None, None, None)
    assert state.view("bkg") == ViewState()
    assert (ViewState().snapshot_batch, ViewState().saved, ViewState().started) == (-1, 0, 0)


@pytest.mark.parametrize("t0_ms", [None, (0,), (5, 7)])
def test_a_state_is_read_as_it_was_committed(t0_ms):
    state = State(
        print_query(job(":by").query),
        batch=4,
        source_batch=3,
        t0_ms=t0_ms,
        begun_ms=11,
        first_evaluation=2,
        next_evaluation=9,
        latest={"a": 8, "b": 6},
        segments=(Segment(name="one", latest_ms=1),),
        needed=job(":by").needed_elements,
        views={"bkg": ViewState("s", 2, -3, 1)},
        reported=(1, 2, 3),
    )
    storage = MemoryStorage()
    Commits(storage).commit(state)
    assert Commits(storage).latest(job(":by")) == state
    assert (state.evaluations, state.latest_ms) == (7, 6)


def test_a_query_that_is_printed_otherwise_is_the_same_and_another_is_refused():
    storage = MemoryStorage()
    commit(storage, 0, print_query(job(":by").query).replace(" ", "  "))
    assert Commits(storage).latest(job(":by")).batch == 0
    with pytest.raises(StateError, match="belongs to another query"):
        Commits(storage).latest(job(":of"))
    commit(storage, 1, "no query of this version")
    with pytest.raises(StateError, match="belongs to another query"):
        Commits(storage).latest(job(":by"))
