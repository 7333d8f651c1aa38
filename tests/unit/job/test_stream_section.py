"""Streams in a job file: what is read, and what is refused with the way out."""

import pytest

from bestbefore.errors import JobError
from bestbefore.job import read_job
from bestbefore.job.explanation import describe_job
from bestbefore.job.streams import read_streams
from bestbefore.rdf.terms import XSD
from bestbefore.spark.event_lines import EventLines
from bestbefore.spark.mapped_rows import MappedColumns, MappedJson
from tests.unit.engine.conftest import query

TRIPLE = {"predicate": "urn:p", "object": {"iri": "urn:o:{o}"}}
ROWS = {"path": "s", "format": "csv", "subject": "urn:s:{s}", "triples": [TRIPLE]}


def read(tmp_path, **stream):
    (found,) = read_streams({"streams": {"m": stream}}, ["urn:m"], base=tmp_path)
    return found


def test_lines_by_default(tmp_path):
    stream = read(tmp_path, path="s")
    assert stream.source.path == str(tmp_path / "s")
    assert stream.source.reading == EventLines("jsonl", "ntriples", "ts", "data", "ms")
    stream = read(tmp_path, path="s", payload="trig", timestamp="at", data="g", timestamp_unit="s")
    assert stream.source.reading == EventLines("jsonl", "trig", "at", "g", "s")
    assert read(tmp_path, path="s", format="nquads").source.reading.format == "nquads"


def test_a_mapping_arrives(tmp_path):
    text = {"column": "text", "language": "en"}
    score = {"column": "score", "datatype": "xsd:decimal"}
    rows = {
        **ROWS,
        "timestamp": "at",
        "timestamp_unit": "s",
        "triples": [
            TRIPLE,
            {"predicate": "urn:n", "object": score},
            {"subject": "urn:t:{o}", "predicate": "urn:t", "object": text},
        ],
        "options": {"sep": ";", "multiLine": True},
        "columns": ["at", "s"],
    }
    source = read(tmp_path, **rows).source
    assert isinstance(source.reading, MappedColumns)
    assert source.reading.timestamp_unit == "s"
    assert source.reading.mapping.columns == ("at", "s", "o", "score", "text")
    assert (
        str(source.reading.mapping.triples[1])
        == f'<urn:s:{{s}}> <urn:n> "{{score}}"^^<{XSD}decimal> .'
    )
    assert str(source.reading.mapping.triples[2].subject) == "<urn:t:{o}>"
    assert source.options == {"sep": ";", "multiLine": "True"}
    assert source.columns == ("at", "s")


def test_spark_s_own_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("JAAS", "s3cret")
    options = {"kafka.bootstrap.servers": "b:9092", "subscribe": "t"}
    kafka = {"source": "spark", "format": "kafka", "options": options}
    lines = read(tmp_path, **kafka, value_format="tsv", options_env={"x": "JAAS"})
    assert lines.source.reading.format == "tsv"
    assert lines.source.secret_options == {"x": "s3cret"}
    mapping = {"subject": "urn:s:{s}", "triples": [TRIPLE]}
    assert isinstance(read(tmp_path, **kafka, **mapping).source.reading, MappedColumns)
    json = read(tmp_path, **kafka, **mapping, value_format="json")
    assert isinstance(json.source.reading, MappedJson)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ({"path": "s", "format": "ntriples"}, "streams.m.format = 'ntriples'; "),
        (
            {"path": "s", "format": "tsv", "payload": "turtle"},
            "m.payload is for jsonl, not for tsv",
        ),
        ({"path": "s", "timestamp_unit": "min"}, "timestamp_unit = 'min'; known: ms, ns, s, us"),
        ({**ROWS, "format": "json", "header": False}, "m.header is for csv, not for json"),
        ({**ROWS, "data": "d"}, "m.data is for jsonl, not for csv"),
        ({"path": "s", "triples": [TRIPLE]}, "m.triples is for csv, json, parquet, columns, not"),
        ({"path": "s", "schema": "a string"}, "m.schema is for spark, parquet, not for jsonl"),
        ({**ROWS, "header": False}, "m.columns is missing: without a header, name all columns"),
        ({**ROWS, "triples": []}, r"m.triples is missing: .* one \[\[streams.m.triples\]\] each"),
        ({**ROWS, "triples": {}}, "m.triples = {}: it must be a list of tables"),
        ({**ROWS, "triples": ["x"]}, r"m.triples: write each entry as \[\[streams.m.triples\]\]"),
        ({**ROWS, "subject": "{s}"}, "m.subject: '{s}' is no template of an IRI"),
        ({**ROWS, "triples": [{"predicate": "urn:p"}]}, r"triples\[1\].object is missing: write {"),
        ({**ROWS, "triples": [{"object": {}}]}, r"triples\[1\].predicate is missing"),
        ({**ROWS, "triples": [{**TRIPLE, "predicate": "p"}]}, r"\[1\].predicate: 'p' is no pred"),
        ({**ROWS, "triples": [{**TRIPLE, "objekt": 1}]}, r"unknown key .*\[1\].objekt; did you me"),
        ({**ROWS, "triples": [TRIPLE, {**TRIPLE, "object": {}}]}, r"\[2\].object needs either iri"),
        (
            {**ROWS, "triples": [{**TRIPLE, "object": {"iri": "urn:x", "column": "y"}}]},
            r"\[1\].object needs either iri or column",
        ),
        (
            {**ROWS, "triples": [{**TRIPLE, "object": {"column": "y", "datatype": "xsd:int3"}}]},
            r"\[1\].object: 'xsd:int3' is no datatype of XML Schema; did you mean 'xsd:int'",
        ),
        (
            {
                **ROWS,
                "triples": [
                    {**TRIPLE, "object": {"column": "y", "datatype": "xsd:int", "language": "en"}}
                ],
            },
            "datatype and language exclude each other",
        ),
        ({"path": "s", "format": "csv", "triples": [TRIPLE]}, "subject is missing, and the stream"),
        ({"source": "spark"}, "streams.m.format is missing: a streaming source of Spark"),
        ({"source": "spark", "format": "kafka"}, "m.triples is missing"),
        ({"source": "spark", "format": "kafka", "path": "x"}, "m.path is for folder, not for"),
        (
            {"source": "spark", "format": "k", "value_format": "tsv", "options_env": {"a": "NO_X"}},
            "streams.m.options_env.a: the environment variable NO_X is not set",
        ),
        ({"source": "dataframe", "path": "x"}, "unknown key streams.m.path"),
    ],
)
def test_mistakes_name_the_key_and_the_way_out(tmp_path, stream, message):
    with pytest.raises(JobError, match=message):
        read(tmp_path, **stream)


def test_several_streams_are_told_apart_by_their_iris(tmp_path):
    sections = {
        "b": {"iri": "urn:b", "path": "b", "allowed_lateness": "2s"},
        "a": {"iri": "urn:a", "path": "a"},
    }
    iris = ["urn:a", "urn:b"]
    streams = read_streams({"streams": sections}, iris, base=tmp_path)
    assert [(each.name, each.iri, each.allowed_lateness_ms) for each in streams] == [
        ("a", "urn:a", 0),
        ("b", "urn:b", 2_000),
    ]
    by_name = {**sections, "a": {"path": "a"}}
    assert read_streams({"streams": by_name}, iris, base=tmp_path)[0].name == "a"
    with pytest.raises(JobError, match=r"streams.b.iri = 'urn:b': the query's streams are <urn:a>"):
        read_streams({"streams": sections}, ["urn:a"], base=tmp_path)
    twice = {"a": {"iri": "urn:a", "path": "a"}, "c": {"path": "c", "iri": "urn:a"}}
    with pytest.raises(JobError, match=r"\[streams.a\] and \[streams.c\] both stand for <urn:a>"):
        read_streams({"streams": twice}, ["urn:a"], base=tmp_path)
    nobody = {"a": {"path": "a"}, "c": {"path": "c"}}
    with pytest.raises(JobError, match=r"\[streams.c\] stands for no one IRI of the query"):
        read_streams({"streams": nobody}, ["urn:a"], base=tmp_path)


def test_explain_shows_the_triples_of_a_row_and_no_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("JAAS", "s3cret")
    stream = {
        "source": "spark",
        "format": "kafka",
        "value_format": "json",
        "subject": "urn:u:{id}",
        "triples": [TRIPLE, {"predicate": "urn:t", "object": {"column": "t", "language": "de"}}],
        "options": {"subscribe": "topic"},
        "options_env": {"kafka.sasl.jaas.config": "JAAS"},
    }
    tables = {"query": {"text": query()}, "streams": {"m": stream}, "services": {"b": {}}}
    sections = dict(describe_job(read_job(tables, folder=tmp_path)))
    assert sections["triples of a row of m"].splitlines() == [
        "time: {ts}",
        "<urn:u:{id}> <urn:p> <urn:o:{o}> .",
        '<urn:u:{id}> <urn:t> "{t}"@de .',
    ]
    assert "streams.m.source.options = {'subscribe': 'topic'}" in sections["job"]
    assert "streams.m.source.reading.timestamp_unit = ms" in sections["job"]
    assert "s3cret" not in str(sections)


def test_time_of_arrival_needs_no_timestamp(tmp_path):
    lines = read(tmp_path, path="s", time="arrival")
    assert (lines.time, lines.source.reading.time_field) == ("arrival", None)
    rows = read(tmp_path, **ROWS, time="arrival")
    assert rows.source.reading.mapping.columns == ("s", "o")
    assert read(tmp_path, source="dataframe", time="arrival").time == "arrival"
    with pytest.raises(JobError, match=r"m.timestamp is for time = 'data'; .*leave it out"):
        read(tmp_path, path="s", time="arrival", timestamp="at")
    with pytest.raises(JobError, match=r"m.time = 'arival'; did you mean 'arrival'"):
        read(tmp_path, path="s", time="arival")
