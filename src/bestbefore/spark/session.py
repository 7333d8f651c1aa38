"""The Spark session: one on this machine or on a cluster, set up for many small batches."""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from math import ceil
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bestbefore.errors import InputError, WorkError
from bestbefore.spark.class_archive import archive_options
from bestbefore.spark.reasons import reason_of
from bestbefore.storage import local_path

EVERY_CORE = "local[*]"
_DEFAULTS = {
    "spark.app.name": "bestbefore",
    "spark.ui.showConsoleProgress": "false",
    # Noting the line of Python behind every column costs more than building the column.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # A batch of some megabytes is read by all cores, in pieces of equal size.
    "spark.sql.files.openCostInBytes": str(2**18),
}
# Stopping a query inside foreachBatch runs a deeply recursive regular expression.
_STACK = "-Xss8m"
_JVM_OPTIONS = "spark.driver.defaultJavaOptions"
FEW_ROWS = 50_000
"""So many rows, and more, are worth more than one task."""

_MANY_ROWS = 1_000_000
_WORTH_COMPILING = 4_000
CODEGEN = "spark.sql.codegen.wholeStage"
"""Whether Spark compiles a plan, or interprets it."""

_INFER_FILTERS = "org.apache.spark.sql.catalyst.optimizer.InferFiltersFromGenerate"
_SMALL_BATCHES = {
    # A batch is small and its shape is known: re-planning it while it runs costs more than it
    # gives, and each of its stages would be a job of its own.
    "spark.sql.adaptive.enabled": "false",
    # SPARQL variables differ by case.
    "spark.sql.caseSensitive": "true",
    # What looks like a variable of Spark's, in a query's string or in a path, is none.
    "spark.sql.variable.substitute": "false",
    # A wrong value is one row's error, not the batch's.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Planning a small batch takes longer with it, and what it finds out is of no use here.
    "spark.sql.constraintPropagation.enabled": "false",
    # It would compute what is exploded twice: once to see whether there is anything in it.
    "spark.sql.optimizer.excludedRules": _INFER_FILTERS,
    # A level of a query is resolved and optimised per iteration, and a SELECT may have many.
    "spark.sql.analyzer.maxIterations": "2000",
    "spark.sql.optimizer.maxIterations": "2000",
    # A text is read once: nothing is to be put into it, which would take to read it twice.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # A quotient keeps the digits after its point.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
}
_PARTITIONS = "spark.sql.shuffle.partitions"
# Functions of Spark's that are called by names which somebody may well give to one of their own.
_CALLED = (
    *("string", "bigint", "int", "double", "float", "date", "timestamp"),
    *("and", "or", "not", "=", "<", "<=", ">", ">=", "rlike", "isnotnull"),
    *("concat", "length", "substr", "replace", "get", "transform"),
)
# Without pages nobody looks at what Spark keeps of a thousand jobs that have ended, plans and all.
_PAGES = "spark.ui.enabled"
_FORGETFUL = dict.fromkeys(
    (
        "spark.sql.ui.retainedExecutions",
        "spark.ui.retainedJobs",
        "spark.ui.retainedStages",
        "spark.ui.retainedTasks",
    ),
    "20",
)
_FUNCTION = "org.apache.spark.sql.catalyst.FunctionIdentifier"
_OFTEN_USED = {
    _FUNCTION: (),
    "org.apache.spark.sql.functions": ("lit",),
    "org.apache.spark.sql.classic.SparkSession": (),
    "org.apache.spark.sql.classic.SparkSession$": ("MODULE$",),
    "org.apache.spark.sql.streaming.Trigger": (),
    "org.apache.spark.api.python.PythonUtils": ("toSeq", "toArray"),
    "org.apache.spark.sql.api.python.PythonSQLUtils": (
        "readArrowStreamFromFile",
        "toDataFrame",
    ),
    "org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchHelper": (),
}
CHECKPOINT_FILES = "spark.sql.streaming.checkpointFileManagerClass"
"""How Spark writes the files of its own checkpoint."""

_CHECKPOINT_PACKAGE = "org.apache.spark.sql.execution.streaming.checkpointing"
_WITHOUT_LINKS = f"{_CHECKPOINT_PACKAGE}.FileSystemBasedCheckpointFileManager"
_PYTHON = "spark.pyspark.python"
_MASTER = re.compile(r"local(-cluster)?(\[.+\])?|spark://.+:\d+(,.+:\d+)*|yarn|k8s://.+")
_CONNECT_S = 5
# Opening sources takes longer only where a service of theirs does not answer.
_OPEN_MS = 10_000
_GIB = 2**30


def local_session(
    *, cores: str = "*", name: str = "bestbefore", log: Path | None = None, options: str = ""
) -> SparkSession:
    """A session on this machine, its JVM with these options besides ours.

    A session that runs already is used as it is.
    """
    conf = {"spark.app.name": name, "spark.driver.extraJavaOptions": options}
    return open_session(master=f"local[{cores}]", conf=conf, log=log)


def open_session(
    *,
    master: str = EVERY_CORE,
    conf: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> SparkSession:
    """A session with a master, and with `conf` before our defaults.

    A session that runs already is used as it is, and so are the master and the configuration of
    `spark-submit`. With `log`, what Spark prints goes to that file and not to the terminal.
    """
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    try:
        session = _submitted() if is_submitted() else _launched(master, conf or {}, log)
        note_classes(session)
        return session
    except (PySparkException, Py4JError, OSError) as error:
        where = f"; see {log}" if log else ""
        raise WorkError(f"Spark did not start: {_reason(error, log)}{where}") from None


def note_classes(session: SparkSession) -> None:
    """Note the classes that PySpark asks the JVM for with every column and every query.

    It asks each time anew, and the JVM looks for a short name in all of Spark's jars.
    """
    jvm: Any = session._jvm
    for name, members in _OFTEN_USED.items():
        found = getattr(jvm, name)
        vars(found).update({member: getattr(found, member) for member in members})
        vars(jvm).update(dict.fromkeys((name, name.rpartition(".")[2]), found))


def is_submitted() -> bool:
    """Whether this process was started by `spark-submit`, which has chosen master and conf."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def is_local(master: str) -> bool:
    """Whether the executors of a master are on this machine."""
    return master.startswith("local")


def check_master(master: str) -> None:
    """Refuse what is no master, and a standalone one that Spark would try to reach for a minute."""
    if not _MASTER.fullmatch(master):
        raise InputError(
            f"unknown master {master!r}: write local[N], spark://HOST:PORT, yarn or "
            "k8s://https://HOST:PORT"
        )
    if not master.startswith("spark://"):
        return
    problems = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
        except (OSError, OverflowError) as error:
            problems.append(getattr(error, "strerror", None) or str(error))
        else:
            return
    raise WorkError(f"the master {master} cannot be reached: {problems[0]}")


def check_conf(conf: Mapping[str, str]) -> None:
    """Refuse settings that Spark would ignore, or that answers rely on being otherwise."""
    for key, value in conf.items():
        if not key.startswith("spark."):
            raise InputError(f"{key} is no setting of Spark: their names begin with 'spark.'")
        needed = _SMALL_BATCHES.get(key, value)
        if value.lower() != needed.lower():
            raise InputError(f"{key} = {value}: every batch is run with {needed}; leave it out")


def tune(session: SparkSession, *, rows: int | None = None) -> SparkSession:
    """Set up a session of one streaming query; the caller's own session is not touched."""
    for key, value in settings_of(session, rows=rows).items():
        session.conf.set(key, value)
    return session


def settings_of(session: SparkSession, *, rows: int | None = None) -> dict[str, str]:
    """What a session is set up with that goes through so many rows.

    For a handful of them code is not compiled.
    """
    compiled = rows is None or rows >= _WORTH_COMPILING
    return {
        **_SMALL_BATCHES,
        CODEGEN: str(compiled).lower(),
        "spark.sql.codegen.factoryMode": "FALLBACK" if compiled else "NO_CODEGEN",
        _PARTITIONS: _partitions(session.sparkContext, rows),
    }


def session_like(spark: SparkSession) -> SparkSession:
    """A session of its own that begins with the settings of another."""
    check_functions(spark)
    java: Any = spark._jsparkSession
    return SparkSession(spark.sparkContext, java.cloneSession())


def check_functions(spark: SparkSession) -> None:
    """Refuse a session in which a function of somebody's has taken the place of one of Spark's.

    Spark before 4.3 would call that one, and answers would be wrong without a word.
    """
    jvm: Any = spark._jvm
    java: Any = spark._jsparkSession
    catalog, identifier = java.sessionState().catalog(), getattr(jvm, _FUNCTION)
    for name in _CALLED:
        info = catalog.lookupFunctionInfo(identifier(name))
        if info.getSource() != "built-in":
            raise InputError(
                f"the session has a function {name!r} of its own in place of Spark's; give it "
                "another name, or start the query in a session without it: spark.newSession()"
            )


@contextmanager
def fast_checkpoint(spark: SparkSession, checkpoint: str) -> Iterator[None]:
    """Let a streaming query that is started meanwhile write its own files in less time.

    On this machine's disk Spark asks for symbolic links around each of the three files of a batch,
    by eight processes that it starts one after the other. The way it has for other file systems
    looks for none. What it loses, that of two writers one is refused, is had by our lock. Where the
    session says how, or the checkpoint is elsewhere, it is as it would be. The list of a folder's
    files is written as its source says when it is opened: `await_sources` of the query.
    """
    if local_path(checkpoint) is None or spark.conf.get(CHECKPOINT_FILES, None) is not None:
        yield
        return
    spark.conf.set(CHECKPOINT_FILES, _WITHOUT_LINKS)
    try:
        yield
    finally:
        spark.conf.unset(CHECKPOINT_FILES)


def await_sources(query: StreamingQuery) -> None:
    """Wait until a query has opened its sources, or has failed to; it tells that by itself."""
    execution: Any = query._jsq
    with suppress(Py4JError):
        execution.streamingQuery().awaitInitialization(_OPEN_MS)


def _partitions(context: SparkContext, rows: int | None) -> str:
    """How many tasks share rows after a shuffle: one per core, or as many for each.

    A task has neither few rows nor too many. What the session was started with comes first. It is
    set for every batch, since Spark puts the number that a checkpoint began with, perhaps on other
    machines, into the session of its query.
    """
    if stated := context._conf.get(_PARTITIONS):
        return stated
    cores = context.defaultParallelism
    if rows is None:
        return str(cores)
    rounds = ceil(rows / (cores * _MANY_ROWS))
    return str(max(1, min(cores * rounds, ceil(rows / FEW_ROWS))))


def _submitted() -> SparkSession:
    """The session of a process that `spark-submit` started, with its logging."""
    SparkContext._ensure_initialized()
    conf = SparkConf()
    for key, value in _DEFAULTS.items():
        conf.setIfMissing(key, value)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _launched(master: str, conf: Mapping[str, str], log: Path | None) -> SparkSession:
    """A session in a JVM of our own."""
    settings = _settings(master, conf)
    # PySpark has only the environment to know it from.
    if python := conf.get(_PYTHON):
        os.environ["PYSPARK_PYTHON"] = python
    elif is_local(master):
        # Python workers must be of this environment, not of whatever python3 is on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark_conf = SparkConf().setAll(list(settings.items()))
    _launch(spark_conf, log)
    session = SparkSession.builder.config(conf=spark_conf).getOrCreate()
    if is_local(master):
        session.sparkContext.setLogLevel("ERROR")
    return session


def _settings(master: str, conf: Mapping[str, str]) -> dict[str, str]:
    """What the session of a master is set up with, `conf` before our defaults."""
    ours = {**_DEFAULTS, **(_on_this_machine() if is_local(master) else {})}
    jvm = {_JVM_OPTIONS: " ".join((_STACK, *archive_options()))}
    settings = {**ours, **jvm, **conf, "spark.master": master}
    return {**_FORGETFUL, **settings} if settings.get(_PAGES) == "false" else settings


def _on_this_machine() -> dict[str, str]:
    """What a session without a cluster is set up with.

    Windows of some hundred thousand elements are sorted in memory, for which the 1 GiB of Spark's
    own is little; it takes a quarter of the machine's, but no more than 4 GiB.
    """
    quarter = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    return {
        _PAGES: "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{min(max(quarter, _GIB), 4 * _GIB) // 2**20}m",
    }


def _launch(conf: SparkConf, log: Path | None) -> None:
    """Start the JVM, with its output in a file if one is named, unless one runs already.

    It gets a session of its own: signals for this process's group are this process's to handle. It
    ends when its standard input does, hence with this process, however that ends.
    """
    if SparkContext._gateway is not None:
        return
    with ExitStack() as opened:
        options: dict[str, Any] = {"start_new_session": True}
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            output = opened.enter_context(log.open("ab"))
            options |= {"stdout": output, "stderr": output}
        gateway = launch_gateway(conf, options)  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


def _reason(error: Exception, log: Path | None) -> str:
    """Why Spark did not start; where it says only that the JVM ended, from the log."""
    text = str(error) or type(error).__name__
    if "JAVA_GATEWAY_EXITED" in text and log is not None and log.exists():
        text = log.read_text(encoding="utf-8", errors="replace") or text
    return reason_of(text)
