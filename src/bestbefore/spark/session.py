"""The Spark session, set up for many small batches."""

import os
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from bestbefore.errors import WorkError

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Stopping a query inside foreachBatch runs a deeply recursive regular expression.
    "spark.driver.extraJavaOptions": "-Xss8m",
    # Noting the line of Python behind every column costs more than building the column.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.minBatchesToRetain": "10",
}
FEW_ROWS = 50_000
"""So many rows, and more, are worth more than one task."""

_SMALL_BATCHES = {
    # A batch is small and its shape is known: re-planning it while it runs costs more than it
    # gives, and each of its stages would be a job of its own.
    "spark.sql.adaptive.enabled": "false",
    # SPARQL variables differ by case.
    "spark.sql.caseSensitive": "true",
    # A wrong value is one row's error, not the batch's.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Planning a small batch takes longer with it, and what it finds out is of no use here.
    "spark.sql.constraintPropagation.enabled": "false",
    # A quotient keeps the digits after its point.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
}


def local_session(
    *, cores: str = "*", name: str = "bestbefore", log: Path | None = None
) -> SparkSession:
    """A session on this machine; a session that runs already is used as it is.

    With `log`, what Spark prints goes to that file and not to the terminal.
    """
    # Python workers must be of this environment, not of whatever python3 is on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(f"local[{cores}]").setAppName(name)
    conf.setAll(list(_LOCAL.items()))
    try:
        if log is not None:
            _launch(conf, log)
        session = SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, OSError) as error:
        where = f"; see {log}" if log else ""
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise WorkError(f"Spark did not start: {reason}{where}") from None
    session.sparkContext.setLogLevel("ERROR")
    return session


def tune(session: SparkSession, *, few: bool = False) -> SparkSession:
    """Set up a session of one streaming query; the caller's own session is not touched.

    With `few` rows to go through, one task does it, without code compiled for it.
    """
    sized = {
        "spark.sql.codegen.wholeStage": str(not few).lower(),
        "spark.sql.codegen.factoryMode": "NO_CODEGEN" if few else "FALLBACK",
    }
    for key, value in {**_SMALL_BATCHES, **sized}.items():
        session.conf.set(key, value)
    return session


def _launch(conf: SparkConf, log: Path) -> None:
    """Start the JVM with its output in a file, unless one runs already."""
    if SparkContext._gateway is not None:
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        gateway = launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)
