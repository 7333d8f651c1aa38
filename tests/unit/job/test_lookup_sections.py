"""Lookups in a job file: every mistake has its section, its value and the way out."""

import re

import pytest

from bestbefore.errors import InputError, UnsupportedSparql
from bestbefore.job import explain
from tests.unit.service.test_http_lookup import job_of

HTTP = {"url": "https://e.org/w?city={city}", "columns": {"t": "/t", "h": "/h"}}
SQL = {"database": "facts.db", "table": "weather"}


def test_settings_arrive():
    batch = {"url": "https://e.org/w?ids={keys}", "key": "/id", "units_per_request": 7}
    section = {**HTTP, "batch": batch, "rows": "/items", "timeout": "3s", "token_env": "PATH"}
    service = job_of(section).services[0]
    assert (service.units_per_request, service.client.timeout_s) == (7, 3.0)
    assert service.address == "https://e.org/w?…"
    limited = job_of({**HTTP, "limits": {"per_second": 2}}).services[0]
    assert limited.client.requests_per_second == 2
    assert limited.units_per_request == 1
    sql = job_of({**SQL, "limits": {"per_second": 2}, "units_per_request": 9}, kind="sql").services[
        0
    ]
    assert (sql.units_per_request, sql.client.requests_per_second) == (9, 2)
    assert sql.address == "sqlite:facts.db"


def test_other_columns_are_another_service_to_a_checkpoint():
    services = [
        job_of(section, kind=kind).services[0]
        for kind, section in [
            ("http", HTTP),
            ("http", {**HTTP, "columns": {"t": "/t2", "h": "/h"}}),
            ("http", {**HTTP, "url": "https://e.org/w?town={city}"}),
            ("sql", SQL),
            ("sql", {**SQL, "columns": {"t": "temperature"}}),
        ]
    ]
    assert len({service.identity for service in services}) == 5
    assert len({service.address for service in services}) == 2


def test_explain_tells_of_columns_and_no_secrets():
    text = explain(job_of({**HTTP, "url": "https://e.org/w?city={city}&key=verysecret"}))
    assert "client.lookup.columns" in text
    assert "'/t'" in text
    assert "verysecret" not in text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("?city :t ?t . ?city :h ?h FILTER(?t > 5)", "FILTER"),
        ("?city :t ?t OPTIONAL { ?city :h ?h }", "OPTIONAL"),
        ("?city :t ?t . ?city :h 5 . ?city :h ?h", "5, in the place of a variable,"),
        ("?city ?h ?t", "?h, in the place of a property,"),
        ("?city :t+ ?t . ?city :h ?h", "a property path"),
        ("?city :t [] . ?city :h ?h . ?city :t ?t", "a blank node, in the place of"),
        ("{ ?city :t ?t } UNION { ?city :h ?h }", "UNION"),
        ("?city :h ?h BIND(1 AS ?t)", "BIND"),
        ("SELECT ?city ?t ?h { ?city :t ?t . ?city :h ?h }", "a subquery"),
    ],
)
def test_a_clause_is_triples_of_variables(text, what):
    for kind, section in (("http", HTTP), ("sql", SQL)):
        with pytest.raises(UnsupportedSparql) as caught:
            job_of(section, text, kind)
        assert re.match(rf"line 1, column \d+: {re.escape(what)}", str(caught.value))
        assert str(caught.value).endswith("write the rest outside of the SERVICE")


@pytest.mark.parametrize(
    ("kind", "section", "reason"),
    [
        ("http", {}, "services.bkg.url is missing: where a unit is asked for"),
        ("http", {"url": "https://{city}.org/w"}, "services.bkg.url: {city} stands in the host"),
        ("http", {"url": "https://e.org:{city}/w"}, "services.bkg.url: {city} stands in the host"),
        ("http", {"url": "{city}://e.org/w"}, "services.bkg.url: {city} stands in the scheme"),
        ("http", {"url": "https://e.org/w?{city}=1"}, "{city} stands in the name of a parameter"),
        ("http", {"url": "https://e.org/w#{city}"}, "a URL that is asked has no fragment"),
        ("http", {"url": "https://e.org/w?city={city"}, "services.bkg.url: a brace is left over"),
        ("http", {"url": "https://e.org/../{city}"}, "its path has a segment '.' or '..'"),
        ("http", {"url": "ftp://e.org/{city}"}, "is neither http nor https"),
        ("http", {"url": "https://e.org/w"}, "services.bkg.url = 'https://e.org/w' names no key"),
        (
            "http",
            {"url": "https://e.org/{town}"},
            "has places for ?town, and units are named by ?city",
        ),
        ("http", {"columns": {"t": "t", "h": "/h"}}, "columns.t.pointer: 't' is no JSON pointer"),
        ("http", {"columns": {"t": "/a~2", "h": "/h"}}, "'/a~2' is no JSON pointer"),
        (
            "http",
            {"columns": {"t": 5}},
            "services.bkg.columns.t = 5: it must be a string or a table",
        ),
        (
            "http",
            {"columns": {"t": "/t"}},
            "services.bkg.columns has no h, which the SERVICE asks for",
        ),
        (
            "http",
            {"columns": {"t": "/t", "h": "/h", "hh": "/x"}},
            "columns.hh: the SERVICE has no such",
        ),
        (
            "http",
            {"columns": {"t": {"pointer": "/t", "datatype": "xsd:ingeter"}}},
            "did you mean 'xsd:integer'",
        ),
        (
            "http",
            {"columns": {"t": {"pointer": "/t", "kind": "x"}}},
            "unknown key services.bkg.columns.t.kind",
        ),
        (
            "http",
            {"keys": {"town": "http://e/{}"}},
            "services.bkg.keys.town: units are named by ?city",
        ),
        (
            "http",
            {"keys": {"city": "http://e/"}},
            "services.bkg.keys.city: 'http://e/' is no template",
        ),
        ("http", {"keys": {"city": {"type": "float"}}}, "services.bkg.keys.city.type = 'float'"),
        ("http", {"batch": {"key": "/id"}}, "services.bkg.batch needs {keys} once"),
        (
            "http",
            {"batch": {"key": "/id", "body": {"a": 1}, "url": "https://e.org/b"}},
            "batch.body has no value '{keys}'",
        ),
        (
            "http",
            {"batch": {"key": "/id", "url": "https://f.org/{keys}"}},
            "must be on the server of url",
        ),
        ("http", {"batch": {"url": "https://e.org/{keys}"}}, "services.bkg.batch.key is missing"),
        ("http", {"endpoint": "https://e.org"}, "unknown key services.bkg.endpoint"),
        ("http", {"view": {"fill": "start"}}, "services.bkg can be asked for keys only"),
        (
            "http",
            {"view": {"interval_predicate": "http://e/i"}},
            "view.interval_predicate is for SPARQL",
        ),
        (
            "http",
            {"allow_hosts": ["f.org"]},
            "[services.bkg]: the host 'e.org' is not in allow_hosts",
        ),
        ("sql", {"table": None}, "[services.bkg]: give either table"),
        ("sql", {"query": "SELECT 1"}, "[services.bkg]: give either table"),
        ("sql", {"table": None, "query": "SELECT 1"}, "query needs {keys} once"),
        ("sql", {"driver": "mysql"}, "services.bkg.driver = 'mysql'; did you mean"),
        ("sql", {"database": None}, "services.bkg.database is missing: the path of a SQLite file"),
        ("sql", {"driver": "postgresql", "database": None}, "services.bkg.dsn_env is missing"),
        ("sql", {"max_retry_after": "1s"}, "unknown key services.bkg.max_retry_after"),
        ("sql", {"timeout": "0s"}, "[services.bkg]: timeout_s = 0.0 is no time"),
        ("csv", {}, "services.bkg.kind = 'csv' is no kind of service; "),
    ],
)
def test_mistakes_are_named(kind, section, reason):
    base = HTTP if kind == "http" and section else SQL if kind == "sql" else {}
    given = {key: value for key, value in {**base, **section}.items() if value is not None}
    with pytest.raises(InputError) as caught:
        job_of(given, kind=kind)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_streams_that_name_changes():
    keys = {"city": "http://e/c/{}"}
    changes = {
        "path": "changes",
        "format": "csv",
        "columns": ["at", "c"],
        "key": "c",
        "timestamp": "at",
    }
    job = job_of({**HTTP, "keys": keys, "changes": changes})
    (stream,) = [stream for stream in job.sources if stream not in job.streams]
    (triple,) = stream.source.reading.mapping.triples
    assert str(triple).endswith("<http://e/c/{c}> .")
    assert stream.name == "bkg.changes"
    literal = job_of({**SQL, "changes": {"source": "dataframe"}}, kind="sql")
    assert literal.services[0].changes.source is None
    sparql = {
        "changes": {"path": "c", "format": "json", "subject": "http://e/{c}", "time": "arrival"}
    }
    job = job_of(sparql, kind="sparql")
    assert "<http://e/{c}> .\n" in explain(job)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "services.bkg.changes.path is missing"),
        (
            {"path": "c", "allowed_lateness": "1s"},
            "services.bkg.changes.allowed_lateness: a change",
        ),
        ({"path": "c", "format": "csv"}, "services.bkg.changes.triples is missing"),
        ({"path": "c", "format": "csv", "key": 5}, "services.bkg.changes.key must be the name of"),
        ({"path": "c", "key": "x"}, "services.bkg.changes.triples is for csv"),
        ({"path": "c", "triples": []}, "services.bkg.changes.triples: a row names one unit"),
        ({"path": "c", "nothing": 1}, "unknown key services.bkg.changes.nothing"),
    ],
)
def test_mistakes_in_streams_that_name_changes(changes, reason):
    with pytest.raises(InputError) as caught:
        job_of({**HTTP, "changes": changes})
    assert reason in str(caught.value)
    with pytest.raises(InputError, match="budget.ahead = true exclude each other"):
        job_of({**HTTP, "changes": {"path": "c"}}, budget={"ahead": True})
