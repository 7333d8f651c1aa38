"""What a job's views hold, as a store: triples with the freshness that was learned of them."""

import json
import sys

import numpy as np
import pytest

from bestbefore.cli.main import app, guarded
from bestbefore.errors import InputError, UnsupportedSparql
from bestbefore.job import load_job
from bestbefore.market import (
    build_summaries,
    estimate,
    read_shape,
    resolve_summaries,
    true_estimate,
    viewed_triples,
)
from bestbefore.market.live import viewed_table
from bestbefore.query import parse_query, plan
from bestbefore.spark.session import session_like, tune
from bestbefore.view import view_of

from .conftest import EX, INTEGER, query

OTHER = f"SELECT * WHERE {{ ?anyone <{EX}hasFollowers> ?number }}"


def test_the_rows_of_a_job_s_view_with_their_learned_freshness(bench, service):
    session = tune(session_like(bench.spark), rows=100)
    job = bench.job(view={"change_interval": "10s"}, budget={"refreshes": 1})
    with pytest.raises(InputError, match="no commit yet: run the job first"):
        viewed_triples(session, job, notice=print)
    bench.mention((1_000, 1), (4_000, 2), (11_000, 1), (16_000, 3))
    bench.run(job, service)
    notes = []
    store = viewed_triples(session, job, notice=notes.append)
    assert notes == ["the job holds 8 triples, at 1970-01-01T00:00:16Z"]
    rows = {row["s"]: row for row in store.collect()}
    assert set(rows) == set(service.followers)
    assert rows[f"<{EX}u3>"]["o"] == f'"300"{INTEGER}'
    # What was never refreshed is as old as the run, what was is fresher.
    fresh = np.array([row["fresh"] for row in rows.values()])
    assert fresh.min() == pytest.approx(rows[f"<{EX}u7>"]["fresh"])
    assert rows[f"<{EX}u1>"]["fresh"] > fresh.min() > 0
    wanted = read_shape(OTHER)
    truth = true_estimate(store, wanted.pattern)
    assert (truth.total, truth.fresh) == (8, pytest.approx(fresh.sum()))
    (spm,) = build_summaries(store, resolve_summaries("SPM")).values()
    assert estimate(spm, wanted.stars).freshness == pytest.approx(truth.freshness)


JOB = f"""
[query]
text = '''{query()}'''
[streams.s]
path = "stream"
[services.bkg]
endpoint = "http://127.0.0.1:9/none"
"""


def test_what_another_query_would_be_worth(bench, service, monkeypatch, capsys):
    (bench.folder / "job.toml").write_text(JOB)
    (bench.folder / "other.rq").write_text(OTHER)
    monkeypatch.chdir(bench.folder)
    bench.mention((1_000, 1), (4_000, 2), (11_000, 1), (16_000, 3))
    bench.run(load_job("job.toml"), service)

    def command(*options):
        arguments = ["estimate", "job.toml", "--query", "other.rq", "--summary", "SPM", *options]
        monkeypatch.setattr(sys, "argv", ["bestbefore", *arguments])
        code = guarded(app)
        return code, *capsys.readouterr()

    code, out, err = command("--truth", "--format", "json")
    assert (code, "the job holds 2 triples, at 1970-01-01T00:00:16Z" in err) == (0, True)
    spm, truth = json.loads(out)
    # Users 1 and 2 were mentioned in windows that are closed, and fetched for them.
    assert (truth["total"], spm["total"]) == (2, 2)
    assert 0 < truth["freshness"] < 1
    assert spm["freshness"] == pytest.approx(truth["freshness"])
    code, out, err = command("--stale", "stale.nt")
    assert (code, out) == (2, "")
    assert "a job's view knows" in err


def pattern_of(service):
    return plan(parse_query(query(service=service))).services[0].service.pattern


def test_a_row_makes_the_triples_of_what_it_binds():
    view = view_of(
        [("<u:1>", '"5"', "<c:x>"), ("<u:2>", '"6"', None)], ["user", "followers", "c"], ["user"]
    )
    pattern = pattern_of(
        "?user :hasFollowers ?followers ; a :User . OPTIONAL { ?user :from ?c } "
        "FILTER(?followers > 1)"
    )
    table = viewed_table(view, pattern, 0)
    assert table.num_rows == 2 + 2 + 1
    assert set(table["p"].to_pylist()) >= {f"<{EX}hasFollowers>", f"<{EX}from>"}


def test_rows_that_do_not_tell_their_triples_are_refused():
    view = view_of([("<u:1>", '"5"')], ["user", "followers"], ["user"])
    pattern = pattern_of("{ ?user :hasFollowers ?followers } UNION { ?user :fans ?followers }")
    with pytest.raises(UnsupportedSparql, match="UNION in a SERVICE"):
        viewed_table(view, pattern, 0)


def test_a_job_without_a_service_holds_no_view(bench):
    job = bench.job(
        "PREFIX : <http://example.org/> REGISTER RSTREAM :out AS SELECT ?user "
        "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S] WHERE { WINDOW :w { ?user :p ?q } }"
    )
    with pytest.raises(InputError, match="no SERVICE"):
        viewed_triples(bench.spark, job, notice=print)
