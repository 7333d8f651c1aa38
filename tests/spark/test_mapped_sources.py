"""Plain rows as triples: CSV, JSON, Parquet and Spark's own sources with a mapping."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestbefore.errors import InputError
from bestbefore.job.streams import read_streams
from bestbefore.rdf.terms import XSD, decode, to_sparql

from .conftest import EX, TableService, query, source_of

MAPPING = {
    "timestamp": "ts",
    "subject": f"{EX}user/{{id}}",
    "triples": [
        {"predicate": f"{EX}in", "object": {"iri": f"{EX}post/{{post}}"}},
        {"predicate": f"{EX}score", "object": {"column": "score", "datatype": "xsd:decimal"}},
        {
            "subject": f"{EX}post/{{post}}",
            "predicate": f"{EX}text",
            "object": {"column": "text", "language": "en-GB"},
        },
    ],
}
HEADER = "ts,id,post,score,text"
IN, SCORE, TEXT = (f"<{EX}{name}>" for name in ("in", "score", "text"))


def user(name):
    return f"<{EX}user/{name}>"


def found(rows):
    return {(row["s"], row["p"], row["o"]) for row in rows}


def reasons(rows):
    return Counter(row["reason"] for row in rows)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_rows_become_triples_and_an_empty_column_leaves_its_triple_out(taken_in, kind):
    table = [
        ["1000", "u1", "p1", "1.50", "hello"],
        ["1970-01-01T00:00:02Z", "u2", "", "007", ""],
        ["3000", "u3", None, None, None],
    ]
    names = HEADER.split(",")
    if kind == "csv":
        lines = [HEADER, *(",".join(each or "" for each in row) for row in table)]
    else:
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in table]
    good, bad = taken_in(lines, format=kind, **MAPPING)
    assert bad == []
    decimal = f"^^<{XSD}decimal>"
    assert found(good) == {
        (user("u1"), IN, f"<{EX}post/p1>"),
        (user("u1"), SCORE, f'"1.50"{decimal}'),
        (f"<{EX}post/p1>", TEXT, '"hello"@en-gb'),
        (user("u2"), SCORE, f'"007"{decimal}'),
    }
    assert {(row["s"], row["time"]) for row in good if row["p"] == SCORE} == {
        (user("u1"), 1_000),
        (user("u2"), 2_000),
    }
    assert Counter(row["event"] for row in good).most_common()[0][1] == 3


HOSTILE = {
    "../../x": "..%2F..%2Fx",
    "a b": "a%20b",
    "ü😀": "%C3%BC%F0%9F%98%80",
    "a>b<": "a%3Eb%3C",
    'q"\\': "q%22%5C",
    "{id}": "%7Bid%7D",
    "%20+*~": "%2520%2B%2A~",
    "x?y#z&@:": "x%3Fy%23z%26%40%3A",
    "n\nl\r\tx\0y": "n%0Al%0D%09x%00y",
    "-._~AZaz09": "-._~AZaz09",
}


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_hostile_values_become_terms_and_nothing_else(taken_in, kind):
    values = [*HOSTILE, '"@en . <x> <y> "z', "x" * 1_000_000]
    if kind == "json":
        lines = [json.dumps({"ts": n, "id": each, "text": each, "post": "p"})
                 for n, each in enumerate(values)]  # fmt: skip
    else:
        cells = ('"' + each.replace('"', '""') + '"' for each in values)
        lines = [HEADER, *(f"{n},{each},p,,{each}" for n, each in enumerate(cells))]
    options = {"multiLine": True} if kind == "csv" else {}
    good, bad = taken_in("\n".join(lines).encode(), format=kind, options=options, **MAPPING)
    assert bad == []
    subjects = {row["time"]: row["s"] for row in good if row["p"] == IN}
    assert [subjects[n] for n in range(len(HOSTILE))] == [user(each) for each in HOSTILE.values()]
    texts = {row["time"]: row["o"] for row in good if row["p"] == TEXT}
    assert [decode(texts[n]).lexical for n in range(len(values))] == values
    for row in good:
        # A term that could be anything but a term would be refused here.
        assert to_sparql(decode(row["s"]))
        assert to_sparql(decode(row["o"]))


def test_csv_rows_that_cannot_be_used_are_quarantined(taken_in):
    lines = [
        HEADER,
        "1000,u1,p1,5,fine",
        "1000,u1",
        "1000,u1,p1,5,text,more",
        '1000,u1,"p1,5,x',
        ",u1,p1,5,x",
        "soon,u1,p1,5,x",
        "1000,,p1,5,x",
        "1000,u1,p1,abc,x",
        "1000,u1,p1,1e3,x",
        "1000,u1,p1, 5,x",
        "",
    ]
    good, bad = taken_in(lines, format="csv", **MAPPING)
    assert len(good) == 3
    assert reasons(bad) == {
        "the row is malformed": 3,
        "no value for the timestamp in the column 'ts'": 1,
        "the timestamp is neither milliseconds nor ISO 8601: soon": 1,
        "no value for the subject in the column 'id'": 1,
        "the column 'score' holds no xsd:decimal: abc": 1,
        "the column 'score' holds no xsd:decimal: 1e3": 1,
        "the column 'score' holds no xsd:decimal:  5": 1,
    }
    raw = {row["reason"]: row["raw"] for row in bad}
    assert raw["the row is malformed"] in lines
    assert json.loads(raw["the column 'score' holds no xsd:decimal: abc"])["score"] == "abc"


def test_json_rows_that_cannot_be_used_are_quarantined(taken_in):
    row = {"ts": 1_000, "id": "u1", "post": {"a": [1.50, "x"]}, "score": 12.50}
    lines = [
        json.dumps(row).replace("12.5", "12.50"),
        '{"ts": 1000, "id": "u1"',
        "5",
        '{"ts": 1000, "id": "u1", "score": "x"}',
        '{"id": "u1"}',
        '{"ts": 1000, "ID": "u1"}',
    ]
    content = "\n".join(lines).encode() + b'\n{"ts": 1000, "id": "\xff"}\n'
    good, bad = taken_in(content, format="json", **MAPPING)
    # Numbers keep the form that they are written in, and what is nested is JSON.
    assert (user("u1"), SCORE, f'"12.50"^^<{XSD}decimal>') in found(good)
    assert found(good) > {(user("u1"), IN, f"<{EX}post/%7B%22a%22%3A%20%5B1.5%2C%20%22x%22%5D%7D>")}
    assert reasons(bad) == {
        "the row is malformed": 3,
        "the column 'score' holds no xsd:decimal: x": 1,
        "no value for the timestamp in the column 'ts'": 1,
        "no value for the subject in the column 'id'": 1,
    }
    assert '{"ts": 1000, "id": "u1"' in {each["raw"] for each in bad}


TYPES = {
    "xsd:integer": (["5", "-0", "+007", "9" * 60], ["5.0", "", " 5", "5\n", "٥"]),
    "xsd:byte": (["127", "-128", "+0"], ["128", "-129", "9" * 60]),
    "xsd:unsignedLong": (["18446744073709551615"], ["18446744073709551616", "-1"]),
    "xsd:positiveInteger": (["1", "+01"], ["0", "-1"]),
    "xsd:double": (["1e3", "INF", "-INF", "NaN", ".5"], ["Infinity", "1e", "abc"]),
    "xsd:boolean": (["true", "0"], ["TRUE", "yes"]),
    "xsd:dateTime": (
        ["2026-02-28T24:00:00Z", "2024-02-29T01:02:03.4+14:00", "12026-01-01T00:00:00"],
        ["2026-02-29T00:00:00Z", "2026-01-01 00:00:00", "2026-01-01", "2026-01-01T25:00:00Z"],
    ),
    "xsd:date": (["2026-01-31", "2026-01-31Z"], ["2026-01-32", "2026-02-30", "31.1.2026"]),
    "xsd:duration": (["P1Y", "-PT1.5S", "P1DT2H"], ["P", "PT", "P1S", "1D"]),
    "http://example.org/any": (["what", "ever\n"], []),
}


@pytest.mark.parametrize("datatype", TYPES)
def test_a_value_must_fit_its_datatype(taken_in, datatype):
    fitting, others = TYPES[datatype]
    lines = [json.dumps({"ts": 1, "v": each}) for each in (*fitting, *others)]
    term = {"column": "v", "datatype": datatype}
    triples = [{"subject": "urn:s", "predicate": "urn:p", "object": term}]
    good, bad = taken_in(lines, format="json", triples=triples)
    iri = datatype.replace("xsd:", XSD)
    assert {row["o"] for row in good} == {f'"{each}"^^<{iri}>' for each in fitting}
    assert {row["reason"] for row in bad} == {
        f"the column 'v' holds no {datatype}: {each[:40]}" for each in others if each
    }


def test_parquet_columns_of_any_type_are_written_as_xml_schema_writes_them(taken_in, spark):
    instant = datetime(2026, 3, 29, 1, 30, 0, 500_000, UTC)
    values = {
        "ts": pa.array([instant], pa.timestamp("us", "UTC")),
        "at": pa.array([instant], pa.timestamp("us", "UTC")),
        "price": pa.array([Decimal("0E-9")], pa.decimal128(30, 9)),
        "big": pa.array([Decimal("12345678901234567890.10")], pa.decimal128(30, 2)),
        "half": pa.array([0.5]),
        "none": pa.array([float("inf")]),
        "flag": pa.array([True]),
        "day": pa.array([instant.date()]),
        "count": pa.array([7], pa.int64()),
        "list": pa.array([[1, 2]]),
        "bytes": pa.array(["ü".encode()], pa.binary()),
        "a.b `c`": pa.array(["odd"]),
    }
    kinds = {"at": "dateTime", "price": "decimal", "big": "decimal", "half": "double"}
    kinds |= {"none": "double", "flag": "boolean", "day": "date", "count": "integer"}
    triples = [
        {
            "subject": "urn:s",
            "predicate": f"urn:{number}",
            "object": {"column": name, "datatype": f"xsd:{kinds.get(name, 'string')}"},
        }
        for number, name in enumerate(values)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(values), sink)
    for key, value in {"ansi.enabled": "false", "session.timeZone": "Europe/Rome"}.items():
        spark.conf.set(f"spark.sql.{key}", value)
    try:
        good, bad = taken_in(
            sink.getvalue().to_pybytes(), name="a.parquet", format="parquet", triples=triples
        )
    finally:
        for key in ("ansi.enabled", "session.timeZone"):
            spark.conf.unset(f"spark.sql.{key}")
    assert bad == []
    assert {row["time"] for row in good} == {1_774_747_800_500}
    written = {row["p"]: decode(row["o"]).lexical for row in good}
    assert [written[f"<urn:{number}>"] for number in range(1, len(values))] == [
        "2026-03-29T01:30:00.5Z",
        "0.000000000",
        "12345678901234567890.10",
        "0.5",
        "INF",
        "true",
        "2026-03-29",
        "7",
        "[1,2]",
        "ü",
        "odd",
    ]


def test_columns_are_checked_at_the_start_where_they_can_be_known(taken_in, spark, tmp_path):
    with pytest.raises(InputError, match="stream: no CSV file is there yet .* columns = "):
        source_of(tmp_path, format="csv", **MAPPING).stream(spark)
    with pytest.raises(InputError, match="stream: no Parquet file is there yet .* schema = "):
        source_of(tmp_path, format="parquet", **MAPPING).stream(spark)
    columns = HEADER.split(",")
    assert source_of(tmp_path, format="csv", columns=columns, **MAPPING).stream(spark).isStreaming
    schema = ", ".join(f"{name} string" for name in columns)
    source = source_of(tmp_path, format="parquet", schema=schema, **MAPPING)
    assert source.stream(spark).isStreaming
    with pytest.raises(InputError, match="stream: no column 'score'; did you mean 'Score'"):
        taken_in([HEADER.replace("score", "Score")], format="csv", **MAPPING)
    with pytest.raises(InputError, match="stream: .*PARSE_SYNTAX_ERROR"):
        source_of(tmp_path, format="parquet", schema="nonsense(", **MAPPING).stream(spark)


def test_csv_without_a_header_and_with_another_separator(taken_in):
    good, bad = taken_in(
        ["u1;1000;p;5;x", "u2;2000;p;6;y"],
        format="csv",
        header=False,
        columns=["id", "ts", "post", "score", "text"],
        options={"sep": ";"},
        **MAPPING,
    )
    assert (len(good), bad) == (6, [])


def test_kafka_values_as_json_rows_and_rows_by_their_own_columns(spark, tmp_path):
    stream = {"source": "spark", "format": "kafka", **MAPPING}
    tables = {"streams": {"s": {**stream, "value_format": "json"}}}
    (job,) = read_streams(tables, ["urn:s"], base=tmp_path)
    texts = ['{"ts": 1000, "id": "a b", "score": 1}', '{"ts": 1}{"ts": 2}', "x", None]
    frame = spark.createDataFrame([(each,) for each in texts], "value string")
    rows = job.source.reading.intake(frame).collect()
    assert [row["s"] for row in rows if row["reason"] is None] == [user("a%20b")]
    assert reasons(rows)["not a JSON object"] == 3
    assert {row["raw"] for row in rows if row["reason"]} == {'{"ts": 1}{"ts": 2}', "x", None}
    (job,) = read_streams({"streams": {"s": stream}}, ["urn:s"], base=tmp_path)
    columns = "ts timestamp, id binary, post string, score int, text string"
    row = (datetime.fromtimestamp(5, UTC), bytearray(b"k"), None, 3, None)
    broken = (datetime.fromtimestamp(5, UTC), bytearray(b"\xff"), None, 3, None)
    rows = job.source.reading.intake(spark.createDataFrame([row, broken], columns)).collect()
    assert [(row["time"], row["s"], row["reason"]) for row in rows] == [
        (5_000, user("k"), None),
        (None, None, "the text is not UTF-8"),
    ]


CSV_JOB = {
    "format": "csv",
    "timestamp": "at",
    "timestamp_unit": "s",
    "subject": f"{EX}{{user}}",
    "triples": [{"predicate": f"{EX}isMentionedIn", "object": {"iri": f"{EX}p/{{post}}"}}],
}


def put(bench, lines, name):
    target = bench.folder / "stream" / name
    target.write_text("\n".join(lines))
    os.utime(target, (1_000_000_000 + int(name[0]),) * 2)


def test_a_job_over_csv_files_from_end_to_end_with_a_restart_in_the_middle(bench):
    service = TableService({f"<{EX}u{number}>": number * 100 for number in range(8)})
    (bench.folder / "stream").mkdir()
    put(bench, ["at,user,post", "1,u1,a", "2.5,u2,a", "x,u2,a", "6,u3,b"], "1.csv")
    job = bench.job(query(), stream=CSV_JOB)
    running = bench.run(job, service)
    assert (running.state.elements, running.state.quarantined) == (3, 1)
    put(bench, ["at,user,post", "7,u4,c", "8", "11,u5,c"], "2.csv")
    running = bench.run(job, service)
    users = {number: [row[0] for row in rows] for number, rows in bench.rows().items()}
    assert users == {
        1: [f"{EX}u1", f"{EX}u2"],
        2: [f"{EX}u1", f"{EX}u2", f"{EX}u3", f"{EX}u4"],
    }
    assert (running.state.elements, running.state.quarantined) == (5, 2)
    assert sorted(each["reason"] for each in bench.quarantine()) == [
        "the row is malformed",
        "the timestamp is neither seconds nor ISO 8601: x",
    ]


def test_a_csv_file_with_another_header_stops_the_run_until_it_is_written_anew(bench, service):
    (bench.folder / "stream").mkdir()
    put(bench, ["at,user,post", "1,u1,a"], "1.csv")
    put(bench, ["at,post,user", "2,a,u2", "6,a,u2"], "2.csv")
    job = bench.job(query(), stream=CSV_JOB)
    with pytest.raises(InputError, match=r"2.csv: the CSV header at, post, user is not that"):
        bench.run(job, service)
    put(bench, ["at,user,post", "2,u2,a", "6,u2,a"], "2.csv")
    bench.run(job, service)
    assert [row[0] for row in bench.rows()[1]] == [f"{EX}u1", f"{EX}u2"]


def test_a_file_that_cannot_be_read_is_named(bench, service):
    (bench.folder / "stream").mkdir()
    put(bench, ["at,user,post", "," * 30_000], "1.csv")
    with pytest.raises(InputError, match=r"1.csv cannot be read: a CSV row has more columns"):
        bench.run(bench.job(query(), stream=CSV_JOB), service)
    put(bench, ["no Parquet"], "2.parquet")
    (bench.folder / "stream" / "1.csv").unlink()
    schema = "at string, user string, post string"
    job = bench.job(query(), stream={**CSV_JOB, "format": "parquet", "schema": schema},
                    checkpoint={"path": "c2"}, sink={"path": "a2", "quality": "q2"})  # fmt: skip
    with pytest.raises(InputError, match=r"2.parquet cannot be read: .*not a Parquet file"):
        bench.run(job, service)
