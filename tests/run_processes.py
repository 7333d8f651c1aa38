"""Runs of `bestbefore run` as real processes, with a JVM of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What lives for seconds is not worth compiling well."""

STARTED = []
"""The processes that tests have started; `conftest` ends those that a failed test left running."""


def start(job, *options, **environment):
    main = "from bestbefore.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "run", str(job), *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # A group of its own, which a service manager or a terminal would signal.
        start_new_session=True,
        env={
            **os.environ,
            "SPARK_SUBMIT_OPTS": JAVA_OPTIONS,
            "RUN_OF": str(job),
            **environment,
        },
    )
    STARTED.append(process)
    return process


def end_started():
    """Kill what still runs of what was started."""
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def processes_of(job):
    """The processes that a run of a job has started, its JVM among them, and itself."""
    found, mark = [], f"RUN_OF={job}".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
    return found


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def answers(job):
    lines = [
        line
        for file in sorted(job.parent.glob("answers/*/*.json"))
        for line in file.read_text().splitlines()
    ]
    return [json.loads(line) for line in lines]
