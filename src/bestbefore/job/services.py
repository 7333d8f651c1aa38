"""The services of a job file: endpoints, each with its budget, policy and local view."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestbefore.errors import JobError, UnsupportedSparql, nearest
from bestbefore.job.checks import check_service
from bestbefore.job.job import ServiceJob, ViewJob
from bestbefore.job.names import sections_for
from bestbefore.job.section import Section, located
from bestbefore.maintenance import resolve_policy
from bestbefore.query import NamedWindow, QueryPlan, ServicePlan
from bestbefore.service import ClientSettings

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# What a service may have for itself, and takes from the whole job otherwise.
_OWN = ("budget", "policy", "view")


def read_services(tables: Mapping[str, Any], plan: QueryPlan, base: Path) -> tuple[ServiceJob, ...]:
    """The services of the query in its order; what none of them reads is refused."""
    sections = sections_for(tables, "services", list(dict.fromkeys(s.iri for s in plan.services)))
    shared = {name: Section(name, tables.get(name, {})) for name in _OWN}
    jobs = tuple(
        _service(each, sections[each.iri], shared, plan=plan, number=number, base=base)
        for number, each in enumerate(plan.services)
    )
    for section in sections.values():
        section.finish()
    return jobs


def _service(
    plan_of: ServicePlan,
    section: Section,
    shared: Mapping[str, Section],
    *,
    plan: QueryPlan,
    number: int,
    base: Path,
) -> ServiceJob:
    own = {name: _own(section, name, shared[name]) for name in _OWN}
    name = section.name.removeprefix("services.")
    earlier = [each.iri for each in plan.services[:number]].count(plan_of.iri)
    job = ServiceJob(
        name=f"{name}-{earlier + 1}" if earlier else name,
        plan=plan_of,
        window=_window(plan_of, plan),
        client=_client(section, plan_of),
        budget=own["budget"].integer("refreshes", 10),
        policy=resolve_policy(own["policy"].text("name", "WSJ-WBM") or ""),
        seed=own["policy"].integer("seed", 0),
        view=_view(own["view"], plan_of, base),
    )
    check_service(job)
    for each in own.values():
        each.finish()
    return job


def _own(section: Section, name: str, shared: Section) -> Section:
    """What the service has for itself over what the whole job has."""
    table = section.table_of(name)
    return shared if table is None else Section(f"{section.name}.{name}", {**shared.table, **table})


def _window(plan_of: ServicePlan, plan: QueryPlan) -> NamedWindow:
    """The window whose width and slide say how long a join key is needed."""
    windows = [each.window for each in plan.windows if each.clause in plan_of.windows]
    if not windows:
        raise UnsupportedSparql(f"SERVICE <{plan_of.iri}> shares no variable with a WINDOW")
    return windows[0]


def _client(section: Section, plan_of: ServicePlan) -> ClientSettings:
    given: dict[str, Any] = {"endpoint": section.text("endpoint", plan_of.iri)}
    for key in ("units_per_request", "connections", "attempts", "page_rows", "max_rows"):
        if (value := section.optional_integer(key)) is not None:
            given[key] = value
    if (timeout := section.duration_ms("timeout", None)) is not None:
        given["timeout_s"] = timeout / 1000
    if agent := section.text("user_agent"):
        given["user_agent"] = agent
    if variable := section.text("token_env"):
        given["authorization"] = f"Bearer {section.secret('token_env', variable)}"
    return ClientSettings(**given)


def _view(section: Section, plan_of: ServicePlan, base: Path) -> ViewJob:
    sources = ("interval_variable", "interval_predicate", "interval_file")
    given = [key for key in sources if section.text(key)]
    if len(given) > 1:
        raise JobError(f"view.{given[0]} and view.{given[1]} exclude each other: give one of them")
    variable = (section.text("interval_variable") or "").lstrip("?") or None
    known = [each.name for each in plan_of.variables]
    if variable and variable not in known:
        raise JobError(
            f"view.interval_variable: the SERVICE has no ?{variable}; {nearest(variable, known)}"
        )
    unit = section.choice("interval_unit", _UNITS, "s")
    return ViewJob(
        refresh_key=_refresh_key(section, plan_of),
        capacity=section.optional_integer("capacity"),
        change_interval_ms=section.duration_ms("change_interval", None),
        interval_variable=variable,
        interval_predicate=section.text("interval_predicate"),
        interval_file=located(base, section.text("interval_file")),
        interval_unit_ms=_UNITS[unit] if section.text("interval_unit") else None,
    )


def _refresh_key(section: Section, plan_of: ServicePlan) -> tuple[str, ...] | None:
    """The variables that name a unit; None if they are those of the join key, in any order."""
    given = section.texts("refresh_key")
    if given is None:
        return None
    names = tuple(each.lstrip("?$") for each in given)
    known = [each.name for each in plan_of.variables]
    if unknown := [name for name in names if name not in known]:
        missing, there = (", ".join(f"?{name}" for name in some) for some in (unknown, known))
        raise JobError(f"view.refresh_key: the SERVICE does not bind {missing}; it binds {there}")
    return None if set(names) == {each.name for each in plan_of.join_key} else names
