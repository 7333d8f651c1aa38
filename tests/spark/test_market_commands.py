"""`bestbefore estimate` and `bestbefore plan`, in a session that is there already."""

import io
import json
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from bestbefore.cli.main import app, guarded
from bestbefore.market import summaries

E = "http://example.org/"
KEYS = ["summary", "bytes", "total", "fresh", "freshness"]


def lines(rows):
    return "".join(f"<{E}{s}> <{E}{p}> {o} .\n" for s, p, o in rows)


SHOP = [
    (f"offer{n}", p, o)
    for n in range(10)
    for p, o in (("price", f'"{n}"'), ("vendor", f"<{E}v{n % 2}>"), ("days", '"3"'))
]
# Of ten prices six are stale, of vendors three, of days one.
STALE = [
    row
    for n, row in enumerate(SHOP)
    if (row[1], n // 3)
    in {*(("price", n) for n in range(6)), *(("vendor", n) for n in range(3)), ("days", 9)}
]
QUERY = f"SELECT * WHERE {{ ?o <{E}price> ?p ; <{E}vendor> ?v ; <{E}days> ?d }}"


def folder_with_shop(folder):
    """A folder that holds a store and a query."""
    (folder / "data.nt").write_text(lines(SHOP))
    (folder / "stale.nt").write_text(lines(STALE))
    (folder / "q.rq").write_text(QUERY)
    return folder


def run(folder, arguments):
    """Run a command in a folder; return code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def estimated(spark, tmp_path_factory):
    """What the command says of every summary and of the truth, and the folder where it saved."""
    folder = folder_with_shop(tmp_path_factory.mktemp("shop"))
    options = ("--truth", "--save", "shop.summaries", "--format", "json")
    found = run(folder, ["estimate", *STORE, *options])
    (folder / "data.nt").unlink()
    return folder, *found


@pytest.fixture
def bestbefore(tmp_path, estimated):
    """Run a command in a folder that holds a store, its summaries and a query."""
    shutil.copy(estimated[0] / "shop.summaries", folder_with_shop(tmp_path))

    def command(*arguments, query=QUERY):
        (tmp_path / "q.rq").write_text(query)
        return run(tmp_path, arguments)

    command.folder = tmp_path
    return command


STORE = ("data.nt", "--stale", "stale.nt", "--query", "q.rq")
LOADED = ("--load", "shop.summaries", "--query", "q.rq")


def test_every_summary_and_the_truth_and_then_without_the_data(estimated, bestbefore):
    _, code, out, err = estimated
    assert (code, "wrote shop.summaries\n" in err) == (0, True)
    rows = json.loads(out)
    assert all(list(row) == KEYS for row in rows)
    by_name = {row["summary"]: row for row in rows}
    assert list(by_name) == [*summaries, "truth"]
    assert by_name["SPM"]["freshness"] == pytest.approx(0.252)
    truth = {"summary": "truth", "bytes": None, "total": 10, "fresh": 3, "freshness": 0.3}
    assert by_name["truth"] == truth
    assert by_name["histogram"]["freshness"] == pytest.approx(0.3)
    assert all(row["bytes"] > 0 for row in rows[:-1])
    (bestbefore.folder / "data.nt").unlink()
    load = (*LOADED, "--format", "json")
    assert json.loads(bestbefore("estimate", *load)[1]) == rows[:-1]
    (one,) = json.loads(bestbefore("estimate", *load, "--summary", "cs")[1])
    assert one in rows
    plan = json.loads(bestbefore("plan", *load, "--freshness", "0.5")[1])
    assert list(plan) == ["views", "cost", "before", "after", "search"]
    assert "--truth needs the data" in bestbefore("estimate", *load, "--truth")[2]
    # Unknown predicates, and with them empty answers.
    colours = f"SELECT * WHERE {{ ?o <{E}colour> ?p ; <{E}vendor> ?v }}"
    for row in json.loads(bestbefore("estimate", *load, query=colours)[1]):
        assert (row["total"], row["fresh"], row["freshness"]) == (0, 0, 1), row
    found = json.loads(bestbefore("plan", *load, "--freshness", "0.9", query=colours)[1])
    assert (found["views"], found["cost"], found["after"]) == ([], 0, 1)


def test_a_table_for_people_and_names_in_any_case(bestbefore):
    code, out, _ = bestbefore("estimate", *STORE, "--summary", "spm, qtree(bmax=5)")
    assert code == 0
    head, *rows = [line.split() for line in out.splitlines()]
    assert head == KEYS
    assert [row[0] for row in rows] == ["SPM", "QTree(bmax=5)"]
    assert rows[0][2:] == ["10.0", "2.5", "0.2520"]


def test_the_cheapest_plan(bestbefore):
    plan = ("plan", *STORE, "--summary", "SPM", "--format", "json")
    code, out, _ = bestbefore(*plan, "--freshness", "0.6")
    assert code == 0
    plan = ("plan", *LOADED, "--summary", "SPM", "--format", "json")
    assert bestbefore(*plan, "--freshness", "0.6")[1] == out
    assert json.loads(out) == {
        "views": [f"{E}price"],
        "cost": 10.0,
        "before": pytest.approx(0.252),
        "after": pytest.approx(0.63),
        "search": "exhaustive",
    }
    assert json.loads(bestbefore(*plan, "--freshness", "0.2")[1])["views"] == []
    everything = json.loads(bestbefore(*plan, "--freshness", "1")[1])
    assert (len(everything["views"]), everything["cost"], everything["after"]) == (3, 30.0, 1.0)
    out = bestbefore("plan", *LOADED, "--summary", "spm", "--freshness", "0.6")[1]
    assert out.splitlines()[:2] == [f"views   {E}price", "cost    10.0"]


def test_views_and_costs_of_the_user_s_own(bestbefore):
    (bestbefore.folder / "views.toml").write_text(
        f'[prices]\npattern = "?o <{E}price> ?p"\ncost = 100\n'
        f'[vendors]\npattern = "?o <{E}vendor> ?v"\n[everything]\npattern = "?s ?p ?o"\n'
    )
    plan = ("plan", *LOADED, "--views", "views.toml", "--freshness", "0.6", "--format", "json")
    found = json.loads(bestbefore(*plan)[1])
    assert (found["views"], found["cost"], found["after"]) == (["everything"], 30.0, 1.0)
    (bestbefore.folder / "views.toml").write_text(f'[vendors]\npattern = "?o <{E}vendor> ?v"\n')
    code, out, err = bestbefore(*plan)
    assert (code, out) == (1, "")
    assert "no set of these 1 views gives a freshness of 0.6" in err


def test_a_summary_that_cannot_answer_says_so(bestbefore):
    chain = f"SELECT * WHERE {{ ?o <{E}vendor> ?v . ?v <{E}days> ?d }}"
    names = ("--summary", "CS,SPM", "--format", "json")
    code, out, err = bestbefore("estimate", *LOADED, *names, query=chain)
    assert code == 0
    assert "note: CS: characteristic sets answer joins on one subject only" in err
    assert json.loads(out)[0]["freshness"] is None
    load = (*LOADED, "--summary", "CS")
    code, out, err = bestbefore("estimate", *load, query=chain)
    assert (code, out) == (2, "")
    once = f"SELECT DISTINCT ?v WHERE {{ ?o <{E}vendor> ?v }}"
    for command in (("estimate", *load), ("plan", *load, "--freshness", "0.5")):
        code, out, err = bestbefore(*command, query=once)
        assert (code, out) == (2, "")
        assert "DISTINCT counts rows once that differ in ?o alone" in err
    truth = ("--summary", "SPM", "--truth", "--format", "json")
    spm, true = json.loads(bestbefore("estimate", *STORE, *truth, query=once)[1])
    assert (spm["total"], true["total"]) == (None, 2)
    assert bestbefore("estimate", *load, query=once.replace("?v", "*", 1))[0] == 0


def test_a_broken_line_and_stale_triples_that_are_not_there(bestbefore):
    (bestbefore.folder / "stale.nt").write_text(lines([("x", "y", '"z"')]))
    assert (
        "stale.nt: not in the data, and counted for nothing: 1 of its triples"
        in bestbefore("estimate", *STORE, "--summary", "SPM")[2]
    )
    (bestbefore.folder / "data.nt").write_text(lines(SHOP) + "<a> <b> .\n")
    code, out, err = bestbefore("estimate", *STORE)
    assert (code, out) == (2, "")
    assert "data.nt, line 31: '<a> <b> .' is no triple" in err
