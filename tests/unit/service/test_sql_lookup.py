"""Lookups in a real database: what is asked, what is read, what is refused."""

import sqlite3
import sys
import threading
import time

import pytest

from bestbefore.errors import JobError
from bestbefore.service import ServiceClient
from bestbefore.service.sql_settings import SqlSettings
from tests.unit.service.conftest import asked
from tests.unit.service.test_http_lookup import CITY, NASTY, client_of, job_of, key, number

TEXT = "?city :t ?t . ?city :h ?h"


@pytest.fixture
def database(tmp_path):
    file = tmp_path / "facts and figures?.db"
    with sqlite3.connect(file) as connection:
        connection.execute('CREATE TABLE weather (city TEXT, "the t" REAL, h INTEGER, day TEXT)')
        connection.executemany(
            "INSERT INTO weather VALUES (?, ?, ?, ?)",
            [("Rome", 21.5, 40, "mon"), ("Rome", 22.0, None, "tue"), ("Oslo", -3.25, 80, "mon")],
        )
    connection.close()
    return file


@pytest.fixture
def client(database):
    made = []

    def make(text=TEXT, *, key=("city",), **section):
        given = {"database": str(database), "columns": {"t": "the t"}}
        if "query" not in section:
            given["table"] = "weather"
        made.append(client_of({**given, **section}, text, key, "sql"))
        return made[-1]

    yield make
    for one in made:
        one.close()


def execute(database, statement, values=()):
    connection = sqlite3.connect(database)
    with connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


def test_one_statement_for_a_batch(client):
    fetched = client().fetch([key("Rome"), ('"Rome"@it',), key("Oslo"), key("Paris")])
    rome = ((number(21.5, "double"), number(40, "integer")), (number(22.0, "double"), None))
    assert fetched.rows == {
        key("Rome"): tuple(('"Rome"', *row) for row in rome),
        ('"Rome"@it',): tuple(('"Rome"@it', *row) for row in rome),
        key("Oslo"): (('"Oslo"', number(-3.25, "double"), number(80, "integer")),),
        key("Paris"): (),
    }
    # One for all, and one to be sure of who is not there.
    assert (fetched.requests, fetched.state) == (2, "ok")


def test_all_of_a_table(client):
    loaded = client(keys={"city": CITY}).load()
    assert sorted(loaded.rows)[0] == (
        "<http://example.org/city/Oslo>", number(-3.25, "double"), number(80, "integer"),
    )  # fmt: skip
    assert (len(loaded.rows), loaded.requests) == (3, 1)


def test_several_key_columns(client):
    made = client("?city :day ?d . ?city :h ?h", key=("city", "d"), columns={},
                  keys={"d": {"column": "day"}, "city": CITY})  # fmt: skip
    rome, oslo = "<http://example.org/city/Rome>", "<http://example.org/city/Oslo>"
    fetched = made.fetch([(rome, '"mon"'), (rome, '"tue"'), (oslo, '"tue"'), (oslo, '"mon"')])
    assert fetched.rows[rome, '"mon"'] == ((rome, '"mon"', number(40, "integer")),)
    assert fetched.rows[rome, '"tue"'] == ((rome, '"tue"', None),)
    assert fetched.rows[oslo, '"tue"'] == ()


def test_a_query_of_one_s_own(client):
    text = """WITH latest AS (SELECT city, max("the t") AS top FROM weather GROUP BY city)
        SELECT top, city AS "the city", '100%?' AS note FROM latest WHERE city IN ({keys})"""
    made = client("?city :top ?top . ?city :note ?note", query=text, columns={},
                  keys={"city": {"column": "the city"}})  # fmt: skip
    fetched = made.fetch([key("Rome"), key("Oslo")])
    assert fetched.rows[key("Rome")] == (('"Rome"', number(22.0, "double"), '"100%?"'),)
    assert fetched.requests == 1


def test_numbers_as_keys(database, client):
    execute(database, "CREATE TABLE users (id INTEGER, name)")
    execute(database, "INSERT INTO users VALUES (5, 'Ann'), (7, X'00ff'), (8, 'x')")
    execute(database, "UPDATE users SET name = CAST(X'ff' AS TEXT) WHERE id = 8")
    made = client("?u :n ?name", key=("u",), table="users", columns={},
                  keys={"u": {"column": "id", "type": "integer"}})  # fmt: skip
    five, much = (number("05", "integer"),), (number("9" * 30, "integer"),)
    seven, eight = (number(7, "integer"),), (number(8, "integer"),)
    fetched = made.fetch([five, seven, eight, much, key("x")])
    assert dict(fetched.rows) == {five: ((five[0], '"Ann"'),)}
    assert set(fetched.failed) == {seven, eight, much, key("x")}
    assert fetched.invalid == 2


@pytest.mark.parametrize("at_once", [1, 50])
def test_a_key_is_never_anything_but_a_value(database, client, at_once):
    before = execute(database, "SELECT * FROM weather")
    made = client("?city :h ?h", columns={}, units_per_request=at_once)
    nasty = [*NASTY, "Rome' OR '1'='1", 'x") OR 1=1 --', "Rome\x1f", "?1", ":a", "%s"]
    fetched = made.fetch([key(text) for text in nasty])
    assert dict(fetched.rows) == {key(text): () for text in nasty}
    for text in nasty:
        execute(database, "INSERT INTO weather VALUES (?, 1, 1, ?)", (text, text))
    fetched = made.fetch([key(text) for text in nasty])
    assert {one: len(rows) for one, rows in fetched.rows.items()} == {key(t): 1 for t in nasty}
    # What came is a value too.
    days = client("?city :day ?day", columns={}).fetch([key(text) for text in nasty])
    assert all(rows == ((one[0], one[0]),) for one, rows in days.rows.items())
    assert execute(database, "SELECT * FROM weather LIMIT 3") == before
    assert made.fetch([key("a\x00b")]).failed[key("a\x00b")].startswith("never sent: ")


def test_nothing_is_ever_written(database, client):
    text = "DELETE FROM weather WHERE city IN ({keys}) RETURNING city, h"
    with pytest.raises(JobError, match="syntax error"):
        client("?city :h ?h", columns={}, query=text)
    settings = SqlSettings("sqlite", str(database), query=text)
    made = ServiceClient(settings, asked("?city <http://e/h> ?h", ("city", "h"), ("city",)))
    fetched = made.fetch([key("Rome")])
    made.close()
    assert fetched.failed[key("Rome")] == "SQLite: attempt to write a readonly database"
    assert len(execute(database, "SELECT * FROM weather")) == 3


def test_a_lock_is_waited_for_until_the_time_is_over(database, client):
    made = client(timeout="300ms", attempts=1)
    assert made.fetch([key("Oslo")]).state == "ok"
    writer = sqlite3.connect(database, check_same_thread=False)
    writer.execute("BEGIN EXCLUSIVE")
    fetched = made.fetch([key("Oslo")])
    assert fetched.failed[key("Oslo")] in (
        "no result within 0.3 s",
        "SQLite: database is locked",
    )
    assert fetched.state == "unreachable"
    threading.Timer(0.1, writer.rollback).start()
    assert len(made.fetch([key("Oslo")]).rows[key("Oslo")]) == 1
    writer.close()


def test_a_statement_that_takes_too_long_is_ended(client):
    endless = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT city, h FROM weather, n WHERE city IN ({keys}) AND i < 0"""
    made = client("?city :h ?h", columns={}, query=endless, timeout="200ms", attempts=1,
                  connections=1)  # fmt: skip
    started = time.monotonic()
    assert made.fetch([key("Oslo")]).failed == {key("Oslo"): "no result within 0.2 s"}
    deadline = made.fetch([key("Rome")], deadline_s=0.1)
    assert deadline.failed == {key("Rome"): "not back within the deadline of 0.1 s"}
    assert time.monotonic() - started < 3


def test_results_that_are_too_much(client):
    fetched = client(max_rows=2).fetch([key("Rome")])
    assert "counts as truncated" in fetched.failed[key("Rome")]
    fetched = client("?city :day ?day", columns={}, max_response_bytes=10).fetch([key("Rome")])
    assert "longer than max_response_bytes = 10" in fetched.failed[key("Rome")]


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"table": "wether"}, "no such table: wether"),
        ({"columns": {"t": "temp"}}, "no such column: looked_up.temp"),
        ({"database": "/no/such/file.db"}, "no such file: /no/such/file.db"),
        ({"database": __file__}, "file is not a database"),
        ({"query": "SELECT city FROM weather WHERE city IN ({keys})"}, "has no column 'the t' for"),
        ({"query": "SELECT 1; SELECT {keys}"}, "syntax error"),
    ],
)
def test_what_is_not_there_is_told_at_the_start(client, section, reason):
    with pytest.raises(JobError, match=reason):
        client(**section)


def test_postgresql_without_psycopg_is_told_at_the_start(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv("FACTS", "host=db.example.org dbname=facts password=verysecret")
    section = {"driver": "postgresql", "dsn_env": "FACTS", "table": "weather"}
    with pytest.raises(JobError, match=r"needs psycopg: pip install 'bestbefore\[postgresql\]'"):
        client_of(section, TEXT, ("city",), "sql")
    settings = job_of(section, TEXT, "sql").services[0].client
    assert settings.address == "postgresql://db.example.org/facts"
    assert "verysecret" not in repr(settings) + settings.redact("password=verysecret is wrong")


def test_the_address_of_a_database_tells_no_secret():
    dsn = "postgresql://me:verysecret@db.example.org:5433/facts"
    settings = SqlSettings("postgresql", dsn, table="weather")
    assert settings.address == "postgresql://db.example.org:5433/facts"
    assert "verysecret" not in settings.redact(f"cannot connect with {dsn} (verysecret)")
