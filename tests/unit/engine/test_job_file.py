import pytest

from bestbefore.engine import load_job, read_job
from bestbefore.errors import InputError, JobError

QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :influencers AS
SELECT ?user ?followers
FROM NAMED WINDOW :w ON :mentions [RANGE PT10M STEP PT1M]
WHERE { WINDOW :w { ?user :isMentionedIn ?post }
        SERVICE :bkg { ?user :hasFollowers ?followers } }
"""


def tables(**sections):
    base = {
        "query": {"text": QUERY},
        "streams": {"mentions": {"path": "stream"}},
        "services": {"bkg": {"endpoint": "http://127.0.0.1:1/query"}},
    }
    return {**base, **sections}


def test_three_sections_are_enough_and_the_rest_has_defaults(tmp_path):
    job = read_job(tables(), folder=tmp_path)
    assert job.budget == 10
    assert job.policy.name == "WSJ-WBM"
    assert job.sink.path == str(tmp_path / "answers")
    assert job.checkpoint == str(tmp_path / "checkpoint")
    assert job.stream.source.path == str(tmp_path / "stream")
    assert job.trigger == "available-now"


def test_the_endpoint_defaults_to_the_service_iri():
    job = read_job(tables(services={"bkg": {}}))
    assert job.service.endpoint == "http://example.org/bkg"


def test_settings_arrive():
    job = read_job(
        tables(
            streams={"m": {"path": "s", "format": "tsv", "allowed_lateness": "5s"}},
            services={"bkg": {"units_per_request": 1, "timeout": "3s", "connections": 2}},
            budget={"refreshes": 0},
            policy={"name": "GNR-LRU", "seed": 4},
            view={"interval_predicate": "http://e/i", "interval_unit": "m"},
            query={"text": QUERY, "trigger": "2s", "t0": 500, "full_windows_only": True},
        )
    )
    assert (job.stream.allowed_lateness_ms, job.stream.source.format) == (5_000, "tsv")
    assert (job.service.units_per_request, job.service.timeout_s) == (1, 3.0)
    assert (job.budget, job.policy.name, job.seed) == (0, "GNR-LRU", 4)
    assert (job.view.interval_predicate, job.view.interval_unit_ms) == ("http://e/i", 60_000)
    assert (job.trigger, job.t0_ms, job.full_windows_only) == ("2s", 500, True)


def test_a_secret_comes_from_the_environment_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("BKG_TOKEN", "s3cret")
    job = read_job(tables(services={"bkg": {"token_env": "BKG_TOKEN"}}))
    assert job.service.authorization == "Bearer s3cret"
    assert "s3cret" not in repr(job)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"budget": {"refreshes": -1}}, "budget.refreshes = -1: it must be a whole number ≥ 0"),
        ({"budget": {"refreshes": 2.5}}, "budget.refreshes = 2.5: it must be a whole number"),
        ({"budget": {"refreshs": 2}}, "unknown key budget.refreshs; did you mean 'refreshes'"),
        ({"polcy": {}}, r"unknown section \[polcy\]; did you mean 'policy'"),
        ({"policy": {"name": "WSJ-WMB"}}, "unknown policy 'WSJ-WMB'; did you mean 'WSJ-WBM'"),
        ({"streams": {}}, r"no section \[streams.NAME\]; the query needs one for <http"),
        ({"streams": {"m": {}}}, "streams.m.path is missing"),
        ({"streams": {"m": {"iri": "http://x", "path": "s"}}}, "no section .* has iri = "),
        ({"streams": {"path": "s"}}, r"write \[streams.NAME\]"),
        ({"streams": {"m": {"path": "s", "format": "jsn"}}}, "m.format = 'jsn'; did you mean"),
        ({"services": {"b": {"timeout": "soon"}}}, "services.b.timeout: 'soon' is not a duration"),
        ({"services": {"b": {"token_env": "NO_SUCH"}}}, "variable NO_SUCH is not set"),
        ({"view": {"interval_variable": "?nope"}}, "the SERVICE has no \\?nope; "),
        (
            {"view": {"interval_file": "f", "interval_predicate": "http://p"}},
            "interval_predicate and view.interval_file exclude each other",
        ),
        ({"query": {}}, r"\[query\] needs either file"),
        ({"query": {"file": "nope.rq"}}, "query.file: no such file: nope.rq"),
        ({"query": {"text": QUERY, "t0": "noon"}}, "query.t0 = 'noon'"),
        ({"qos": {"rho": "1s"}}, "unknown key qos.rho"),
    ],
)
def test_mistakes_name_the_key_and_the_way_out(sections, message):
    with pytest.raises(InputError, match=message):
        read_job(tables(**sections))


def test_a_file_that_is_not_there_or_no_toml(tmp_path):
    with pytest.raises(JobError, match="no such file: nope.toml"):
        load_job("nope.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("[query\n")
    with pytest.raises(JobError, match="not TOML: .*line 1"):
        load_job(bad)
