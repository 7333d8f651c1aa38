"""The lifetime of the demo: Spark started while the rest gets ready, all ended in good order.

The first signal unwinds the program, later ones are not heard, and what libraries say on stderr
goes to a log.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from pyspark.sql import SparkSession
from rich.console import Console

from bestbefore.spark.session import local_session

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 10.0
# For a JVM that lives a minute, compiling twice and collecting in parallel cost more than they
# give.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_OPTIONS = "SPARK_SUBMIT_OPTS"


@contextmanager
def starting_spark(log: Path) -> Iterator[Future[SparkSession]]:
    """Spark, from here to the end of the block: a session in the making.

    On a thread, because a start that Ctrl-C interrupts would leave a JVM nobody knows of; and
    because PySpark then leaves the handling of Ctrl-C to us.
    """
    os.environ.setdefault(_OPTIONS, _SHORT_LIVED)
    with ThreadPoolExecutor(1, "spark start") as thread:
        start = thread.submit(local_session, name="bestbefore demo", log=log)
        try:
            yield start
        finally:
            if start.exception() is None:
                _end_jvm(start.result())


def _end_jvm(session: SparkSession) -> None:
    """End the JVM and with it the session, whatever state they are in.

    By its process, not by PySpark's `stop`: after Ctrl-C the connection to the JVM may be in
    the middle of a reply.
    """
    gateway: Any = session.sparkContext._gateway
    gateway.proc.terminate()
    try:
        gateway.proc.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    with suppress(Exception):
        gateway.shutdown()


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
def stderr_into(log: Path, console: Console) -> Iterator[None]:
    """Send what libraries and child processes say on stderr to a log; the console stays there."""
    sys.stderr.flush()
    real, file = os.dup(2), console.file
    with log.open("ab") as spoken:
        os.dup2(spoken.fileno(), 2)
    try:
        with os.fdopen(os.dup(real), "w", encoding="utf-8") as console.file:
            yield
    finally:
        console.file = file
        sys.stderr.flush()
        os.dup2(real, 2)
        os.close(real)
