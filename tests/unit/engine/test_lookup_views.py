"""Views of lookups as the engine keeps them, over a real server and a real database."""

import sqlite3
from contextlib import closing

import pytest

from bestbefore.job import read_job
from bestbefore.storage import LocalStorage
from tests.json_server import JsonServer
from tests.limited_service import Clocks
from tests.served_job import ServedJob

QUERY = """PREFIX : <http://e/>
REGISTER RSTREAM :out AS SELECT ?bidder ?price
FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]
WHERE {{ WINDOW :w {{ ?bidder :by ?post }} SERVICE :a {{ {clause} }} }}
"""
EVENTS = [(time * 100, f'"b{time % 7}"') for time in range(1, 200)]


@pytest.fixture
def served(tmp_path):
    opened = []

    def make(clause, service, **sections):
        tables = {
            "query": {"text": QUERY.format(clause=clause)},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"a": service},
            **sections,
        }
        job = read_job(tables, folder=tmp_path)
        opened.append(ServedJob(job, LocalStorage(str(tmp_path / "checkpoint")), Clocks()))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_limits_hold_at_the_server_whoever_restarts(served):
    server = JsonServer()
    server.facts = {f"b{n}": {"p": n} for n in range(7)}
    service = {"kind": "http", "url": f"{server.url}/p/{{bidder}}", "columns": {"price": "/p"},
               "limits": {"per_minute": 4, "requests_per_evaluation": 3}}  # fmt: skip
    made = served("?bidder :price ?price", service, budget={"refreshes": 10})
    made.answer([1], EVENTS)
    assert len(server.requests) == 3
    made.answer([2, 3], EVENTS)
    assert len(server.requests) == 4
    assert len(made.content()) == 4
    again = served("?bidder :price ?price", service, budget={"refreshes": 10})
    again.answer([4], EVENTS)
    assert len(server.requests) == 4
    assert again.outcomes[0][0].bound_by == "per_minute"
    server.close()


def test_rows_of_a_table_link_join_keys_with_other_units(served, tmp_path):
    with closing(sqlite3.connect(tmp_path / "facts.db")) as database, database:
        database.execute("CREATE TABLE bids (auction INTEGER, bidder TEXT, price REAL)")
        database.executemany(
            "INSERT INTO bids VALUES (?, ?, ?)", [(n % 3, f"b{n}", n) for n in range(7)]
        )
    service = {
        "kind": "sql",
        "database": "facts.db",
        "table": "bids",
        "keys": {"auction": {"iri": "http://e/auction/{}", "type": "integer"}},
        "view": {"refresh_key": ["auction"], "fill": "start"},
    }
    made = served("?auction :bidder ?bidder . ?auction :price ?price", service,
                  budget={"refreshes": 3}, policy={"name": "IBM-BGP"})  # fmt: skip
    units = {key[0] for _, key in made.content()}
    assert units == {f"<http://e/auction/{n}>" for n in range(3)}
    with closing(sqlite3.connect(tmp_path / "facts.db")) as database, database:
        database.execute("UPDATE bids SET price = price + 100")
    made.answer([3], EVENTS)
    assert made.outcomes[0][0].changed == 3
    prices = {row[2] for rows in made.content().values() for row in rows}
    assert prices == {f'"{n + 100.0}"^^<http://www.w3.org/2001/XMLSchema#double>' for n in range(7)}
