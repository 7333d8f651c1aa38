"""`python -m tests.asking_process FOLDER ENDPOINT`: a job's services asked by processes to kill.

For each line that it reads, a new process goes on from the checkpoint until it is killed; forked,
so that none of them has to begin with imports.
"""

import os
import sys
import time
from itertools import count
from random import Random

from bestbefore.storage import LocalStorage
from tests.served_job import ServedJob, job_of
from tests.unwilling_endpoint import iri

SPEED, USERS = 20, 12
LIMITS = {"per_minute": 16, "total": 70}


class FastClocks:
    """Clocks on which a minute takes three seconds."""

    def wall(self):
        return time.time_ns() * SPEED // 1_000_000

    def monotonic(self):
        return time.monotonic() * SPEED


def the_job(endpoint):
    return job_of(
        endpoint,
        service={"units_per_request": 2, "timeout": "500ms", "limits": LIMITS},
        budget={"refreshes": 3, "start": 4},
        view={"change_interval": "1s"},
    )


def mentions(evaluation):
    """What the stream brings between two evaluations."""
    users = Random(evaluation).sample(range(USERS + 2), 6)
    return [((evaluation - 1) * 5_000 + at + 1, f"<{iri(user)}>") for at, user in enumerate(users)]


def ask(folder, endpoint):
    job = ServedJob(the_job(endpoint), LocalStorage(folder), FastClocks())
    for evaluation in count(job.state.next_evaluation):
        job.answer([evaluation], [*mentions(evaluation - 1), *mentions(evaluation)])
        time.sleep(0.005)


def main(folder, endpoint):
    for _ in sys.stdin:
        if (process := os.fork()) == 0:
            ask(folder, endpoint)
        print(process, flush=True)  # noqa: T201 - for whoever kills it
        os.waitpid(process, 0)
        print("ended", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
