"""Lookups in a real PostgreSQL server, where one is installed."""

import pytest

from bestbefore.errors import JobError
from tests.postgresql_server import Postgresql, find_postgresql
from tests.unit.service.test_http_lookup import NASTY, client_of, key, number

pytestmark = pytest.mark.skipif(
    not find_postgresql(), reason="PostgreSQL or psycopg is not installed"
)


@pytest.fixture(scope="module")
def server():
    made = Postgresql()
    made.execute('CREATE TABLE weather (city TEXT, "50%" NUMERIC(5,2), h INT, at TIMESTAMPTZ)')
    made.execute(
        "INSERT INTO weather VALUES ('Rome', 21.50, 40, '2026-01-01T00:00:00Z'),"
        " ('Oslo', NULL, 80, NULL)"
    )
    yield made
    made.close()


@pytest.fixture
def client(server, monkeypatch):
    monkeypatch.setenv("FACTS", server.dsn)
    made = []

    def make(text, *, key=("city",), **section):
        given = {"driver": "postgresql", "dsn_env": "FACTS"}
        if "query" not in section:
            given["table"] = "public.weather"
        made.append(client_of({**given, **section}, text, key, "sql"))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_batch_is_one_statement_and_a_load_another(client):
    made = client("?city :t ?t . ?city :h ?h . ?city :at ?at", columns={"t": "50%"})
    fetched = made.fetch([key("Rome"), key("Oslo")])
    assert fetched.rows[key("Rome")][0][1:3] == (number("21.50"), number(40, "integer"))
    assert fetched.rows[key("Rome")][0][3].startswith('"2026-01-01T00:00:00+00:00"^^')
    assert fetched.rows[key("Oslo")] == (('"Oslo"', None, number(80, "integer"), None),)
    assert fetched.requests == 1
    assert len(made.load().rows) == 2


def test_several_keys_and_a_query_of_one_s_own(client):
    text = "SELECT city, h, 'a%' AS n FROM weather WHERE (city, h) IN ({keys})"
    made = client("?city :h ?h . ?city :n ?n", key=("city", "h"), query=text)
    rome, forty = '"Rome"', number(40, "integer")
    fetched = made.fetch([(rome, forty), (rome, number(41, "integer")), (rome, '"x"')])
    # A value that is none of its column's type fails alone, or once the form has proven itself.
    assert fetched.rows.get((rome, forty), ()) in ((), ((rome, forty, '"a%"'),))
    fetched = made.fetch([(rome, forty), (rome, number(41, "integer"))])
    assert fetched.rows[rome, forty] == ((rome, forty, '"a%"'),)
    fetched = made.fetch([(rome, forty), (rome, '"x"')])
    assert len(fetched.rows[rome, forty]) == 1
    assert "invalid input syntax" in fetched.failed[rome, '"x"']


def test_a_key_is_never_anything_but_a_value(server, client):
    made = client("?city :h ?h")
    nasty = [*NASTY, "Rome' OR '1'='1", "%s", "%(a)s", "$1", "E'\\\\'"]
    assert dict(made.fetch([key(text) for text in nasty]).rows) == {key(t): () for t in nasty}
    for text in nasty:
        server.execute("INSERT INTO weather (city, h) VALUES (%s, 1)", (text,))
    fetched = made.fetch([key(text) for text in nasty])
    assert {one: len(rows) for one, rows in fetched.rows.items()} == {key(t): 1 for t in nasty}
    server.execute("DELETE FROM weather WHERE h = 1")
    assert len(server.execute("SELECT * FROM weather")) == 2


def test_no_statement_goes_on_for_ever(client):
    query = "SELECT city, h FROM weather, pg_sleep(9) WHERE city IN ({keys})"
    made = client("?city :h ?h", timeout="300ms", attempts=1, query=query)
    (why,) = made.fetch([key("Rome")]).failed.values()
    assert "statement timeout" in why or "no result within 0.3 s" in why


def test_what_is_not_there_is_told_at_the_start(client):
    with pytest.raises(JobError, match="column looked_up.nothing does not exist") as caught:
        client("?city :h ?h", columns={"h": "nothing"})
    assert "verysecret" not in str(caught.value)
