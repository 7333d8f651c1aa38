"""`kill -9` while requests are on their way: what the server counts stays within the limits."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from random import Random

import pytest

from bestbefore.limits import Limits
from bestbefore.storage import LocalStorage
from tests.asking_process import LIMITS, SPEED, USERS, FastClocks, the_job
from tests.property.test_request_limits import check_arrivals
from tests.served_job import ServedJob
from tests.unwilling_endpoint import UnwillingEndpoint

KILLS, LONGEST_S = 9, 1.5
TROUBLE = {"answer": 10, "slow": 10, "drop": 1, "cut": 1, "html": 1}


@pytest.fixture
def server():
    server = UnwillingEndpoint()
    server.begin(5, users=USERS, trouble=TROUBLE)
    yield server
    server.close()


@pytest.fixture
def asking(server, tmp_path):
    command = [sys.executable, "-m", "tests.asking_process", str(tmp_path), server.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


def kill_one(asking, server, *, after):
    """Kill a new process when so many more requests have come, or none comes any more."""
    asking.stdin.write("\n")
    asking.stdin.flush()
    number = int(asking.stdout.readline())
    enough, until = len(server.arrivals) + after, time.monotonic() + LONGEST_S
    while len(server.arrivals) < enough and time.monotonic() < until:
        time.sleep(0.0005)
    os.kill(number, signal.SIGKILL)
    assert asking.stdout.readline() == "ended\n"


def test_no_limit_is_exceeded_and_all_that_was_written_can_be_read(server, asking, tmp_path):
    rng, state = Random(7), None
    for _ in range(KILLS):
        kill_one(asking, server, after=rng.randint(1, 14))
        server.settle()
        job = ServedJob(the_job(server.url), LocalStorage(str(tmp_path)), FastClocks())
        with closing(job):
            server.check_truth(job.content())
            left = job.served[0].account.left()
            assert left["total"] <= LIMITS["total"] - len(server.arrivals)
            assert state is None or state.batch <= job.state.batch
            state = job.state
    check_arrivals(Limits(**LIMITS), [one.at_s * 1000 * SPEED for one in server.arrivals])
    # It was asked all that time, as much as was left.
    assert len(server.arrivals) > LIMITS["per_minute"]
    assert state.batch > KILLS
