"""Mistakes in the input: exit code 2 and one clear line, before Spark is started; or a warning."""

import socket
import sys

import pytest

from bestbefore.cli.main import app, guarded

QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :out AS
SELECT ?user ?followers
FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]
WHERE { WINDOW :w { ?user :isMentionedIn ?post }
        SERVICE :bkg { ?user :hasFollowers ?followers }
}
"""
JOB = """
[query]
file = "query.rq"
[streams.s]
path = "stream"
[services.bkg]
endpoint = "http://127.0.0.1:9/query"
"""


@pytest.fixture
def bestbefore(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder that holds a job; return its code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stream").mkdir()
    (tmp_path / "query.rq").write_text(QUERY)
    (tmp_path / "job.toml").write_text(JOB)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
        out, err = capsys.readouterr()
        return code, out, err

    run.folder = tmp_path
    return run


def refused(outcome):
    """The one line of a refusal."""
    code, out, err = outcome
    assert code == 2
    assert out == ""
    (line,) = err.splitlines()
    return line


def with_query(bestbefore, old, new):
    assert old in QUERY
    (bestbefore.folder / "query.rq").write_text(QUERY.replace(old, new))
    return refused(bestbefore("run", "job.toml"))


def with_job(bestbefore, extra):
    (bestbefore.folder / "job.toml").write_text(JOB + extra)
    return refused(bestbefore("run", "job.toml"))


def test_no_such_file(bestbefore):
    assert refused(bestbefore("run", "nope.toml")) == "bestbefore: no such file: nope.toml"
    assert refused(bestbefore("explain", "nope.rq")) == "bestbefore: no such file: nope.rq"


def test_a_malformed_query_names_line_and_column(bestbefore):
    line = with_query(bestbefore, "?user :isMentionedIn ?post }", "?user :isMentionedIn }")
    assert "line 5, column 42" in line


def test_unsupported_sparql_is_named_with_its_place(bestbefore):
    line = with_query(bestbefore, "\n}\n", "\n SERVICE ?where { ?user :x ?y } }\n")
    assert "SERVICE ?where" in line
    assert "line 7, column" in line


def test_an_unknown_policy_lists_the_nearest(bestbefore):
    line = with_job(bestbefore, '[policy]\nname = "WSJ-WMB"\n')
    assert "unknown policy 'WSJ-WMB'; did you mean 'WSJ-WBM'" in line


def test_window_and_service_must_share_a_variable(bestbefore):
    line = with_query(bestbefore, "{ ?user :has", "{ ?x :has")
    assert "WINDOW (?user, ?post) and SERVICE (?x, ?followers) share no variable" in line


def test_a_negative_budget(bestbefore):
    line = with_job(bestbefore, "[budget]\nrefreshes = -3\n")
    assert "budget.refreshes = -3: it must be a whole number ≥ 0" in line


def test_a_window_of_no_width(bestbefore):
    assert "line 4" in with_query(bestbefore, "PT10M", "PT0S")


def test_a_missing_stream_folder_is_said_before_anything_is_loaded(bestbefore):
    (bestbefore.folder / "stream").rmdir()
    assert "no such folder" in refused(bestbefore("run", "job.toml"))


def test_a_sink_that_cannot_be_written_is_said_before_anything_is_loaded(bestbefore):
    line = with_job(bestbefore, '[sink]\npath = "query.rq/answers"\n')
    assert "sink.path = " in line
    assert "query.rq is a file, and a folder is needed there" in line
    line = with_job(bestbefore, '[sink]\nformat = "kafka"\n')
    assert "sink.format = 'kafka' cannot overwrite a repeated batch: set sink.mode" in line
    line = with_job(bestbefore, '[checkpoint]\npath = "job.toml"\n')
    assert "checkpoint.path = " in line


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--conf", "spark.executor.memory"), "write NAME=VALUE, as spark.executor.memory=2g"),
        (("--conf", "=2g"), "--conf '=2g': write NAME=VALUE"),
        (("--conf", "executor.memory=2g"), "executor.memory is no setting of Spark"),
        (("--conf", "spark.sql.ansi.enabled=true"), "every batch is run with false; leave it out"),
        (("--master", "cluster:7077"), "unknown master 'cluster:7077': write local[N], spark://"),
        (("--conf", "spark.master=standalone"), "unknown master 'standalone'"),
    ],
)
def test_settings_of_spark(bestbefore, options, line):
    assert line in refused(bestbefore("run", "job.toml", *options))


def test_a_master_that_does_not_answer(bestbefore):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{bound.getsockname()[1]}"
        code, out, err = bestbefore("run", "job.toml", "--master", master)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line == f"bestbefore: the master {master} cannot be reached: Connection refused"


def test_spark_submit_has_named_the_master_already(bestbefore, monkeypatch):
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    line = refused(bestbefore("run", "job.toml", "--master", "yarn"))
    assert "spark-submit has started this: give --master and --conf to it" in line


def test_usage_errors_are_exit_code_2_too(bestbefore):
    assert bestbefore("run")[0] == 2
    assert bestbefore("dance")[0] == 2


def test_explain_without_spark(bestbefore):
    code, out, _ = bestbefore("explain", "job.toml", "--no-spark")
    assert code == 0
    assert "join key: ?user" in out
    assert "budget.refreshes = 10" in out
    assert "RANGE PT10M STEP PT1M" in out
    code, out, _ = bestbefore("explain", QUERY, "--no-spark")
    assert "join key: ?user" in out


def test_what_is_legal_but_odd_is_explained_with_a_warning(bestbefore):
    odd = QUERY.replace("\n}\n", "\n        FILTER(?folowers > 1) }\n")
    (bestbefore.folder / "query.rq").write_text(odd)
    code, out, err = bestbefore("explain", "job.toml", "--no-spark")
    assert code == 0
    assert "?folowers" in out
    (line,) = err.splitlines()
    assert line.startswith("warning: line 7, column 9: FILTER(?folowers > 1) is never true")
    assert line.endswith("did you mean '?followers'?")
