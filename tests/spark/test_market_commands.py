"""`bestbefore estimate` and `bestbefore plan`, in a session that is there already."""

import json
import sys

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


@pytest.fixture
def bestbefore(tmp_path, monkeypatch, capsys):
    """Run a command in a folder that holds a store and a query; return code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.nt").write_text(lines(SHOP))
    (tmp_path / "stale.nt").write_text(lines(STALE))
    (tmp_path / "q.rq").write_text(QUERY)

    def run(*arguments, query=QUERY):
        (tmp_path / "q.rq").write_text(query)
        monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
        out, err = capsys.readouterr()
        return code, out, err

    run.folder = tmp_path
    return run


STORE = ("data.nt", "--stale", "stale.nt", "--query", "q.rq")


def test_every_summary_and_the_truth_and_then_without_the_data(spark, bestbefore):
    code, out, err = bestbefore(
        "estimate", *STORE, "--truth", "--save", "shop.summaries", "--format", "json"
    )
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
    load = ("--load", "shop.summaries", "--query", "q.rq", "--format", "json")
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


def test_a_table_for_people_and_names_in_any_case(spark, bestbefore):
    code, out, _ = bestbefore("estimate", *STORE, "--summary", "spm, qtree(bmax=5)")
    assert code == 0
    head, *rows = [line.split() for line in out.splitlines()]
    assert head == KEYS
    assert [row[0] for row in rows] == ["SPM", "QTree(bmax=5)"]
    assert rows[0][2:] == ["10.0", "2.5", "0.2520"]


def test_the_cheapest_plan(spark, bestbefore):
    plan = ("plan", *STORE, "--summary", "SPM", "--format", "json")
    code, out, _ = bestbefore(*plan, "--freshness", "0.6")
    assert code == 0
    bestbefore("estimate", *STORE, "--summary", "SPM", "--save", "spm")
    plan = ("plan", "--load", "spm", "--query", "q.rq", "--format", "json")
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
    people = ("plan", "--load", "spm", "--query", "q.rq", "--summary", "spm", "--freshness", "0.6")
    out = bestbefore(*people)[1]
    assert out.splitlines()[:2] == [f"views   {E}price", "cost    10.0"]


def test_views_and_costs_of_the_user_s_own(spark, bestbefore):
    (bestbefore.folder / "views.toml").write_text(
        f'[prices]\npattern = "?o <{E}price> ?p"\ncost = 100\n'
        f'[vendors]\npattern = "?o <{E}vendor> ?v"\n[everything]\npattern = "?s ?p ?o"\n'
    )
    plan = ("plan", *STORE, "--views", "views.toml", "--freshness", "0.6", "--format", "json")
    found = json.loads(bestbefore(*plan)[1])
    assert (found["views"], found["cost"], found["after"]) == (["everything"], 30.0, 1.0)
    (bestbefore.folder / "views.toml").write_text(f'[vendors]\npattern = "?o <{E}vendor> ?v"\n')
    code, out, err = bestbefore(*plan)
    assert (code, out) == (1, "")
    assert "no set of these 1 views gives a freshness of 0.6" in err


def test_a_summary_that_cannot_answer_says_so(spark, bestbefore):
    chain = f"SELECT * WHERE {{ ?o <{E}vendor> ?v . ?v <{E}days> ?d }}"
    names = ("--summary", "CS,SPM", "--save", "both")
    code, out, err = bestbefore("estimate", *STORE, *names, "--format", "json", query=chain)
    assert code == 0
    assert "note: CS: characteristic sets answer joins on one subject only" in err
    assert json.loads(out)[0]["freshness"] is None
    load = ("--load", "both", "--query", "q.rq", "--summary", "CS")
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


def test_a_broken_line_and_stale_triples_that_are_not_there(spark, bestbefore):
    (bestbefore.folder / "stale.nt").write_text(lines([("x", "y", '"z"')]))
    assert (
        "stale.nt: not in the data, and counted for nothing: 1 of its triples"
        in bestbefore("estimate", *STORE, "--summary", "SPM")[2]
    )
    (bestbefore.folder / "data.nt").write_text(lines(SHOP) + "<a> <b> .\n")
    code, out, err = bestbefore("estimate", *STORE)
    assert (code, out) == (2, "")
    assert "data.nt, line 31: '<a> <b> .' is no triple" in err
