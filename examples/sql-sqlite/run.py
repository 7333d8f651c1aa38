"""Orders, and the price of what was ordered from a table in SQLite: `python run.py`."""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from bestbefore import Engine, load_job

HERE = Path(__file__).parent


def run(spark, folder):
    """The answers, a line of JSON each."""
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    with closing(sqlite3.connect(folder / "facts.db")) as database:
        database.executescript((HERE / "facts.sql").read_text())
    with Engine(spark).start(load_job(folder / "job.toml")) as running:
        running.wait()
    files = sorted(folder.glob("answers/*/*.json"))
    return [line for file in files for line in file.read_text().splitlines()]


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        session = SparkSession.builder.master("local[2]").getOrCreate()
        sys.stdout.write("\n".join(run(session, Path(made))) + "\n")
