"""The same counts by plain SQL over the data."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).parent
COUNTED = """
WITH RECURSIVE ends(at) AS (
  SELECT (min(time) + 2999) / 3000 * 3000 FROM views
  UNION ALL SELECT at + 3000 FROM ends WHERE at + 3000 <= (SELECT max(time) FROM views) + 6000
)
SELECT at, country, count(*) FROM ends JOIN views ON time > at - 6000 AND time <= at
JOIN users ON user = name GROUP BY at, country
"""


def rows():
    """The rows of all evaluations, by the names of variables and the end of the window."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript((HERE / "facts.sql").read_text())
        database.execute("CREATE TABLE views (time INTEGER, user TEXT, page TEXT)")
        with (HERE / "stream/views.csv").open(newline="") as file:
            views = [(view["time"], view["user"], view["page"]) for view in csv.DictReader(file)]
        database.executemany("INSERT INTO views VALUES (?, ?, ?)", views)
        found = database.execute(COUNTED).fetchall()
    return [dict(zip(("at", "country", "views"), row, strict=True)) for row in found]
