"""`kill -9` in the middle of a run, then the same command again, with real processes."""

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from bestbefore.engine import Engine
from bestbefore.errors import StateError
from bestbefore.job import load_job
from tests.run_processes import answers, processes_of, start, until

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


def finish(job, *options):
    process = start(job, *options)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return errors


def kill_when(process, moment):
    """Kill Python as soon as `moment` holds; False if it ended before."""
    deadline = time.monotonic() + 120
    while not moment():
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.004)
    process.kill()
    process.communicate(timeout=30)
    return True


def test_killed_twice_and_started_again_gives_the_answers_of_an_undisturbed_run(world, spark):
    undisturbed, disturbed = prepare(world, "undisturbed"), prepare(world, "disturbed")
    to_the_end = replace(load_job(undisturbed), trigger="until-end")
    assert Engine(spark).start(to_the_end).wait(120)
    checkpoint = disturbed.parent / "checkpoint"

    def in_the_middle_of_the_requests():
        return any(checkpoint.glob("services/*/journal/batch-000000000001/*"))

    def while_answers_are_written():
        return any((disturbed.parent / "answers").glob("batch=000000000003/**/*"))

    assert kill_when(start(disturbed), in_the_middle_of_the_requests)
    until(lambda: not processes_of(disturbed))
    assert not (checkpoint / "commits" / "batch-000000000001.json").exists()
    assert kill_when(start(disturbed), while_answers_are_written)
    until(lambda: not processes_of(disturbed))
    errors = finish(disturbed, "--until-end", "--strict")
    assert "evaluations of 2000 elements" in errors

    expected, found = answers(undisturbed), answers(disturbed)
    numbers = [each["evaluation"] for each in found]
    assert Counter(numbers).most_common(1)[0][1] == 1
    assert sorted(numbers) == list(range(1, len(expected) + 1))
    # The last element is in windows that close up to 30 s after the fifth file.
    assert len(expected) == 26
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


def test_sigterm_stops_at_the_end_of_a_batch_and_the_next_run_goes_on(world, spark):
    job = prepare(world, "followed")
    process = start(job, "--follow")
    assert any("#1" in line for line in iter(process.stderr.readline, ""))
    # As a service manager does it, to the whole group.
    os.killpg(process.pid, signal.SIGTERM)
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


def test_a_jvm_that_is_killed_is_one_line_and_the_next_run_goes_on(world, spark):
    job = prepare(world, "orphaned")
    process = start(job, "--follow")
    assert any("#1" in line for line in iter(process.stderr.readline, ""))
    jvm = [one for one in processes_of(job) if one != process.pid]
    assert jvm
    for one in jvm:
        # Some are the JVM's own, and gone with it.
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    *before, last = errors.splitlines()
    assert last == "bestbefore: Spark has ended; the same command goes on after the last batch"
    assert all(line.startswith("20") for line in before), errors
    assert Engine(spark).start(load_job(job)).wait(120)
    assert [each["evaluation"] for each in answers(job)] == list(range(1, 21))


class HangingServer(ThreadingHTTPServer):
    """A SPARQL endpoint that loads a view of one user, and hangs when it is asked to refresh it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Hanging)
        self.asked, self.released = Event(), Event()
        Thread(target=self.serve_forever, daemon=True).start()


class _Hanging(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if "VALUES" in asked:
            self.server.asked.set()
            self.server.released.wait(120)
        number = "http://www.w3.org/2001/XMLSchema#integer"
        row = {
            "user": {"type": "uri", "value": f"{EX}u7"},
            "followers": {"type": "literal", "datatype": number, "value": "7000"},
        }
        reply = {"head": {"vars": list(row)}, "results": {"bindings": [row]}}
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_):
        pass


def test_a_second_signal_ends_at_once_and_meanwhile_nobody_else_has_the_checkpoint(
    world, spark, monkeypatch
):
    folder, _ = world
    server = HangingServer()
    job = prepare((folder, f"http://127.0.0.1:{server.server_port}/query"), "hanging")
    secret = 'timeout = "100s"\ntoken_env = "BKG_TOKEN"\n'
    job.write_text(job.read_text().replace("[budget]", f"{secret}[budget]"))
    process = start(job, "--follow", "--log-format", "json", BKG_TOKEN="open-sesame")
    assert server.asked.wait(60), process.stderr.read()
    monkeypatch.setenv("BKG_TOKEN", "open-sesame")
    with pytest.raises(StateError, match=f"is in use by process {process.pid} on"):
        Engine(spark).start(load_job(job))
    assert len(processes_of(job)) > 1
    os.killpg(process.pid, signal.SIGTERM)
    lines = []
    while not lines or "stopping after the batch that runs" not in lines[-1]["message"]:
        lines.append(json.loads(process.stderr.readline()))
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGTERM
    until(lambda: not processes_of(job))
    assert all({"time", "level", "message"} <= set(line) for line in lines)
    assert lines[-1]["query"] == f"{EX}influencers"
    assert {"service": "bkg"}.items() <= lines[0].items()
    assert "open-sesame" not in errors + json.dumps(lines)
    server.released.set()
    assert Engine(spark).start(load_job(job)).wait(120)
    assert [each["evaluation"] for each in answers(job)] == list(range(1, 21))
    server.shutdown()
