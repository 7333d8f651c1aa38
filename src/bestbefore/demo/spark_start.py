"""Spark for the demo: started on a thread of its own while the rest gets ready, and ended for good."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from pyspark.sql import SparkSession

from bestbefore.errors import WorkError
from bestbefore.spark.session import local_session

_PATIENCE_S = 10.0
# For a JVM that lives a minute, compiling twice costs more than it gives.
_SHORT_LIVED = os.environ.get("JX", "-XX:TieredStopAtLevel=1")
_OPTIONS = "SPARK_SUBMIT_OPTS"


class SparkStart(Thread):
    """A session in the making.

    On a thread, because a start that Ctrl-C interrupts would leave a JVM nobody knows of; and
    because PySpark then leaves the handling of Ctrl-C to us.
    """

    def __init__(self) -> None:
        super().__init__(name="spark start", daemon=True)
        self._session: SparkSession | None = None
        self._failure: Exception | None = None

    def run(self) -> None:
        """Start the session."""
        before = os.environ.get(_OPTIONS)
        os.environ[_OPTIONS] = f"{_SHORT_LIVED} {before or ''}".strip()
        try:
            self._session = local_session(name="bestbefore demo")
        except Exception as failure:  # noqa: BLE001 - it is raised where the session is wanted
            self._failure = failure

    def session(self) -> SparkSession:
        """The session, as soon as it runs."""
        self.join()
        if self._session is None:
            lines = str(self._failure).strip().splitlines()
            raise WorkError(f"Spark did not start: {lines[0] if lines else self._failure!r}")
        return self._session

    def end(self) -> None:
        """End the JVM and with it the session, whatever state they are in.

        By its process, not by PySpark's `stop`: after Ctrl-C the connection to the JVM may be in
        the middle of a reply.
        """
        self.join()
        if self._session is None:
            return
        gateway = self._session.sparkContext._gateway
        gateway.proc.terminate()
        try:
            gateway.proc.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()
        with suppress(Exception):
            gateway.shutdown()


@contextmanager
def starting_spark() -> Iterator[SparkStart]:
    """Spark, from here to the end of the block."""
    start = SparkStart()
    start.start()
    try:
        yield start
    finally:
        start.end()
