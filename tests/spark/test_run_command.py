"""`bestbefore run` as a whole, in a session that is there already."""

import json
import signal
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from bestbefore.cli.logs import log
from bestbefore.cli.main import app, guarded

from .conftest import EX, query

JOB = """
[query]
text = '''{query}'''
[streams.s]
path = "stream"
[services.bkg]
endpoint = "{endpoint}"
attempts = 1
[view]
change_interval = "1s"
"""


class Dying(BaseHTTPRequestHandler):
    """An endpoint that loads a view of one user, and then refuses to refresh it."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        number = "http://www.w3.org/2001/XMLSchema#integer"
        row = {
            "user": {"type": "uri", "value": f"{EX}u1"},
            "followers": {"type": "literal", "datatype": number, "value": "100"},
        }
        reply = {"head": {"vars": list(row)}, "results": {"bindings": [row]}}
        self.send_response(403 if "VALUES" in asked else 200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint():
    with ThreadingHTTPServer(("127.0.0.1", 0), Dying) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/query"
        server.shutdown()


@pytest.fixture
def run(bench, endpoint, monkeypatch, capsys):
    """Run the job of a bench; return the exit code and the lines of the log."""
    file = bench.folder / "job.toml"
    file.write_text(JOB.format(query=query(), endpoint=endpoint))
    monkeypatch.setattr(type(bench.spark), "stop", lambda _: None)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*options):
        arguments = ["bestbefore", "run", str(file), "--log-format", "json", *options]
        monkeypatch.setattr(sys, "argv", arguments)
        code = guarded(app)
        return code, [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
    log.handlers.clear()


def said(lines, level):
    return [line["message"] for line in lines if line["level"] == level]


def test_a_service_that_dies_is_told_and_a_strict_run_fails_for_it(bench, run):
    bench.mention((1_000, 1), (4_000, 2))
    code, lines = run("--until-end")
    assert code == 0
    assert [answer["at"] for answer in bench.answers().values()] == [5_000, 10_000]
    assert [line["evaluation"] for line in lines if "evaluation" in line] == [1, 2]
    (told,) = [line for line in said(lines, "warning") if line.startswith("what went wrong")]
    assert "no refresh of this run succeeded" in told
    assert "403" in told
    assert not any("open:" in line for line in said(lines, "info"))

    bench.mention((11_000, 1), (16_000, 1))
    code, lines = run("--strict", "--quiet")
    assert code == 1
    assert said(lines, "error")[0].startswith("--strict: ")
    assert not any("evaluation" in line for line in lines)
    # The answers are there all the same, and what is still open is said.
    assert max(bench.answers()) == 3
    assert any("--until-end closes them" in line for line in said(lines, "info"))

    (bench.folder / "checkpoint").rename(bench.folder / "put-aside")
    code, lines = run("--until-end")
    assert code == 2
    assert "let --overwrite remove what is there" in said(lines, "error")[0]
    assert max(bench.answers()) == 3
    code, _ = run("--until-end", "--overwrite")
    assert code == 0
    assert max(bench.answers()) == 5


def test_a_run_either_follows_or_ends(run):
    code, lines = run("--until-end", "--follow")
    assert code == 2
    assert said(lines, "error") == ["--follow waits for more, --until-end ends: give one of them"]
