"""The log of a run, and what its last lines say."""

import json
import logging
from dataclasses import replace

import pytest

from bestbefore.cli.logs import log, set_up_log, tell_error
from bestbefore.cli.main import guarded
from bestbefore.cli.running import _show
from bestbefore.cli.tally import Tally
from bestbefore.engine import Quality
from bestbefore.errors import InputError, WorkError

GOOD = Quality(
    evaluation=3,
    at=15_000,
    window=(5_000, 15_000),
    policy="WSJ-WBM",
    answers=2,
    estimated_freshness=0.5,
    completeness=1.0,
    candidates=4,
    budget=2,
    elected=2,
    refreshed=2,
    changed=1,
    failed=0,
    requests=1,
    service_status="ok",
    service_s=0.1,
    answered_ms=15_400,
    batch=7,
    batch_evaluations=1,
    batch_s=0.3,
)
DEAD = replace(GOOD, refreshed=0, failed=2, service_status="failed: HTTP 503")
WAITING = replace(GOOD, candidates=0, elected=0, refreshed=0, requests=0, waiting=2)


@pytest.fixture(autouse=True)
def _silence_afterwards():
    yield
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.NOTSET)


def test_a_line_of_text(capsys):
    set_up_log("text", "info", query="http://example.org/out")
    _show(GOOD)
    out, err = capsys.readouterr()
    assert out == ""
    assert err[:2] == "20"
    assert "Z info    1970-01-01T00:00:15Z  #3  2 rows, ≈50% fresh" in err
    assert err.endswith("[batch=7 evaluation=3]\n")


def test_lines_of_json_tell_what_they_are_about(capsys):
    set_up_log("json", "warning", query="http://example.org/out")
    _show(GOOD)
    _show(DEAD)
    line = json.loads(capsys.readouterr().err)
    message = line.pop("message")
    assert "service failed: HTTP 503" in message
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "query": "http://example.org/out",
        "batch": 7,
        "evaluation": 3,
    }


def test_the_error_that_ends_a_command_is_a_line_too(capsys):
    def failing():
        raise WorkError("the query stopped")

    assert not tell_error(WorkError("x"))
    assert guarded(failing) == 1
    assert capsys.readouterr().err == "bestbefore: the query stopped\n"
    set_up_log("json", "info")
    assert guarded(failing) == 1
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["message"]) == ("error", "the query stopped")


@pytest.mark.parametrize(
    ("form", "level", "said"),
    [("jsn", "info", "--log-format 'jsn': did you mean 'json'"), ("text", "loud", "known: debug")],
)
def test_unknown_words(form, level, said):
    with pytest.raises(InputError, match=said):
        set_up_log(form, level)


def counted(*records):
    tally = Tally()
    for record in records:
        tally.add(record)
    return tally


def test_a_good_run_has_no_troubles():
    tally = counted(GOOD, GOOD)
    assert tally.troubles == []
    assert str(tally) == (
        "this run: 2 evaluations, 4 answer rows; 4 refreshes elected, 4 done, 0 failed, in 2 "
        "requests"
    )


def test_a_service_that_is_dead_all_the_time_is_said_so():
    assert counted(DEAD, WAITING).troubles == [
        "no refresh of this run succeeded",
        "2 refreshes failed",
        "1 evaluations whose refreshes all failed",
        "1 evaluations that waited for units whose refresh had failed",
        "failed: HTTP 503 (1×)",
    ]


def test_one_failure_among_many_is_a_trouble():
    assert counted(GOOD, replace(GOOD, refreshed=1, failed=1)).troubles == ["1 refreshes failed"]
