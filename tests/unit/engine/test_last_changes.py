"""The time at which a unit has last changed, as its source states it."""

import sqlite3

import numpy as np
import pytest

from bestbefore.engine.view_start import service_pattern
from bestbefore.service.kinds import open_service
from bestbefore.view.intervals import read_moment
from tests.json_server import JsonServer
from tests.unit.engine.conftest import integer, user
from tests.unit.service.test_http_lookup import job_of, key

PREDICATE = "http://purl.org/dc/terms/modified"
EVENTS = [(time, user(number)) for time in range(1_000, 40_000, 1_000) for number in (1, 2)]


def at(second):
    return f'"1970-01-01T00:00:{second:02d}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


@pytest.mark.parametrize(
    ("term", "moment_ms"),
    [
        (at(8), 8_000),
        ('"1970-01-01T01:00:08.5+01:00"', 8_500),
        ('"1970-01-01 00:00:08"', 8_000),
        ('"Thu, 01 Jan 1970 00:00:08 GMT"', 8_000),
        ('"1700000000"', 1_700_000_000_000),
        ('"1700000000000"', 1_700_000_000_000),
        ('"yesterday"', None),
        ('"NaN"', None),
        ('"1e400"', None),
        ('""', None),
        ("<http://e/now>", None),
        (None, None),
    ],
)
def test_moments_as_they_are_written(term, moment_ms):
    assert read_moment(term) == moment_ms


def test_it_is_learned_from_and_no_part_of_the_view(rig):
    rows = [(user(n), integer(n), at(1)) for n in (1, 2)]
    made = rig("WSJ-LRU", rows=rows, modified_predicate=PREDICATE)
    made.run(EVENTS, batches=[[1, 2]])
    assert made.view.variables == ("user", "followers")
    assert "?bestbefore_modified" not in made.slices.column_names
    learned = made.view.units.rates.likelihood.copy()
    # Another time alone is no change of what the query asks for.
    made.service.rows[0] = (user(1), integer(1), at(14))
    made.service.rows[1] = (user(2), integer(9), at(14))
    made.run(EVENTS, batches=[[1, 2], [3]])
    assert made.raw[-1].changed == 1
    one, two = made.view.numbers([(user(1),), (user(2),)])
    assert made.raw[-1].reply.modified_ms == {one: 14_000, two: 14_000}
    rates = made.view.units.rates
    assert not np.array_equal(rates.likelihood[two], learned[two])
    after = rates.likelihood.copy()
    # A restart learns the same from the journal.
    made.run(EVENTS, batches=[[1, 2], [3]])
    assert np.allclose(made.view.units.rates.likelihood, after)
    # Stayed for 5 s, or changed 1 s ago: the one is slower than the other.
    assert rates.interval_ms(np.array([one])) > rates.interval_ms(np.array([two]))


def test_lookups_bring_it_beside_their_columns(tmp_path):
    server = JsonServer()
    server.facts = {"a": {"t": 1, "h": 2, "at": "1970-01-01T00:00:08Z"}}
    http = {
        "url": f"{server.url}/w?city={{city}}",
        "columns": {"t": "/t", "h": "/h"},
        "modified": "/at",
    }
    file = tmp_path / "facts.db"
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE w (city, t, h, at); INSERT INTO w VALUES ('a', 1, 2, '1970-01-01 00:00:08')"
    )
    connection.close()
    sql = {"database": str(file), "table": "w", "modified": "at"}
    for kind, section in (("http", http), ("sql", sql)):
        (service,) = job_of(section, kind=kind).services
        client = open_service(service.client, service_pattern(service))
        (row,) = client.fetch([key("a")]).rows[key("a")]
        assert len(row) == 4
        assert read_moment(row[-1]) == 8_000
        client.close()
    server.close()
