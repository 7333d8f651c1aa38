"""`kill -9` in the middle of a run, then the same command again, with real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from bestbefore.engine import Engine
from bestbefore.job import load_job

EX = "http://example.org/"
BATCHES = 5
JOB = """
[query]
text = '''
PREFIX : <http://example.org/>
REGISTER RSTREAM :influencers AS
SELECT DISTINCT ?user ?followers
FROM NAMED WINDOW :w ON :mentions [RANGE PT30S STEP PT5S]
WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }}
        SERVICE :bkg {{ ?user :hasFollowers ?followers }}
        FILTER(?followers > 1000) }}
'''
[streams.mentions]
path = "{stream}"
files_per_batch = 1
[services.bkg]
endpoint = "{endpoint}"
units_per_request = 3
[budget]
refreshes = 7
[view]
fill = "start"
change_interval = "1s"
"""


@pytest.fixture
def world(oxigraph, tmp_path):
    """A server with 50 users and a stream of five files, one batch each."""
    triples = " ".join(f"<{EX}u{n}> <{EX}hasFollowers> {n * 97} ." for n in range(50))
    oxigraph.update(f"CLEAR ALL; INSERT DATA {{ {triples} }}")
    stream = tmp_path / "stream"
    stream.mkdir()
    for number in range(BATCHES):
        lines = [
            json.dumps(
                {
                    "ts": 1_700_000_000_000 + number * 20_000 + each * 50,
                    "data": f"<{EX}u{(each * 7 + number) % 50}> <{EX}isMentionedIn> <{EX}p> .",
                }
            )
            for each in range(400)
        ]
        file = stream / f"{number}.jsonl"
        file.write_text("\n".join(lines))
        os.utime(file, (1_000_000_000 + number,) * 2)
    return tmp_path, f"{oxigraph.base}/query"


def prepare(world, name):
    folder, endpoint = world
    (folder / name).mkdir()
    job = folder / name / "job.toml"
    job.write_text(JOB.format(stream=folder / "stream", endpoint=endpoint))
    return job


def start(job, *options):
    main = "from bestbefore.cli.main import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", main, "run", str(job), *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # A group of its own, so that Python and the JVM die in the same instant.
        start_new_session=True,
        env={**os.environ, "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1"},
    )


def finish(job):
    process = start(job)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return errors


def kill_when(process, moment):
    """Kill the whole process group as soon as `moment` holds; False if it ended before."""
    deadline = time.monotonic() + 120
    while not moment():
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    return True


def answers(job):
    lines = [
        line
        for file in sorted(job.parent.glob("answers/*/*.json"))
        for line in file.read_text().splitlines()
    ]
    return [json.loads(line) for line in lines]


def test_killed_twice_and_started_again_gives_the_answers_of_an_undisturbed_run(world, spark):
    undisturbed, disturbed = prepare(world, "undisturbed"), prepare(world, "disturbed")
    assert Engine(spark).start(load_job(undisturbed)).wait(120)
    checkpoint = disturbed.parent / "checkpoint"

    def in_the_middle_of_the_requests():
        return any(checkpoint.glob("services/*/journal/batch-000000000001/*"))

    def while_answers_are_written():
        return any((disturbed.parent / "answers").glob("batch=000000000003/**/*"))

    assert kill_when(start(disturbed), in_the_middle_of_the_requests)
    assert not (checkpoint / "commits" / "batch-000000000001.json").exists()
    assert kill_when(start(disturbed), while_answers_are_written)
    errors = finish(disturbed)
    assert "evaluations of 2000 elements" in errors

    expected, found = answers(undisturbed), answers(disturbed)
    numbers = [each["evaluation"] for each in found]
    assert Counter(numbers).most_common(1)[0][1] == 1
    assert sorted(numbers) == list(range(1, len(expected) + 1))
    assert len(expected) >= 19
    by_number = {each["evaluation"]: each for each in expected}
    assert all(each == by_number[each["evaluation"]] for each in found)
    # The first window closes with the first element, a user without followers.
    assert all(len(each["rows"]) > 10 for each in found if each["evaluation"] > 1)
    recorded = [
        json.loads(line)["evaluation"]
        for file in sorted(disturbed.parent.glob("quality/*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    assert recorded == sorted(numbers)


def test_ctrl_c_stops_at_the_end_of_a_batch_and_the_next_run_goes_on(world, spark):
    job = prepare(world, "followed")
    process = start(job, "--follow")
    first = [process.stderr.readline() for _ in range(3)]
    assert "#1" in first[-1]
    # As a terminal does it: to Python and the JVM alike.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert "stopping after the batch that runs" in errors
    before = answers(job)
    assert Engine(spark).start(load_job(job)).wait(120)
    found = answers(job)
    assert len(before) < len(found)
    assert sorted(each["evaluation"] for each in found) == list(range(1, 21))
    assert all(each in found for each in before)
