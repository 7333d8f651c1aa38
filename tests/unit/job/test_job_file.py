import pytest

from bestbefore.errors import InputError, JobError
from bestbefore.job import load_job, read_job
from bestbefore.job.explanation import describe_job, explain
from bestbefore.service import ClientSettings

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
    assert job.services[0].budget == 10
    assert job.services[0].policy.name == "EFG"
    assert job.sink.path == str(tmp_path / "answers")
    assert job.checkpoint == str(tmp_path / "checkpoint")
    assert job.streams[0].source.path == str(tmp_path / "stream")
    assert job.trigger == "available-now"


def test_the_endpoint_defaults_to_the_service_iri():
    job = read_job(tables(services={"bkg": {}}))
    assert job.services[0].client.endpoint == "http://example.org/bkg"


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
    assert (job.streams[0].allowed_lateness_ms, job.streams[0].source.format) == (5_000, "tsv")
    assert (job.services[0].client.units_per_request, job.services[0].client.timeout_s) == (1, 3.0)
    assert (job.services[0].budget, job.services[0].policy.name, job.services[0].seed) == (
        0,
        "GNR-LRU",
        4,
    )
    assert (job.services[0].view.interval_predicate, job.services[0].view.interval_unit_ms) == (
        "http://e/i",
        60_000,
    )
    assert (job.trigger, job.t0_ms, job.full_windows_only) == ("2s", 500, True)


def test_a_secret_comes_from_the_environment_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("BKG_TOKEN", "s3cret")
    job = read_job(tables(services={"bkg": {"token_env": "BKG_TOKEN"}}))
    assert job.services[0].client.authorization == "Bearer s3cret"
    assert "s3cret" not in repr(job)


def client_of(folder=None, **service):
    return read_job(tables(services={"bkg": service}), folder=folder).services[0].client


def test_every_setting_of_a_client_arrives():
    client = client_of(
        endpoint="https://a.example.org/q",
        method="post-direct",
        load_timeout="2m",
        max_retry_after="5s",
        max_response_bytes=1000,
        headers={"X-Team": "blue"},
        circuit_failures=2,
        circuit_wait="1s",
        circuit_longest_wait="8s",
        allow_hosts=["*.example.org"],
        allow_addresses=["10.0.0.0/8"],
    )
    assert client == ClientSettings(
        "https://a.example.org/q",
        method="post-direct",
        load_timeout_s=120.0,
        max_retry_after_s=5.0,
        max_response_bytes=1000,
        headers=(("X-Team", "blue"),),
        circuit_failures=2,
        circuit_wait_s=1.0,
        circuit_longest_wait_s=8.0,
        allow_hosts=("*.example.org",),
        allow_addresses=("10.0.0.0/8",),
    )


@pytest.mark.parametrize(
    ("service", "sent"),
    [
        ({"token_env": "BKG_SECRET"}, {"Authorization": "Bearer s3cret"}),
        ({"token_file": "secret.txt"}, {"Authorization": "Bearer s3cret"}),
        ({"user": "me", "password_env": "BKG_SECRET"}, {"Authorization": "Basic bWU6czNjcmV0"}),
        ({"user": "me", "password_file": "secret.txt"}, {"Authorization": "Basic bWU6czNjcmV0"}),
        ({"secret_headers": {"X-Api-Key": {"env": "BKG_SECRET"}}}, {"X-Api-Key": "s3cret"}),
        ({"secret_headers": {"X-Api-Key": {"file": "secret.txt"}}}, {"X-Api-Key": "s3cret"}),
    ],
)
def test_secrets_come_from_outside_the_job_and_are_not_shown(tmp_path, monkeypatch, service, sent):
    monkeypatch.setenv("BKG_SECRET", "s3cret")
    (tmp_path / "secret.txt").write_text("s3cret\n")
    job = read_job(tables(services={"bkg": service}), folder=tmp_path)
    client = job.services[0].client
    assert sent.items() <= client.request_headers.items()
    shown = repr(job) + explain(job) + repr(describe_job(job))
    assert not {text for text in ("s3cret", "bWU6czNjcmV0") if text in shown}
    assert client.redact("s3cret!") == "***!"


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ({"token_env": "A", "token_file": "a"}, "b.token_env and token_file exclude each other"),
        ({"user": "me"}, r"\[services.b\] needs user and a password .* together"),
        ({"password_file": "secret.txt"}, "needs user and a password"),
        (
            {"token_file": "secret.txt", "user": "me", "password_file": "secret.txt"},
            r"\[services.b\] has a token and a user; keep one of them",
        ),
        ({"user": "m:e", "password_file": "secret.txt"}, "services.b.user: .* holds a colon"),
        (
            {"endpoint": "http://u:s3cret@h/", "token_file": "secret.txt"},
            "carries a user and `authorization` is set too",
        ),
        ({"token_file": "nope.txt"}, "b.token_file: .*nope.txt cannot be read: No such file"),
        ({"token_file": "."}, "b.token_file: .* cannot be read: Is a directory"),
        ({"token_file": "empty.txt"}, "b.token_file: .*empty.txt is empty"),
        ({"token_file": "latin.txt"}, "b.token_file: .*latin.txt is no text in UTF-8"),
        ({"token_file": "lines.txt"}, "`authorization` holds characters that HTTP does not allow"),
        ({"secret_headers": {"X": "s3cret"}}, "b.secret_headers.X: write { env = "),
        ({"secret_headers": {"X": {}}}, "b.secret_headers.X is empty: write { env = "),
        ({"secret_headers": {"X": {"env": "A", "file": "a"}}}, "exclude each other"),
        ({"secret_headers": {"X": {"evn": "A"}}}, "unknown key services.b.secret_headers.X.evn"),
        ({"secret_headers": {"Host": {"file": "secret.txt"}}}, "'host' cannot be set"),
        ({"headers": {"X": 5}}, "services.b.headers.X = 5: it must be a string"),
        (
            {"headers": {"X": "a"}, "secret_headers": {"x": {"file": "secret.txt"}}},
            r"\[services.b\]: the header 'x' is set twice",
        ),
        ({"method": "put"}, "services.b.method = 'put'; "),
        ({"allow_hosts": "h"}, "it must be a list of strings"),
        ({"allow_hosts": ["h"]}, r"\[services.b\]: the host 'example.org' is not in allow_hosts"),
        ({"allow_addresses": ["h"]}, "allow_addresses: 'h' does not appear to be"),
        ({"circuit_wait": "0s"}, "must be waiting times"),
        ({"page_rows": 9, "max_rows": 5}, r"\[services.b\]: page_rows = 9 is more than"),
    ],
)
def test_contradictions_of_a_client_are_errors_of_the_job(tmp_path, service, message):
    for name, content in (("secret", "s3cret\n"), ("empty", "\n"), ("lines", "s3cret\nb")):
        (tmp_path / f"{name}.txt").write_text(content)
    (tmp_path / "latin.txt").write_bytes(b"s3cret\xff")
    with pytest.raises(JobError, match=message) as caught:
        read_job(tables(services={"b": service}), folder=tmp_path)
    assert "s3cret" not in str(caught.value)


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
        (
            {"streams": {"m": {"iri": "http://x", "path": "s"}}},
            "streams.m.iri = .*the query.s streams are",
        ),
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
        ({"view": {"capacity": 0}}, "view.capacity = 0: it must be a whole number ≥ 1"),
        ({"view": {"capacity": "9"}}, "view.capacity = '9': it must be a whole number"),
        (
            {"view": {"capacity": 9, "fill": "start"}},
            "view.fill = 'start' loads all .* and view.capacity bounds .* leave one of them out",
        ),
        ({"qos": {"freshness": 90}}, "qos.freshness = 90: it must be a share such as 0.9"),
        ({"qos": {"freshness": True}}, "qos.freshness = True: it must be a share"),
        ({"qos": {"deadline": "0s"}}, "qos.deadline = 0 can be kept by no answer"),
        ({"qos": {"deadlin": "2s"}}, "unknown key qos.deadlin; did you mean 'deadline'"),
        (
            {"view": {"mode": "none"}, "policy": {"name": "WSJ-LRU"}},
            "view.mode = 'none' maintains nothing, and policy.name = 'WSJ-LRU' says how",
        ),
        ({"view": {"fill": "on demand"}}, "view.fill = 'on demand'; did you mean 'on-demand'"),
        ({"view": {"keep_windows": 0}}, "view.keep_windows = 0: it must be a whole number ≥ 1"),
        ({"budget": {"start": -1}}, "budget.start = -1: it must be a whole number ≥ 0"),
        (
            {"view": {"refresh_key": ["followers"], "fill": "on-demand"}},
            r"filled with what .* which \?followers belongs to a missing \?user is unknown",
        ),
        ({"view": {"refresh_key": "user"}}, "refresh_key = 'user': it must be a list of strings"),
        ({"view": {"refresh_key": []}}, "must be a list of different strings"),
        ({"view": {"refresh_key": ["user", "user"]}}, "must be a list of different strings"),
        (
            {"view": {"refresh_key": ["unit", "user"]}},
            r"view.refresh_key: the SERVICE does not bind \?unit; it binds \?user, \?followers",
        ),
        (
            {"view": {"refresh_key": ["followers"]}, "policy": {"name": "CWSJ-WBM"}},
            r"'CWSJ-WBM' fetches .* which \?followers belongs to a missing \?user is unknown",
        ),
        (
            {"view": {"refresh_key": ["user", "followers"], "interval_predicate": "http://p"}},
            r"view.interval_predicate needs a subject, .* \?user, \?followers",
        ),
        *(
            (
                {"view": {"interval_predicate": given}},
                f"view.interval_predicate = '{given}' is no IRI; write it in full",
            )
            for given in ("every", ":every", "<http://e/every>", "http://e/how often", "")
        ),
        (
            {"policy": {"name": "Filter"}},
            r"policy 'Filter' needs a FILTER \?x < number .* this query does not have it",
        ),
        ({"policy": {"name": "WBM.F(fdt=5)"}}, "needs a FILTER"),
        ({"policy": {"name": "WSJ-WBM*"}}, "needs the true changes of the remote data, which only"),
        ({"policy": {"name": "BST"}}, "policy 'BST' needs the true changes of the remote data"),
        ({"policy": {"name": "IBM-Agg"}}, "needs an answer that aggregates the units of each join"),
        ({"policy": {"name": "SBM-Agg"}}, "this query does not have it"),
    ],
)
def test_mistakes_name_the_key_and_the_way_out(sections, message):
    with pytest.raises(InputError, match=message):
        read_job(tables(**sections))


def test_units_and_capacity_arrive():
    job = read_job(tables())
    assert (
        job.services[0].refresh_key,
        job.services[0].join_key,
        job.services[0].view.capacity,
    ) == (("user",), ("user",), None)
    job = read_job(tables(view={"refresh_key": ["?followers"]}))
    assert (job.services[0].refresh_key, job.services[0].join_key) == (("followers",), ("user",))
    job = read_job(tables(view={"capacity": 5}, policy={"name": "MP(CWSJ,WBM,LRU)"}))
    assert job.services[0].view.capacity == 5


def test_a_refresh_key_of_the_join_key_s_variables_is_the_join_key():
    text = QUERY.replace("SERVICE :bkg { ", "SERVICE :bkg { ?post :in ?place . ")
    job = read_job(tables(query={"text": text}, view={"refresh_key": ["user", "post"]}))
    assert job.services[0].refresh_key == job.services[0].join_key == ("post", "user")


@pytest.mark.parametrize(
    "maybe",
    ["OPTIONAL { ?user :livesIn ?city }", "{ ?user :livesIn ?city } UNION { ?user :from ?town }"],
)
def test_a_refresh_key_that_may_be_unbound_names_no_unit(maybe):
    text = QUERY.replace("?followers } }", f"?followers {maybe} }} }}")
    with pytest.raises(JobError) as caught:
        read_job(tables(query={"text": text}, view={"refresh_key": ["user", "city"]}))
    assert "view.refresh_key: the SERVICE may leave ?city unbound" in str(caught.value)
    assert str(caught.value).endswith("or take what it always binds: ?user, ?followers")


def test_a_join_key_is_what_the_service_always_binds():
    text = QUERY.replace("?followers } }", "?followers OPTIONAL { ?user :in ?post } } }")
    assert read_job(tables(query={"text": text})).services[0].join_key == ("user",)


def test_services_that_are_written_alike_have_a_view_each():
    both = (
        "WINDOW :w { ?user :isMentionedIn ?post } SERVICE :bkg { ?user :hasFollowers ?followers }"
    )
    where = QUERY.index("WHERE")
    text = f"{QUERY[:where]}WHERE {{ {{ {both} }} UNION {{ {both} }} }}"
    job = read_job(tables(query={"text": text}))
    assert [each.name for each in job.services] == ["bkg", "bkg-2"]
    assert [each.plan.number for each in job.services] == [0, 1]


def test_a_filter_policy_is_fine_with_a_filter():
    text = QUERY.replace("?followers } }", "?followers } FILTER(?followers > 5) }")
    job = read_job(tables(query={"text": text}, policy={"name": "WBM.F+(alpha=0.3)"}))
    assert job.plan.thresholds[0].number == 5


def maintenance_of(**sections):
    return dict(describe_job(read_job(tables(**sections))))["maintenance of bkg"].splitlines()


def test_explain_tells_units_allocation_capacity_replacement_and_threshold():
    assert maintenance_of() == [
        "unit: all view rows with the same ?user; one refresh replaces them",
        "join key: ?user, one unit each (1:1)",
        "allocation: fixed, 10 refreshes at each evaluation",
        (
            "capacity: none; the view is filled with what windows need, and lets go of what none "
            "of the last 100 needed"
        ),
    ]
    wanted = maintenance_of(qos={"freshness": 0.9}, view={"fill": "start"}, budget={"start": 9})
    assert wanted[2:] == [
        "allocation: fixed, as many refreshes at each evaluation",
        "allocation: 9 more, once, to fill the view",
        "capacity: none; the view starts with all that the service has",
    ]
    assert maintenance_of(view={"mode": "none"})[-1].startswith("view: none; every evaluation asks")
    flexible = "allocation: flexible, 10 refreshes per evaluation on average"
    assert maintenance_of(view={"refresh_key": ["followers"]}, policy={"name": "FBA(IBM-BGP)"}) == [
        "unit: all view rows with the same ?followers; one refresh replaces them",
        "join key: ?user; view rows link join keys with units (M:N)",
        f"{flexible}; at most 100 saved for later, 90 borrowed from it",
        "capacity: none; the view starts with all that the service has",
    ]
    text = QUERY.replace(
        "?followers } }", "?followers ; :posts ?n } FILTER(?followers > 5 && ?n < 1) }"
    )
    lines = maintenance_of(
        query={"text": text}, view={"capacity": 7}, policy={"name": "MP(AW,RND,FRP)"}
    )
    assert lines[3:] == [
        "capacity: 7 units; the view starts empty",
        "replacement: FRP(slowest_first=False)",
        "FILTER threshold: ?followers > 5; Filter rankers do not look at ?n < 1",
    ]
    lines = maintenance_of(view={"capacity": 7}, policy={"name": "MP(CWSJ,WBM,LRU)"})
    assert lines[-1] == "replacement: LRU"


def test_a_file_that_is_not_there_or_no_toml(tmp_path):
    with pytest.raises(JobError, match="no such file: nope.toml"):
        load_job("nope.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("[query\n")
    with pytest.raises(JobError, match="not TOML: .*line 1"):
        load_job(bad)


def test_change_intervals_can_be_learned():
    view = read_job(tables(view={"change_interval": "learned"})).services[0].view
    assert (view.learned, view.change_interval_ms) == (True, None)
    stated = {"change_interval": "learned", "interval_file": "intervals.csv"}
    with pytest.raises(JobError, match="'learned' and view.interval_file exclude each other"):
        read_job(tables(view=stated))
    with pytest.raises(JobError, match="view.change_interval: 'lerned' is not a duration"):
        read_job(tables(view={"change_interval": "lerned"}))
