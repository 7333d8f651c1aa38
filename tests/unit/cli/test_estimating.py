"""Mistakes in the input of `estimate` and `plan`: exit code 2 and one line, without Spark."""

import sys

import pytest

from bestbefore.cli.main import app, guarded

QUERY = "SELECT * WHERE { ?s <http://e/p> ?o }"


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run a command that is refused; return its one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.nt").write_text("")
    (tmp_path / "stale.nt").write_text("")
    (tmp_path / "q.rq").write_text(QUERY)

    def run(*arguments, query=QUERY):
        (tmp_path / "q.rq").write_text(query)
        monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        return err.strip().splitlines()[-1]

    run.folder = tmp_path
    return run


STORE = ("data.nt", "--stale", "stale.nt", "--query", "q.rq")


@pytest.mark.parametrize("wanted", ["1.5", "0", "-0.2", "nan"])
def test_a_freshness_that_no_answer_has(refused, wanted):
    line = refused("plan", *STORE, "--freshness", wanted)
    assert str(float(wanted)) in line
    assert "above 0 and at most 1" in line


def test_unknown_names(refused):
    assert "unknown summary 'QTrie'; did you mean 'QTree'?" in refused(
        "estimate", *STORE, "--summary", "QTrie"
    )
    assert "known: APF, CS" in refused("estimate", *STORE, "--summary", "zzzzzz")
    assert "has no parameter 'b'; it takes: bmax" in refused(
        "estimate", *STORE, "--summary", "QTree(b=1)"
    )
    assert "bmax = 0: it must be 1 or more" in refused(
        "estimate", *STORE, "--summary", "QTree(bmax=0)"
    )
    assert "unknown format 'xml'; known: table, json" in refused(
        "estimate", *STORE, "--format", "xml"
    )


def test_missing_files_and_flags(refused):
    assert "no such file: no.nt" in refused(
        "estimate", "no.nt", "--stale", "stale.nt", "--query", "q.rq"
    )
    assert "no such file: no.nt" in refused(
        "estimate", "data.nt", "--stale", "no.nt", "--query", "q.rq"
    )
    assert "Name the file with --stale" in refused("estimate", "data.nt", "--query", "q.rq")
    assert "no such file: no.rq" in refused(
        "estimate", "data.nt", "--stale", "stale.nt", "--query", "no.rq"
    )
    assert "no such file: no (summaries)" in refused("estimate", "--load", "no", "--query", "q.rq")
    assert "name the data" in refused("estimate", "--query", "q.rq")
    assert "needs no data" in refused("estimate", *STORE, "--load", "x")


@pytest.mark.parametrize(
    ("where", "word"),
    [
        ("{ ?s <http://e/p> ?o FILTER(?o > 1) }", "FILTER"),
        ("{ ?s <http://e/p> ?o OPTIONAL { ?s <http://e/q> ?x } }", "OPTIONAL"),
        ("{ ?s <http://e/p>+ ?o }", "property path"),
        ("{ ?s <http://e/p> ?o } LIMIT 3", "LIMIT"),
        ("{}", "no triple pattern"),
        ("{ ?s <http://e/p> }", "line 1"),
    ],
)
def test_queries_that_summaries_do_not_answer(refused, where, word):
    assert word in refused("estimate", *STORE, query=f"SELECT * WHERE {where}")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nonsense", "not TOML"),
        ("", "names no view"),
        ("[v]\ncost = 1", "write pattern"),
        ('[v]\npattern = "?s ?p ?o"\ncost = -1', "cost = -1; it must be a number, 0 or more"),
        ('[v]\npattern = "?s ?p ?o . ?s ?q ?r"', "not one triple pattern"),
        ('[v]\npattern = "?s ?p ?o"\nprice = 1', "write pattern"),
    ],
)
def test_views_that_are_none(refused, text, word):
    (refused.folder / "v.toml").write_text(text)
    assert word in refused("plan", *STORE, "--freshness", "0.5", "--views", "v.toml")
