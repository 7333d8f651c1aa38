"""The Spark session, set up for many small batches."""

import os
import sys

from pyspark.sql import SparkSession

_SMALL_BATCHES = {
    # A batch is small and its shape is known: re-planning it while it runs costs more than it
    # gives, and each of its stages would be a job of its own.
    "spark.sql.adaptive.enabled": "false",
    # SPARQL variables differ by case.
    "spark.sql.caseSensitive": "true",
    # A wrong value is one row's error, not the batch's.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}


def local_session(*, cores: str = "*", name: str = "bestbefore") -> SparkSession:
    """A session on this machine; a session that runs already is used as it is."""
    # Python workers must be of this environment, not of whatever python3 is on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master(f"local[{cores}]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        # Stopping a query inside foreachBatch runs a deeply recursive regular expression.
        .config("spark.driver.extraJavaOptions", "-Xss8m")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.minBatchesToRetain", "10")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def tune(session: SparkSession) -> SparkSession:
    """Set up a session of one streaming query; the caller's own session is not touched."""
    for key, value in _SMALL_BATCHES.items():
        session.conf.set(key, value)
    return session
