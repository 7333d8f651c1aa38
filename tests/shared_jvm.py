"""One JVM for all workers of a test run, each with a session of its own in it.

What a JVM has loaded and compiled for one worker it need not load and compile for the others.
"""

import fcntl
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from bestbefore.spark.session import local_session, note_classes

# A JVM that lives for minutes gains nothing from being compiled twice; but all of its code must
# have room, which this option alone would take away. With little room for new objects and classes
# there would be much to collect, and all workers wait while it is: hence by all cores.
_JVM_OPTIONS = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=240m",
        "-XX:+UseParallelGC",
        "-XX:MetaspaceSize=400m",
        "-Xms3500m",
        "-Xmn1500m",
    )
)


@contextmanager
def shared_session(folder: Path, *, worker: int, workers: int):
    """The session of a worker; `folder` is the same for all of them.

    Who comes first starts the JVM, and leaves last.
    """
    with (folder / "jvm.lock").open("a") as lock, (folder / "jvm.users").open("a") as users:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        entrances = folder / "jvm.json"
        if entrances.exists():
            session = _joined(json.loads(entrances.read_text())[worker])
            fcntl.flock(lock, fcntl.LOCK_UN)
            yield session
            return
        session = _started(folder)
        entrances.write_text(json.dumps([_entrance(session) for _ in range(workers)]))
        fcntl.flock(lock, fcntl.LOCK_UN)
        yield session
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_EX)
        entrances.unlink()
        session.stop()


def _started(folder: Path) -> SparkSession:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPARK_SUBMIT_OPTS", _JVM_OPTIONS)
        return local_session(cores="2", log=folder / "spark.log")


def _entrance(session: SparkSession) -> tuple[int, str]:
    """Where another process reaches the JVM of a session, and is called back by it."""
    jvm = session.sparkContext._jvm
    server = jvm.org.apache.spark.api.python.Py4JServer(session.sparkContext._conf._jconf)
    server.start()
    return server.getListeningPort(), server.secret()


def _joined(entrance: tuple[int, str]) -> SparkSession:
    """A session in the JVM that another worker has started."""
    port, secret = entrance
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_GATEWAY_PORT", str(port))
        environment.setenv("PYSPARK_GATEWAY_SECRET", secret)
        gateway = launch_gateway()
    SparkContext._ensure_initialized(gateway=gateway)
    jvm = gateway.jvm
    java = jvm.JavaSparkContext(jvm.org.apache.spark.SparkContext.getOrCreate())
    context = SparkContext(conf=SparkConf(_jconf=java.sc().conf()), gateway=gateway, jsc=java)
    session = SparkSession(context, jvm.SparkSession.getDefaultSession().get().newSession())
    note_classes(session)
    return session
