"""A reply that is not what was asked for changes nothing, and the record says why."""

from contextlib import closing

import pytest

from bestbefore.engine.quality import Answer, quality_of
from bestbefore.storage import LocalStorage
from tests.faults.hostile_endpoint import MOST_ROWS, HostileEndpoint
from tests.served_job import QUERY, ServedJob, job_of
from tests.unwilling_endpoint import VirtualTime, iri

USERS = 5
EVENTS = [(1 + 500 * at, f"<{iri(at % USERS)}>") for at in range(40)]


@pytest.fixture(scope="module")
def server():
    server = HostileEndpoint()
    yield server
    server.close()


@pytest.mark.parametrize(
    ("trouble", "said", "drops"),
    [
        ("others", "the reply has 1 rows, but none of the 5 units asked for", True),
        ("no_keys", "the reply has 2 rows, but none of the 5 units asked for", True),
        ("nothing_bound", "the reply has 3 rows, but none of the 5 units asked for", True),
        ("too_many", f"the reply has {MOST_ROWS} rows or more", False),
        ("duplicates", "the reply is no SPARQL 1.1 JSON result", False),
    ],
)
def test_units_keep_their_rows_and_have_failed(server, tmp_path, trouble, said, drops):
    server.begin(3, users=USERS, trouble={"answer": 1})
    job = job_of(
        server.url,
        text=QUERY,
        service={"max_rows": MOST_ROWS, "attempts": 1},
        budget={"refreshes": USERS},
        view={"change_interval": "1s"},
    )
    storage = LocalStorage(str(tmp_path), durable=False)
    with closing(ServedJob(job, storage, VirtualTime())) as running:
        running.answer([1], EVENTS)
        before = running.content()
        server.trouble = {trouble: 1}
        running.answer([2], EVENTS)
        (outcome,) = running.outcomes[0]
        assert running.content() == before
    assert any(before.values())
    answer = Answer(2, 10_000, (0, 10_000), 5, 0.5, 0)
    record = quality_of(answer, [(job.services[0], outcome)])
    assert (record.elected, record.failed, record.refreshed) == (USERS, USERS, 0)
    assert record.service_state == "failed"
    assert record.service_status.startswith(f"failed: {said}")
    assert (record.dropped > 0) == drops
