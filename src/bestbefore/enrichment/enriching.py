"""`enrich`: a streaming DataFrame in, a started query with enriched rows out."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegralType, StructType

from bestbefore.engine import Engine, RunningQuery
from bestbefore.engine.query_run import QualityListener
from bestbefore.engine.sinks import Sink, check_output, sink_of
from bestbefore.enrichment.enriched import FRESH, ROW, WINDOW, Enriched, Table, calling
from bestbefore.enrichment.events import Events, check_columns, time_column
from bestbefore.enrichment.lookups import PYTHON, Asked, Lookup, ask
from bestbefore.errors import InputError
from bestbefore.job import Job, read_job
from bestbefore.spark.hadoop import storage_at
from bestbefore.time import parse_duration_ms

_OWN = "urn:bestbefore:"
_TABLE_NAME = re.compile(r"[^\W\d]\w*")


def enrich(  # noqa: PLR0913 - all but the first three may be left out
    stream: DataFrame,
    *,
    on: str | Sequence[str],
    lookup: Lookup,
    window: str = "10m",
    slide: str | None = None,
    budget: int = 10,
    time: str | None = None,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    sink: Mapping[str, Any] | None = None,
    foreach: Callable[..., Any] | None = None,
    table: str | None = None,
    policy: str = "EFG",
    trigger: str = "1s",
    checkpoint: str | None = None,
    sections: Mapping[str, Any] | None = None,
    on_quality: QualityListener | None = None,
) -> RunningQuery:
    """Start a query that joins the rows of a window with what a lookup knows of them.

    Every `slide` (the window's width, if it is left out) the rows of the last `window` are
    answered: the stream's columns, the looked-up ones, `window` (start and end) and `fresh`, the
    probability that what was looked up is still so. At most `budget` keys are looked up for it,
    those that help most. Rows whose key the lookup does not know, or has not been asked for yet,
    are left out.

    Answers go to a `sink` of Spark (format, path, mode and options as in a job file's `[sink]`), to
    a function `foreach` (the answers as a DataFrame, and the number of the batch if it takes two),
    or to a temporary view called `table`.

    `columns` are the Spark types of looked-up columns; needed for a function, which is called with
    a list of keys and returns a dictionary from key to a dictionary, a list of them, or None.
    `time` is the column with the time of a row, `trigger` an interval, "available-now" or
    "until-end", and `sections` has more of a job file: `{"qos": {"freshness": 0.9}}`.
    """
    spark = stream.sparkSession
    keys = (on,) if isinstance(on, str) else tuple(on)
    if not keys or len(set(keys)) < len(keys):
        raise InputError(f"on={on!r}: name one or more different columns of the stream")
    asked = ask(lookup, keys, list(columns) if columns else None)
    check_columns(stream, keys, (*asked.columns, WINDOW, FRESH))
    types = _declared(columns, asked)
    events = Events(
        schema=stream.schema,
        time=time_column(stream, time),
        keys={column: f"{_OWN}{asked.keys[column]}" for column in keys},
        forms=asked.forms,
    )
    folder = checkpoint or mkdtemp(prefix="bestbefore-enrich-")
    given = {
        "query": {"text": _query(asked, window, slide or window), "trigger": trigger},
        "services": {"lookup": _section(asked, stream)},
        "budget": {"refreshes": budget},
        "policy": {"name": policy},
        "sink": dict(sink or {}),
        "checkpoint": {"path": folder},
    }
    job = _job(given, sections or {}, folder)
    storage = storage_at(spark, folder)
    write = _sink(job, spark, sink=sink, foreach=foreach, table=table)
    answers = Enriched(spark, events, asked.columns, types, storage, write)
    triples = events.triples(stream)
    streams = {"stream": triples}
    running = Engine(spark).start(job, streams=streams, sink=answers, on_quality=on_quality)
    running.begin()
    return running


def _declared(columns: Mapping[str, str] | Sequence[str] | None, asked: Asked) -> dict[str, str]:
    """The Spark types of the columns that have a stated one."""
    given = dict(columns) if isinstance(columns, Mapping) else {}
    if unknown := [name for name in columns or () if name not in asked.columns]:
        known = ", ".join(asked.columns)
        raise InputError(f"the lookup has no column {unknown[0]!r}; it has {known}")
    for name, kind in given.items():
        try:
            fields = StructType.fromDDL(f"x {kind}")
            sound = isinstance(fields, StructType) and len(fields) == 1
        except PySparkException:
            sound = False
        if not sound:
            raise InputError(
                f"columns: {name!r} has no type {kind!r}; write a type of Spark, such as 'bigint'"
            )
    return {**asked.types, **{name: kind.upper() for name, kind in given.items()}}


def _section(asked: Asked, stream: DataFrame) -> dict[str, Any]:
    """The section of the lookup; a function is asked for numbers by numbers."""
    section = dict(asked.section)
    if section["kind"] == PYTHON:
        section["integers"] = [
            variable
            for column, variable in asked.keys.items()
            if isinstance(stream.schema[column].dataType, IntegralType)
        ]
    return section


def _query(asked: Asked, window: str, slide: str) -> str:
    """The query that the enrichment is."""
    keys, columns = asked.keys.values(), asked.columns.values()
    triples = " ".join(f"?{ROW} <{_OWN}{key}> ?{key} ." for key in keys)
    shown = " ".join(f"?{one}" for one in (ROW, *columns))
    extent = f"[RANGE {_duration('window', window)} STEP {_duration('slide', slide)}]"
    clauses = (
        f"REGISTER RSTREAM <{_OWN}enriched> AS",
        f"SELECT {shown}",
        f"FROM NAMED WINDOW <{_OWN}window> ON <{_OWN}stream> {extent}",
        f"WHERE {{ WINDOW <{_OWN}window> {{ {triples} }}",
        f"SERVICE <{_OWN}lookup> {{ {asked.pattern} }} }}",
    )
    return "\n".join(clauses)


def _duration(key: str, text: str) -> str:
    try:
        return f"PT{parse_duration_ms(text) / 1000:f}S"
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _job(given: Mapping[str, Any], more: Mapping[str, Any], folder: str) -> Job:
    tables = {
        name: {**given.get(name, {}), **more.get(name, {})}
        for name in dict.fromkeys((*given, *more))
    }
    tables["streams"] = {"stream": {"source": "dataframe", **more.get("stream", {})}}
    tables.pop("stream", None)
    tables["sink"] = {"quality": f"{folder}/quality", "row_freshness": True, **tables["sink"]}
    return read_job(tables, folder=Path.cwd())


def _sink(
    job: Job,
    spark: SparkSession,
    *,
    sink: Mapping[str, Any] | None,
    foreach: Callable[..., Any] | None,
    table: str | None,
) -> Sink:
    """Where the answers go: exactly one place."""
    if sum(given is not None for given in (sink, foreach, table)) != 1:
        raise InputError(
            "say where the answers go, by one of sink={'format': 'parquet', 'path': '…'}, "
            "foreach=function and table='name'"
        )
    if table is not None:
        if not _TABLE_NAME.fullmatch(table):
            raise InputError(f"table={table!r} is no name of a table: letters, digits and _")
        return Table(spark, table)
    if foreach is not None:
        return calling(foreach)
    check_output(job)
    return sink_of(job.sink, spark)
