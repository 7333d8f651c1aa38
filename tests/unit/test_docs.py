"""What the documentation says is what the code does."""

import ast
import re
import runpy
import tomllib
from dataclasses import fields
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from bestbefore.cli.estimating import read_views
from bestbefore.cli.main import app
from bestbefore.enrichment import enrich
from bestbefore.job import read_job
from bestbefore.limits import Limits
from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.proposers import proposers
from bestbefore.maintenance.rankers import rankers
from bestbefore.maintenance.replacement import replacements
from bestbefore.market import summaries
from bestbefore.parameters import parameters_of
from bestbefore.query import parse_query, plan
from bestbefore.service import ClientSettings
from bestbefore.service.http_lookup import JsonBatch, JsonLookup
from bestbefore.service.sql_settings import SqlSettings
from bestbefore.spark.sources import mapping_of
from bestbefore.view import view_of

ROOT = Path(__file__).parents[2]


def blocks(file, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / file).read_text(), re.DOTALL)


def test_the_readme_s_query_and_job_are_a_job(tmp_path):
    (query,) = blocks("README.md", "sparql")
    (job,) = blocks("README.md", "toml")
    (tmp_path / "influencers.rq").write_text(query)
    read = read_job(tomllib.loads(job), folder=tmp_path)
    assert read.services[0].budget == 10
    assert [each.name for each in read.plan.services[0].join_key] == ["user"]


def test_the_page_on_the_job_file_shows_a_job(tmp_path):
    (tmp_path / "influencers.rq").write_text(blocks("README.md", "sparql")[0])
    (job,) = blocks("docs/job-file.md", "toml")
    read = read_job(tomllib.loads(job), folder=tmp_path)
    assert read.services[0].policy.name == "EFG"
    # What is commented out must be known too.
    lines = [re.sub(r"^# (?=\w+ = )", "", line) for line in job.splitlines()]
    wanted = tomllib.loads("\n".join(lines).replace("interval_predicate", "# interval_predicate"))
    del wanted["view"]["interval_file"], wanted["services"]["bkg"]["token_env"]
    del wanted["policy"]["module"]
    wanted["view"]["interval_variable"] = "?followers"
    wanted["policy"]["name"] = "CWSJ-WBM"
    assert read_job(wanted, folder=tmp_path).services[0].client.page_rows == 5000


def test_what_budget_and_limits_count_is_said_in_the_same_words():
    words = (
        "The budget counts elected units, limits count requests: attempts, confirmations and "
        "halves of a batch are requests too."
    )
    for file in ("README.md", "docs/job-file.md"):
        page = (ROOT / file).read_text()
        assert words in " ".join(page.split())
        assert re.search(r"refreshes = \d+ +# elected units per evaluation", page)


def test_the_page_on_the_job_file_lists_every_limit():
    page = (ROOT / "docs/job-file.md").read_text()
    table = page.partition("## Limits")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    found = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert found == {each.name for each in fields(Limits)} | {"ledger"}


def test_every_setting_of_a_client_is_documented_with_its_default():
    rows = re.findall(r"^\| (`.+) \| (.*) \| .+ \|$", (ROOT / "docs/job-file.md").read_text(), re.M)
    defaults = {key: default for keys, default in rows for key in re.findall(r"`(\w+)`", keys)}
    plain = {"address", "authorization", "lookup", "requests_per_second"}
    settings = {field.name for field in fields(ClientSettings)} - plain
    assert settings <= {*defaults, *(f"{key}_s" for key in defaults)}
    section = {
        key: tomllib.loads(f"x = {default.strip('`')}")["x"]
        for key, default in defaults.items()
        if default.startswith(('`"', "`1", "`3", "`4", "`5", "`6"))
    }
    assert len(section) == 13
    query = {"text": blocks("README.md", "sparql")[0]}
    for services in ({}, section):
        tables = {"query": query, "streams": {"m": {"path": "s"}}, "services": {"bkg": services}}
        assert read_job(tables).services[0].client == ClientSettings("http://example.org/bkg")


def test_the_page_on_clusters_shows_where_a_job_keeps_its_state(tmp_path):
    (paths,) = blocks("docs/cluster.md", "toml")
    paths = tomllib.loads(paths)
    paths["query"] = {"text": blocks("README.md", "sparql")[0]}
    read = read_job({**paths, "services": {"bkg": {}}}, folder=tmp_path)
    written = {read.checkpoint, read.sink.path, read.sink.quality, read.streams[0].source.path}
    assert written == {
        f"s3a://my-bucket/{name}" for name in ("checkpoint", "answers", "quality", "mentions")
    }


@pytest.mark.parametrize("number", range(4))
def test_the_page_on_streams_shows_streams(tmp_path, number):
    streams = tomllib.loads(blocks("docs/sources.md", "toml")[number])
    streams["query"] = {"text": blocks("README.md", "sparql")[0]}
    streams["services"] = {"bkg": {}}
    read = read_job(streams, folder=tmp_path)
    mapping = mapping_of(read.streams[0].source)
    assert (mapping is None) == (number == 0)
    assert len(blocks("docs/sources.md", "toml")) == 4


@pytest.mark.parametrize("number", range(2))
def test_the_page_on_lookups_shows_services(tmp_path, number):
    changes = blocks("docs/lookups.md", "toml")[2]
    services = tomllib.loads(blocks("docs/lookups.md", "toml")[number] + changes)
    services["query"] = {"text": blocks("docs/lookups.md", "sparql")[0]}
    services["streams"] = {"readings": {"path": "stream"}}
    (service,) = read_job(services, folder=tmp_path).services
    assert service.units_per_request == (20, 50)[number]
    assert service.changes.source.format == "csv"
    assert len(blocks("docs/lookups.md", "toml")) == 3


def test_every_key_of_a_lookup_is_documented():
    page = (ROOT / "docs/lookups.md").read_text()
    named = set(re.findall(r"`(?:batch\.)?(\w+)`", page))
    batch = {field.name for field in fields(JsonBatch)}
    settings = {field.name.removesuffix("_s") for field in fields(SqlSettings)}
    own = {"address", "requests_per_second"}
    assert {field.name for field in fields(JsonLookup)} | batch | settings - own <= named


def test_the_enrichment_of_the_page_on_lookups_is_written_as_enrich_takes_it():
    (text,) = blocks("docs/lookups.md", "python")
    call = ast.parse(text).body[-1].value
    assert call.func.id == "enrich"
    signature(enrich).bind("stream", **{one.arg: None for one in call.keywords})


def test_the_example_policy_of_contributing_works():
    (text,) = blocks("CONTRIBUTING.md", "python")
    assert len(text.splitlines()) <= 18
    try:
        exec(compile(text, "CONTRIBUTING.md", "exec"), {"__name__": "example"})
        view = view_of([(f"<u:{n}>",) for n in range(4)], ["k"], ["k"])
        window = WindowUnits(np.arange(4), np.ones(4, dtype=np.int64), np.array([3, 9, 1, 5]))
        election = elect(
            resolve_policy("POP(exponent=2)"),
            view.units,
            window,
            Situation(Moment(10, 4, 1), budget=2),
            rng=np.random.default_rng(0),
        )
        assert election.elected.tolist() == [1, 3]
    finally:
        rankers._entries.pop("POP", None)


def test_the_simulation_of_the_docs_runs():
    (text,) = blocks("docs/simulation.md", "python")
    names = {"__name__": "example"}
    exec(compile(text, "simulation.md", "exec"), names)
    assert names["best"].policy == "WSJ-WBM"


AROUND = """PREFIX : <http://example.org/> REGISTER RSTREAM :q AS SELECT *
FROM NAMED WINDOW :w ON :s [RANGE 10m STEP 1m] WHERE {{ {group} }}"""


def test_the_query_of_the_page_on_queries_is_planned():
    text, *groups = blocks("docs/queries.md", "sparql")
    planned = plan(parse_query(text))
    assert len(planned.windows) == 2
    assert [each.name for each in planned.services[0].join_key] == ["user"]
    chain, aggregate = (plan(parse_query(AROUND.format(group=group))) for group in groups)
    assert [service.after for service in chain.services] == [None, 0]
    assert [each.name for each in aggregate.services[0].join_key] == ["tweet"]


def test_every_policy_is_described():
    page = (ROOT / "docs" / "policies.md").read_text()
    for name in (*rankers, *proposers, *replacements):
        assert f"`{name}`" in page


def test_every_summary_is_described_with_its_parameters():
    page = (ROOT / "docs" / "market.md").read_text()
    for name, kind in summaries.items():
        row = re.findall(rf"^\| `{name}` \|.*$", page, re.M)[0]
        assert all(f"`{parameter}`" in row for parameter in parameters_of(kind))


def test_the_views_of_the_page_on_stores_are_views(tmp_path):
    (text,) = blocks("docs/market.md", "toml")
    (tmp_path / "views.toml").write_text(text)
    views = read_views(tmp_path / "views.toml")
    assert [(name, cost) for name, _, cost in views] == [("prices", 200), ("one-vendor", None)]


def test_every_command_is_documented_as_it_is():
    page = runpy.run_path(str(ROOT / "scripts" / "write_docs.py"))["command_page"]()
    assert (ROOT / "docs" / "cli.md").read_text() == page, "run `make docs`"
    for name in get_command(app).commands:
        assert f"## bestbefore {name}" in page


@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "docs/job-file.md",
        "docs/lookups.md",
        "docs/sources.md",
        "docs/policies.md",
        "docs/simulation.md",
        "docs/queries.md",
        "docs/cluster.md",
        "docs/market.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
    ],
)
def test_links_lead_somewhere(file):
    targets = re.findall(r"\]\(([^)#:]+)[^)]*\)", (ROOT / file).read_text())
    missing = [each for each in targets if not ((ROOT / file).parent / each).exists()]
    assert missing == []


def test_the_query_of_the_readme_is_read():
    parsed = parse_query(blocks("README.md", "sparql")[0])
    assert parsed.windows[0].width_ms == 600_000
