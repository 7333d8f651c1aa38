"""Clicks of users and what a function knows of them, without SPARQL: `python run.py`."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from bestbefore import enrich

HERE = Path(__file__).parent
USERS = {
    1: {"plan": "free", "seats": 1},
    2: {"plan": "team", "seats": 12},
    3: {"plan": "team", "seats": None},
    4: [{"plan": "free", "seats": 1}, {"plan": "trial", "seats": 3}],
}


def look_up(users):
    """What is known of some users; it would ask a billing system."""
    return {user: USERS.get(user) for user in users}


def run(spark, folder):
    """The enriched rows, a line of JSON each."""
    clicks = spark.readStream.schema("time TIMESTAMP, user BIGINT, `the page` STRING")
    lines = []

    def keep(rows):
        until = rows.withColumn("until", rows["window"]["end"].cast("string"))
        shown = until.withColumn("time", rows["time"].cast("string")).drop("window", "fresh")
        found = shown.orderBy("until", "time", "plan").collect()
        lines.extend(json.dumps(row.asDict()) for row in found)

    with enrich(
        clicks.json(str(HERE / "stream")),
        on="user",
        lookup=look_up,
        columns={"plan": "string", "seats": "int"},
        window="10s",
        slide="5s",
        budget=10,
        foreach=keep,
        trigger="until-end",
        checkpoint=str(folder / "checkpoint"),
    ) as running:
        running.wait()
    return lines


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        builder = SparkSession.builder.master("local[2]")
        session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        sys.stdout.write("\n".join(run(session, Path(made))) + "\n")
