"""Every example gives what it says, and what its data say without this package."""

import json
import runpy
from collections import Counter
from pathlib import Path

import pytest

from tests.postgresql_server import Postgresql, find_postgresql

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(file.parent.name for file in EXAMPLES.glob("*/run.py"))


@pytest.fixture
def surroundings(request, spark, monkeypatch):
    """What an example expects of the machine."""
    server, zone = None, spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    if request.param == "sql-postgresql":
        if not find_postgresql():
            pytest.skip("PostgreSQL or psycopg is not installed")
        server = Postgresql()
        monkeypatch.setenv("FACTS_DSN", server.dsn)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", zone)
    if server is not None:
        server.close()


def rows_of(line):
    """The rows of a line: of an answer in JSON result terms, or the line itself."""
    found = json.loads(line)
    if "rows" not in found:
        return [found]
    terms = ({name: term["value"] for name, term in row.items()} for row in found["rows"])
    return [{"at": found["at"], **row} for row in terms]


def counted(rows):
    return Counter(frozenset((name, str(value)) for name, value in row.items()) for row in rows)


@pytest.mark.parametrize("surroundings", FOLDERS, indirect=True)
def test_an_example_gives_what_it_says(surroundings, spark, tmp_path):
    folder = EXAMPLES / surroundings
    lines = runpy.run_path(str(folder / "run.py"))["run"](spark, tmp_path)
    rows = [row for line in lines for row in rows_of(line)]
    expected = (folder / "expected.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [json.loads(line) for line in expected]
    independent = runpy.run_path(str(folder / "independent.py"))["rows"]()
    assert rows
    assert counted(rows) == counted(independent)


def test_every_example_is_on_the_page():
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"[{name}]({name})" in page for name in FOLDERS)
