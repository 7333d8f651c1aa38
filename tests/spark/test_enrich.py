"""`enrich`: a DataFrame and a lookup in, rows of Spark types out."""

import json
import sqlite3
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pyspark.sql import functions as F

import bestbefore
from bestbefore import HttpLookup, SparqlLookup, SqlLookup, enrich
from bestbefore.engine import answering, query_run
from bestbefore.errors import InputError
from bestbefore.service import Fetched
from bestbefore.spark import buffer
from tests.json_server import JsonServer

SCHEMA = (
    "ts BIGINT, `user id` BIGINT, `sélect` STRING, tag STRING, price DECIMAL(9,2), at TIMESTAMP"
)
NASTY = 'a"b\\c\nd\u2028{}<>%s'


@pytest.fixture
def stream(spark, tmp_path):
    """A stream of rows; every element is one of (ts, user id, tag)."""

    def make(*rows, schema=SCHEMA):
        folder = tmp_path / "stream"
        folder.mkdir(exist_ok=True)
        (folder / "a.json").write_text("".join(
            json.dumps({"ts": ts, "user id": user, "sélect": NASTY, "tag": tag, "price": 1.10,
                        "at": "2026-01-01T00:00:00.123456Z"}) + "\n"
            for ts, user, tag in rows
        ))  # fmt: skip
        return spark.readStream.schema(schema).json(str(folder))

    return make


@pytest.fixture
def start(tmp_path):
    """Start an enrichment, wait for its end, and return what its function got."""

    def run(frame, **options):
        batches = []
        options = {"on": "user id", "time": "ts", "window": "10s", "slide": "5s", "budget": 100,
                   "trigger": "until-end", "checkpoint": str(tmp_path / "checkpoint"),
                   "foreach": lambda rows: batches.append(rows.collect()), **options}  # fmt: skip
        with enrich(frame, **options) as running:
            assert running.wait(120)
        return [row for batch in batches for row in batch]

    return run


def millis(moment):
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000) if moment.tzinfo is None else round(
        moment.timestamp() * 1000
    )  # fmt: skip


def test_a_function_is_enough(stream, start):
    asked = []

    def followers(users):
        asked.append(users)
        known = {
            1: {"followers": 100, "nick name": NASTY},
            2: [{"followers": 2.5}, {"followers": 7}],
        }
        return {user: known.get(user) for user in users}

    rows = start(
        stream(
            (1_000, 1, "x"), (1_000, 1, "x"), (2_000, 2, "y"), (3_000, 3, "z"), (11_000, 1, "w")
        ),
        lookup=followers,
        columns={"followers": "double", "nick name": "string"},
    )
    assert {user for users in asked for user in users} == {1, 2, 3}
    first = [row for row in rows if millis(row["window"]["end"]) == 5_000]
    # Equal rows are two, a key with two rows gives two, one that nobody knows none.
    assert sorted((row["user id"], row["followers"], row["tag"]) for row in first) == [
        (1, 100.0, "x"), (1, 100.0, "x"), (2, 2.5, "y"), (2, 7.0, "y"),
    ]  # fmt: skip
    row = next(row for row in first if row["user id"] == 1)
    assert (row["sélect"], row["nick name"], row["price"]) == (NASTY, NASTY, Decimal("1.10"))
    assert row["at"].microsecond == 123_456
    assert row["ts"] == 1_000
    assert 0 < row["fresh"] <= 1
    assert millis(row["window"]["start"]) == -5_000
    assert {millis(row["window"]["end"]) for row in rows} == {5_000, 10_000, 15_000, 20_000}


def test_types_are_those_of_the_first_values_and_a_table_shows_all(spark, stream, start):
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def look(users):
        return {user: {"n": 5, "x": 1 if user == "x" else 2.5, "ok": True, "at ": now, "s": "5"}
                for user in users}  # fmt: skip

    start(
        stream((1_000, 1, "x"), (2_000, 1, "y")),
        on="tag",
        lookup=look,
        columns=["n", "x", "ok", "at ", "s"],
        foreach=None,
        table="enriched_rows",
    )
    table = spark.table("enriched_rows")
    kinds = dict(table.dtypes)
    assert [kinds[name] for name in ("n", "x", "ok", "at ", "s", "fresh")] == [
        "bigint", "double", "boolean", "timestamp", "string", "double",
    ]  # fmt: skip
    assert kinds["window"] == "struct<start:timestamp,end:timestamp>"
    row = table.filter("tag = 'y'").first()
    assert (row["n"], row["x"], row["ok"], row["s"]) == (5, 2.5, True, "5")


@pytest.mark.parametrize("few", [0, 50_000])
def test_few_rows_and_many_give_the_same(stream, start, monkeypatch, few):
    for module in (answering, query_run, buffer):
        monkeypatch.setattr(module, "FEW_ROWS", few)
    reports = []
    rows = start(
        stream(*((1_000 + n, n % 3, f"t{n}") for n in range(9))),
        lookup=lambda users: {user: {"n": user / 2} for user in users},
        columns=["n"],
        on_quality=reports.append,
    )
    assert [report.answers for report in reports] == [9, 9]
    assert sorted((row["tag"], row["n"]) for row in rows) == sorted(
        (f"t{n}", n % 3 / 2) for n in range(9) for _ in range(2)
    )


def test_by_http_with_nasty_keys_into_files(spark, stream, start, tmp_path):
    server = JsonServer()
    tags = ["a/b", "../x", 'q"', "{tag}", "%00", "é ü", "a&b=c"]
    server.facts = {tag: {"main": {"temp": n}} for n, tag in enumerate(tags)}
    out = tmp_path / "out"
    start(
        stream(*((1_000 + n, n, tag) for n, tag in enumerate(tags))),
        on="tag",
        lookup=HttpLookup(f"{server.url}/w?city={{tag}}", {"the temp": "/main/temp"}),
        foreach=None,
        sink={"format": "parquet", "path": str(out)},
    )
    server.close()
    files = spark.read.parquet(str(out))
    assert dict(files.dtypes)["the temp"] == "bigint"
    found = {(row["tag"], row["the temp"], row["user id"]) for row in files.collect()}
    assert found == {(tag, n, n) for n, tag in enumerate(tags)}
    assert len(set(server.requests)) == len(tags)


def test_rows_as_lines_for_people_and_pipes(stream, start, capsys):
    start(
        stream((1_000, 1, "x")),
        lookup=lambda users: {user: {"n.m": 5} for user in users},
        columns={"n.m": "int"},
        slide="10s",
        foreach=None,
        sink={"format": "stdout"},
    )
    (line,) = map(json.loads, capsys.readouterr().out.strip("\n").split("\n"))
    assert (line["user id"], line["sélect"], line["n.m"]) == (1, NASTY, 5)


def test_by_sql_on_two_columns(stream, start, tmp_path):
    file = tmp_path / "facts.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE facts (id INTEGER, t TEXT, amount REAL, note TEXT)")
        connection.execute("INSERT INTO facts VALUES (1, 'x', 2.5, NULL), (1, 'y', 3, 'n')")
    connection.close()
    rows = start(
        stream((1_000, 1, "x"), (2_000, 1, "y"), (3_000, 2, "x")),
        on=["user id", "tag"],
        lookup=SqlLookup(["amount", "note"], table="facts", database=str(file),
                         keys={"user id": "id", "tag": "t"}),
    )  # fmt: skip
    found = {(row["user id"], row["tag"], row["amount"], row["note"]) for row in rows}
    assert found == {(1, "x", 2.5, None), (1, "y", 3.0, "n")}


def test_by_sparql(stream, start, oxigraph):
    oxigraph.update(
        "CLEAR ALL; INSERT DATA { <http://e/u/1> <http://e/f> 7 . <http://e/u/2> <http://e/f> 8 }"
    )
    renamed = stream((1_000, 1, "x"), (2_000, 3, "y")).withColumnRenamed("user id", "user")
    lookup = SparqlLookup(oxigraph.base + "/query", "?user <http://e/f> ?followers",
                          keys={"user": "http://e/u/{}"})  # fmt: skip
    rows = start(renamed, on="user", lookup=lookup)
    assert {(row["user"], row["followers"]) for row in rows} == {(1, 7)}


def test_a_service_of_one_s_own_and_a_run_that_goes_on(stream, start):
    class Service:
        def load(self, **_):
            raise NotImplementedError

        def fetch(self, keys, **_):
            return Fetched({key: ((*key, '"7"'),) for key in keys}, requests=1)

        def close(self):
            pass

    frame = stream((1_000, 1, "x"), (20_000, 2, "y"))
    options = {"lookup": Service(), "columns": {"c": "int"}, "trigger": "available-now"}
    assert {row["c"] for row in start(frame, **options)} == {7}
    # The same checkpoint: nothing is new.
    assert start(frame, **options) == []


def test_a_function_that_fails_fails_its_keys_and_not_the_query(stream, start):
    reports = []

    def look(users):
        if len(reports) < 1:
            raise ValueError("no\nluck")
        return {1: {"n": object()}, 2: "text", 3: {"n": 1}}

    rows = start(
        stream((1_000, 1, "x"), (2_000, 2, "y"), (3_000, 3, "z"), (30_000, 3, "z")),
        lookup=look,
        columns={"n": "int"},
        on_quality=reports.append,
    )
    assert reports[0].service_status == "failed: ValueError: no luck"
    assert {row["user id"] for row in rows} <= {3}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"on": "usr id"}, "the stream has no column 'usr id'; did you mean 'user id'"),
        ({"on": []}, "on=[]: name one or more different columns"),
        ({"columns": None}, "name its columns and their types"),
        ({"columns": {"tag": "int"}}, "the stream has a column 'tag', and so have its answers"),
        ({"columns": {"Tag": "int"}}, "the stream has a column 'Tag', and so have its answers"),
        ({"time": "tag"}, "time='tag' is of the type string; it must be a timestamp"),
        ({"time": "nothing"}, "the stream has no column 'nothing'"),
        ({"window": "10 parsecs"}, "window: "),
        ({"foreach": None}, "say where the answers go"),
        ({"table": "a"}, "say where the answers go"),
        ({"foreach": None, "table": "a b"}, "table='a b' is no name of a table"),
        ({"policy": "EFH"}, "did you mean"),
        ({"budget": -1}, "budget.refreshes = -1"),
        ({"columns": {"n": "integr"}}, "columns: 'n' has no type 'integr'"),
    ],
)
def test_mistakes_are_named_before_anything_starts(stream, start, options, reason):
    options = {"lookup": dict, "columns": {"n": "int"}, **options}
    with pytest.raises(InputError) as caught:
        start(stream(), **options)
    assert reason in str(caught.value)


def test_a_stream_that_is_none_and_names_that_answers_have(spark, stream, start):
    with pytest.raises(InputError, match="not streaming"):
        start(
            spark.createDataFrame([(1, 1)], "ts BIGINT, `user id` BIGINT"),
            lookup=dict,
            columns=["n"],
        )
    with pytest.raises(InputError, match="a column 'window', and so have its answers"):
        start(stream().withColumn("Window", F.lit(1)), lookup=dict, columns=["n"])
    assert bestbefore.enrich is enrich
