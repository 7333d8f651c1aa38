"""`bestbefore record`: what it refuses before Spark is started, and what it ends with."""

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from bestbefore.checkpoint.ownership import lock_checkpoint
from bestbefore.cli.main import app, guarded
from bestbefore.cli.recording import simulate_command
from bestbefore.engine.recording import Recorder, polling_job
from bestbefore.generators import make_traces
from bestbefore.job import load_job
from bestbefore.job.job import UNLIMITED
from bestbefore.traces import BackgroundTrace, StreamTrace, Traces, write_traces

WINDOW = "WINDOW :w { ?user :isMentionedIn ?post }"
SERVICE = "SERVICE :bkg { ?item :of ?user ; :price ?price }"
QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :out AS SELECT {form}
FROM NAMED WINDOW :w ON :s [{window}] {windows}
WHERE {{ {where} }} {group}
"""
JOB = """
[query]
file = "query.rq"
{query}
[streams.s]
path = "stream"
[services.bkg]
endpoint = "http://127.0.0.1:9/query"
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Write a job into the folder that commands are run in; return its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stream").mkdir()

    def write(where=f"{WINDOW} {SERVICE}", *, more="", query="", **parts):
        names = {"form": "?user", "window": "RANGE PT10S STEP PT5S", "windows": "", "group": ""}
        (tmp_path / "query.rq").write_text(QUERY.format(where=where, **names | parts))
        (tmp_path / "job.toml").write_text(JOB.format(query=query) + more)
        return tmp_path / "job.toml"

    return write


@pytest.fixture
def bestbefore(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("where", "parts", "reason"),
    [
        (f"{WINDOW} {SERVICE} SERVICE :other {{ ?user :likes ?n }}", {}, "2 SERVICE and 1 WINDOW"),
        (WINDOW, {}, "0 SERVICE and 1 WINDOW"),
        (
            f"{WINDOW} WINDOW :v {{ ?user :likes ?post }} {SERVICE}",
            {"windows": "FROM NAMED WINDOW :v ON :s [RANGE PT10S STEP PT5S]"},
            "1 SERVICE and 2 WINDOW",
        ),
        (
            f"{WINDOW} {SERVICE}",
            {"window": "ELEMENTS 5 STEP 1", "more": "[view]\nchange_interval = '1h'"},
            "which count elements",
        ),
        (
            f"WINDOW :w {{ ?user :in ?post OPTIONAL {{ ?post :by ?who }} }} {SERVICE}",
            {},
            "a trace has one time per mapping",
        ),
    ],
)
def test_what_has_no_trace_is_refused(job, bestbefore, where, parts, reason):
    file = job(where, **parts)
    if "other" in where:
        file.write_text(file.read_text() + "[services.other]\n")
    if "SERVICE" not in where:
        file.write_text(file.read_text().partition("[services")[0])
    code, out, err = bestbefore("record", "job.toml")
    assert (code, out) == (2, "")
    assert reason in err.splitlines()[-1]
    assert not (file.parent / "job-traces").exists()


def test_mistakes_on_the_command_line(job, bestbefore):
    job()
    code, _, err = bestbefore("record", "job.toml", "--for", "an hour")
    assert (code, "--for: 'an hour' is not a duration" in err) == (2, True)
    code, _, err = bestbefore("record", "job.toml", "--out", "job.toml")
    assert (code, "job.toml is a file; name a folder with --out" in err) == (2, True)


def test_requests_are_counted_where_a_run_counts_them_so_not_beside_it(job, bestbefore):
    file = job(more="[services.bkg.limits]\nper_day = 5")
    with lock_checkpoint(str(file.parent / "checkpoint")):
        code, _, err = bestbefore("record", "job.toml")
    assert (code, "is in use by process" in err) == (2, True)
    assert not (file.parent / "job-traces").exists()


def test_all_that_a_window_needs_is_polled_within_the_limits(job):
    more = """
[services.bkg.limits]
per_minute = 30
units_per_evaluation = 20
[budget]
refreshes = 3
start = 100
ahead = true
[qos]
deadline = "2s"
[view]
interval_predicate = "http://example.org/changes"
"""
    configured = load_job(
        job(more=more, query="t0 = 3\nfull_windows_only = true\nreport = 'non-empty'")
    )
    polling = polling_job(configured)
    (was,), (service,) = configured.services, polling.services
    assert (service.budget, service.start, service.ahead) == (UNLIMITED, 0, False)
    assert (service.limits, service.client) == (was.limits, was.client)
    assert service.qos.deadline_ms is None
    assert service.fills_first
    # What it asks counts where the job's own requests do.
    assert service.ledger == configured.checkpoint
    assert (polling.t0_ms, polling.full_windows_only, polling.sink.path) == (None, False, None)


NUMBERS = Traces(
    StreamTrace(np.arange(1, 40_000, 500), np.array([f"<u:{n % 7}>" for n in range(80)], object)),
    BackgroundTrace(
        np.zeros(7, dtype=np.int64),
        np.array([f"<u:{n}>" for n in range(7)], object),
        np.array([str(n) for n in range(7)], object),
    ),
)
LINKED = "[view]\nrefresh_key = ['item']\nfill = 'start'\n"


@pytest.mark.parametrize(
    ("parts", "options", "policies"),
    [
        ({}, "--budget 5,10,20", "EFG,WSJ-RND,WSJ-LRU,WSJ-WBM"),
        (
            {
                "where": f"{WINDOW} {SERVICE} FILTER(?price >= 3)",
                "more": "[policy]\nname = 'Filter'",
            },
            "--filter '>=3'",
            "Filter,WSJ-RND,WSJ-LRU,WSJ-WBM,LRU.F+(alpha=0.5)",
        ),
        (
            {"more": "[view]\ncapacity = 4\n[budget]\nrefreshes = 1"},
            "--cache-size 4 --budget 1,2",
            "MP(CWSJ,WBM,FRP),MP(FWSJ,WBM,FRP)",
        ),
        (
            {"more": LINKED, "form": "?user (AVG(?price) AS ?mean)", "group": "GROUP BY ?user"},
            "--aggregate avg",
            "EFG,WSJ-RND,WSJ-LRU,IBM-BGP,IBM-Agg",
        ),
        ({"more": "[qos]\nfreshness = 0.9"}, "--budget 2,4,8", "EFG,WSJ-RND,WSJ-LRU,WSJ-WBM"),
    ],
)
def test_the_command_at_the_end_compares_policies(job, bestbefore, parts, options, policies):
    configured = load_job(job(**parts))
    linked = LINKED in parts.get("more", "")
    recorded = make_traces("bipartite", seed=1) if linked else NUMBERS
    recorder = Recorder(polling_job(configured), Path("traces"))
    recorder.needed += [30, 50]
    write_traces(recorded, recorder.folder)
    command = simulate_command(configured, recorder, recorded)
    assert options in command
    assert "--width PT10S --slide PT5S" in command
    code, out, err = bestbefore(*shlex.split(command)[1:], "--format", "json", "--seeds", "1")
    assert code == 0, err
    results = json.loads(out)
    assert ",".join(dict.fromkeys(each["policy"] for each in results)) == policies
