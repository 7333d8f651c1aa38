"""Spark for the demo: started on a thread while the rest gets ready, and ended for good."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from pyspark.sql import SparkSession

from bestbefore.errors import WorkError
from bestbefore.spark.session import local_session

_PATIENCE_S = 10.0
# For a JVM that lives a minute, compiling twice and collecting in parallel cost more than they
# give.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_OPTIONS = "SPARK_SUBMIT_OPTS"


class SparkStart(Thread):
    """A session in the making.

    On a thread, because a start that Ctrl-C interrupts would leave a JVM nobody knows of; and
    because PySpark then leaves the handling of Ctrl-C to us.
    """

    def __init__(self, log: Path) -> None:
        super().__init__(name="spark start", daemon=True)
        self._log = log
        self._over = Event()
        self._session: SparkSession | None = None
        self._failure: Exception | None = None

    def run(self) -> None:
        """Start the session."""
        os.environ.setdefault(_OPTIONS, _SHORT_LIVED)
        try:
            self._session = local_session(name="bestbefore demo", log=self._log)
        except Exception as failure:
            self._failure = failure
        finally:
            self._over.set()

    def session(self) -> SparkSession:
        """The session, as soon as it runs."""
        self._over.wait()
        if self._session is None:
            raise self._failure or WorkError("Spark did not start")
        return self._session

    def end(self) -> None:
        """End the JVM and with it the session, whatever state they are in.

        By its process, not by PySpark's `stop`: after Ctrl-C the connection to the JVM may be in
        the middle of a reply.
        """
        self._over.wait()
        if self._session is None:
            return
        gateway: Any = self._session.sparkContext._gateway
        gateway.proc.terminate()
        try:
            gateway.proc.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()
        with suppress(Exception):
            gateway.shutdown()


@contextmanager
def starting_spark(log: Path) -> Iterator[SparkStart]:
    """Spark, from here to the end of the block."""
    start = SparkStart(log)
    start.start()
    try:
        yield start
    finally:
        start.end()
