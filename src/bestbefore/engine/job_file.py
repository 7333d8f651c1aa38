"""Job files: TOML tables turned into a `Job`, every mistake named with its key."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bestbefore.engine.job import AVAILABLE_NOW, Job, SinkJob, ViewJob
from bestbefore.engine.job_check import check_job
from bestbefore.engine.job_section import (
    Section,
    located,
    refuse_others,
    section_for,
    sections_of,
)
from bestbefore.engine.stream_section import read_streams
from bestbefore.errors import JobError, nearest
from bestbefore.maintenance import resolve_policy
from bestbefore.query import ContinuousQuery, QueryPlan, parse_query, plan
from bestbefore.service import ClientSettings

_SECTIONS = (
    "query",
    "streams",
    "services",
    "qos",
    "budget",
    "policy",
    "view",
    "sink",
    "checkpoint",
)
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def load_job(path: str | Path) -> Job:
    """The job of a TOML file; its relative paths count from the file's folder."""
    file = Path(path)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise JobError(f"no such file: {file}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise JobError(f"{file}: not TOML: {error}") from None
    try:
        return read_job(tables, folder=file.parent)
    except JobError as error:
        raise JobError(f"{file}: {error}") from None


def read_job(tables: Mapping[str, Any], *, folder: Path | None = None) -> Job:
    """The job of the tables of a job file."""
    base = folder or Path()
    for name, table in tables.items():
        if name not in _SECTIONS:
            raise JobError(f"unknown section [{name}]; {nearest(name, _SECTIONS)}")
        if not isinstance(table, dict):
            raise JobError(f"{name} = {table!r}: it must be a section [{name}]")
    query_section = _section(tables, "query")
    query = parse_query(_query_text(query_section, base))
    query_plan = plan(query)
    policy_section, budget_section = _section(tables, "policy"), _section(tables, "budget")
    checkpoint_section = _section(tables, "checkpoint")
    _section(tables, "qos").finish()
    job = Job(
        query=query,
        plan=query_plan,
        streams=read_streams(tables, _streams_of(query), base=base),
        service=_service(tables, query_plan),
        budget=budget_section.integer("refreshes", 10),
        policy=resolve_policy(policy_section.text("name", "WSJ-WBM") or ""),
        seed=policy_section.integer("seed", 0),
        view=_view(_section(tables, "view"), query_plan, base),
        sink=_sink(_section(tables, "sink"), base),
        checkpoint=located(base, checkpoint_section.text("path", "checkpoint")) or "",
        trigger=_trigger(query_section),
        t0_ms=_instant(query_section, "t0"),
        full_windows_only=query_section.flag("full_windows_only", default=False),
    )
    for section in (query_section, policy_section, budget_section, checkpoint_section):
        section.finish()
    check_job(job)
    return job


def _section(tables: Mapping[str, Any], name: str) -> Section:
    return Section(name, tables.get(name, {}))


def _query_text(section: Section, base: Path) -> str:
    text, file = section.text("text"), section.text("file")
    if (text is None) == (file is None):
        raise JobError("[query] needs either file (a path) or text (the query itself)")
    if text is not None:
        return text
    path = base / str(file)
    if not path.is_file():
        raise JobError(f"query.file: no such file: {path}")
    return path.read_text(encoding="utf-8")


def _streams_of(query: ContinuousQuery) -> tuple[str, ...]:
    """The streams of the query's windows, each once, in the query's order."""
    return tuple(dict.fromkeys(window.stream for window in query.windows))


def _service(tables: Mapping[str, Any], query_plan: QueryPlan) -> ClientSettings:
    iri = query_plan.service.iri
    sections = sections_of(tables, "services", iri)
    section = section_for(sections, iri, alone=True)
    refuse_others(sections, [section])
    given: dict[str, Any] = {"endpoint": section.text("endpoint", iri)}
    for key in ("units_per_request", "connections", "attempts", "page_rows", "max_rows"):
        if (value := section.optional_integer(key)) is not None:
            given[key] = value
    if (timeout := section.duration_ms("timeout", None)) is not None:
        given["timeout_s"] = timeout / 1000
    if agent := section.text("user_agent"):
        given["user_agent"] = agent
    if variable := section.text("token_env"):
        given["authorization"] = f"Bearer {section.secret('token_env', variable)}"
    section.finish()
    return ClientSettings(**given)


def _view(section: Section, query_plan: QueryPlan, base: Path) -> ViewJob:
    sources = ("interval_variable", "interval_predicate", "interval_file")
    given = [key for key in sources if section.text(key)]
    if len(given) > 1:
        raise JobError(f"view.{given[0]} and view.{given[1]} exclude each other: give one of them")
    variable = (section.text("interval_variable") or "").lstrip("?") or None
    known = [each.name for each in query_plan.service_variables]
    if variable and variable not in known:
        raise JobError(
            f"view.interval_variable: the SERVICE has no ?{variable}; {nearest(variable, known)}"
        )
    view = ViewJob(
        refresh_key=_refresh_key(section, query_plan),
        capacity=section.optional_integer("capacity"),
        change_interval_ms=section.duration_ms("change_interval", None),
        interval_variable=variable,
        interval_predicate=section.text("interval_predicate"),
        interval_file=located(base, section.text("interval_file")),
        interval_unit_ms=_UNITS[section.choice("interval_unit", _UNITS, "s")],
    )
    section.finish()
    return view


def _refresh_key(section: Section, query_plan: QueryPlan) -> tuple[str, ...] | None:
    """The variables that name a unit; None if they are those of the join key, in any order."""
    given = section.texts("refresh_key")
    if given is None:
        return None
    names = tuple(each.lstrip("?$") for each in given)
    known = [each.name for each in query_plan.service_variables]
    if unknown := [name for name in names if name not in known]:
        missing, there = (", ".join(f"?{name}" for name in some) for some in (unknown, known))
        raise JobError(f"view.refresh_key: the SERVICE does not bind {missing}; it binds {there}")
    return None if set(names) == {each.name for each in query_plan.join_key} else names


def _sink(section: Section, base: Path) -> SinkJob:
    path = located(base, section.text("path", "answers"))
    sink = SinkJob(
        format=section.text("format", "json") or "json",
        path=path,
        mode=section.choice("mode", ("overwrite-batch", "append"), "overwrite-batch"),  # type: ignore[arg-type]
        options=section.mapping("options"),
        quality=located(base, section.text("quality", "quality")),
    )
    section.finish()
    return sink


def _trigger(section: Section) -> str:
    trigger = section.text("trigger", AVAILABLE_NOW) or AVAILABLE_NOW
    if trigger != AVAILABLE_NOW:
        section.duration_ms("trigger", None)
    return trigger


def _instant(section: Section, key: str) -> int | None:
    value = section.value(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return round(zoned.timestamp() * 1000)
    raise JobError(f"{section.name}.{key} = {value!r}: it must be milliseconds or a TOML date-time")
