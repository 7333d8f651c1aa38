"""The lifetime of the demo: Spark started while the rest gets ready, all ended in good order.

The first signal unwinds the program, later ones are not heard, and what libraries say on stderr
goes to a log.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any, NoReturn, TextIO

from pyspark.sql import SparkSession

from bestbefore.errors import WorkError
from bestbefore.spark.session import local_session

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let the first Ctrl-C, SIGTERM or SIGHUP unwind the program; later ones are not heard.

    Whoever presses Ctrl-C twice must not interrupt the end of the processes that were started.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        signal.signal(number, _unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _unwind(number: int, _frame: FrameType | None) -> NoReturn:
    ignore_signals()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def ignore_signals() -> None:
    """From now on hear no signal: what is left to do is short and has to be done."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def stderr_into(log: Path) -> Iterator[TextIO]:
    """Send what libraries and child processes say on stderr to a log, and yield the real stderr."""
    sys.stderr.flush()
    real = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        with os.fdopen(os.dup(real), "w", encoding="utf-8") as stderr:
            yield stderr
    finally:
        sys.stderr.flush()
        os.dup2(real, 2)
        os.close(real)
