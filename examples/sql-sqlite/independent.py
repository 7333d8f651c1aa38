"""The same answers by plain SQL over the data."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, SLIDE = 6_000, 3_000
JOINED = """
WITH RECURSIVE ends(at) AS (
  SELECT (min(ts) + :slide - 1) / :slide * :slide FROM orders
  UNION ALL SELECT at + :slide FROM ends WHERE at + :slide <= (SELECT max(ts) FROM orders) + :width
)
SELECT DISTINCT at, id, code, "unit price", name
FROM ends JOIN orders ON ts > at - :width AND ts <= at JOIN products ON code = product
WHERE "unit price" > 50
"""


def rows():
    """The rows of all evaluations, by the names of variables and the end of the window."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript((HERE / "facts.sql").read_text())
        database.execute("CREATE TABLE orders (ts INTEGER, id TEXT, product TEXT)")
        for line in (HERE / "stream/orders.jsonl").read_text().splitlines():
            event = json.loads(line)
            order, product = re.fullmatch(r'<(.*)> <.*> "(.*)" \.', event["data"]).groups()
            database.execute("INSERT INTO orders VALUES (?, ?, ?)", (event["ts"], order, product))
        found = database.execute(JOINED, {"width": WIDTH, "slide": SLIDE}).fetchall()
    names = ("at", "order", "product", "price", "name")
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in found
    ]
