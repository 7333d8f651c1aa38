"""The example of sql-sqlite with PostgreSQL: `FACTS_DSN=postgresql://… python run.py`.

It makes a table `products` in that database.
"""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from pyspark.sql import SparkSession

from bestbefore import Engine, load_job

HERE = Path(__file__).parent
SQLITE = HERE.parent / "sql-sqlite"


def run(spark, folder):
    """The answers, a line of JSON each."""
    for source in (SQLITE, HERE):
        shutil.copytree(source, folder, dirs_exist_ok=True)
    with psycopg.connect(os.environ["FACTS_DSN"]) as database:
        database.execute("DROP TABLE IF EXISTS products")
        database.execute((SQLITE / "facts.sql").read_text())
    with Engine(spark).start(load_job(folder / "job.toml")) as running:
        running.wait()
    files = sorted(folder.glob("answers/*/*.json"))
    return [line for file in files for line in file.read_text().splitlines()]


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        session = SparkSession.builder.master("local[2]").getOrCreate()
        sys.stdout.write("\n".join(run(session, Path(made))) + "\n")
