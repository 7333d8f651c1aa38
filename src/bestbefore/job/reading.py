"""Job files: TOML tables turned into a `Job`, every mistake named with its key."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bestbefore.errors import InputError, JobError, UnsupportedSparql, excerpt, nearest
from bestbefore.input_files import read_text
from bestbefore.job.job import AVAILABLE_NOW, FINITE, Job, SinkSettings
from bestbefore.job.lookups import check_lookups
from bestbefore.job.row_freshness import check_row_freshness
from bestbefore.job.sections import Section, located, sections_for
from bestbefore.job.services import OWN_SECTIONS, read_services, refresh_keys, shared_budget
from bestbefore.job.streams import read_streams
from bestbefore.query import ContinuousQuery, CountWindow, QueryPlan, parse_query, plan
from bestbefore.spark.plan_size import check_size
from bestbefore.time import is_instant
from bestbefore.windows import ReportSetting, ReportStrategy

_SECTIONS = ("query", "streams", "services", *OWN_SECTIONS, "graphs", "qos", "sink", "checkpoint")


def load_job(path: str | Path) -> Job:
    """The job of a TOML file; its relative paths count from the file's folder."""
    file = Path(path)
    try:
        tables = tomllib.loads(read_text(file))
    except InputError as error:
        raise JobError(str(error)) from None
    except ValueError as error:
        raise JobError(f"{file}: not TOML: {error}") from None
    except RecursionError:
        raise JobError(f"{file}: not TOML: brackets nest too deep; simplify the value") from None
    try:
        # Python and the JVM may have been started in different folders.
        return read_job(tables, folder=file.absolute().parent)
    except JobError as error:
        raise JobError(f"{file}: {error}") from None


def read_job(tables: Mapping[str, Any], *, folder: Path | None = None) -> Job:
    """The job of the tables of a job file."""
    base = folder or Path()
    for name, table in tables.items():
        if name not in _SECTIONS:
            raise JobError(f"unknown section [{name}]; {nearest(name, _SECTIONS)}")
        if not isinstance(table, dict):
            raise JobError(f"{name} = {excerpt(table)}: it must be a section [{name}]")
    query_section = _section(tables, "query")
    query = parse_query(_query_text(query_section, base))
    query_plan = plan(query)
    if any((units := refresh_keys(tables, query)).values()):
        query_plan = plan(query, units)
    check_size(query_plan)
    _check_windows(query_plan)
    streams = tuple(dict.fromkeys(iri for window in query.windows for iri in window.streams))
    checkpoint_section = _section(tables, "checkpoint")
    services = read_services(tables, query_plan, base)
    job = Job(
        query=query,
        plan=query_plan,
        streams=read_streams(tables, streams, base=base),
        services=services,
        shared_budget=shared_budget(tables, services),
        graphs=_graphs(tables, query, base),
        sink=_sink(_section(tables, "sink"), base),
        checkpoint=located(base, checkpoint_section.text("path", "checkpoint")) or "",
        report=_report(query_section),
        trigger=_trigger(query_section),
        heartbeat_ms=_heartbeat(query_section),
        t0_ms=_instant(query_section, "t0"),
        full_windows_only=query_section.flag("full_windows_only", default=False),
    )
    for section in (query_section, checkpoint_section):
        section.finish()
    check_lookups(job)
    if job.sink.row_freshness:
        check_row_freshness(job)
    return job


def _section(tables: Mapping[str, Any], name: str) -> Section:
    return Section(name, tables.get(name, {}))


def _query_text(section: Section, base: Path) -> str:
    text, file = section.text("text"), section.text("file")
    if (text is None) == (file is None):
        raise JobError("[query] needs either file (a path) or text (the query itself)")
    if text is not None:
        return text
    try:
        return read_text(base / str(file))
    except InputError as error:
        raise JobError(f"query.file: {error}") from None


def _check_windows(query_plan: QueryPlan) -> None:
    """Refuse windows of so many elements beside others: they share no instants."""
    windows = [clause.window for clause in query_plan.windows]
    counted = [window for window in windows if isinstance(window.extent, CountWindow)]
    if counted and len(windows) > 1:
        raise UnsupportedSparql(
            f"the window <{counted[0].name}> counts elements and stands beside others; a query may "
            "have one WINDOW clause of so many elements, or any number of them in time"
        )


def _sink(section: Section, base: Path) -> SinkSettings:
    sink = SinkSettings(
        format=section.text("format", "json") or "json",
        path=located(base, section.text("path", "answers")),
        mode=section.choice("mode", ("overwrite-batch", "append")),
        options=section.mapping("options"),
        quality=located(base, section.text("quality", "quality")),
        row_freshness=section.flag("row_freshness", default=False),
    )
    section.finish()
    return sink


def _graphs(tables: Mapping[str, Any], query: ContinuousQuery, base: Path) -> dict[str, Path]:
    """The file of each static graph that the query names."""
    iris = list(dict.fromkeys((*query.default_graphs, *query.named_graphs)))
    files = {}
    for iri, section in sections_for(tables, "graphs", iris).items():
        files[iri] = base / section.required_text("path", "the RDF file with the graph")
        section.finish()
    return files


def _report(section: Section) -> ReportSetting:
    strategy = section.choice("report", ReportStrategy)
    every_ms = section.duration_ms("report_every", None)
    if (strategy is ReportStrategy.PERIODIC) != (every_ms is not None):
        raise JobError(
            "query.report_every = '…' goes with query.report = 'periodic', and the other way round"
        )
    return ReportSetting(strategy, every_ms)


def _trigger(section: Section) -> str:
    trigger = section.text("trigger", AVAILABLE_NOW) or AVAILABLE_NOW
    if trigger not in FINITE:
        section.duration_ms("trigger", None)
    return trigger


def _heartbeat(section: Section) -> int | None:
    heartbeat_ms = section.duration_ms("heartbeat", None)
    if heartbeat_ms == 0:
        raise JobError("query.heartbeat = '0s': a stream is silent only after a while, such as 1s")
    return heartbeat_ms


def _instant(section: Section, key: str) -> int | None:
    value = section.value(key)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        value = round(zoned.timestamp() * 1000)
    if value is None or (type(value) is int and is_instant(value)):
        return value
    raise JobError(
        f"{section.name}.{key} = {excerpt(value)}: it must be milliseconds since 1970 or a TOML "
        "date-time, of the years 1 to 9999"
    )
