"""The services of a job file: endpoints, each with its budget, policy and local view."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestbefore.errors import JobError, nearest
from bestbefore.job.checks import check_service
from bestbefore.job.job import ServiceJob, ViewJob
from bestbefore.job.names import sections_for
from bestbefore.job.section import Section, located
from bestbefore.maintenance import resolve_policy
from bestbefore.query import QueryPlan, ServicePlan
from bestbefore.query.certainty import certain_variables
from bestbefore.rdf.terms import is_absolute_iri
from bestbefore.service import ClientSettings

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# What a service may have for itself, and takes from the whole job otherwise.
_OWN = ("budget", "policy", "view")


def read_services(
    tables: Mapping[str, Any], query: QueryPlan, base: Path
) -> tuple[ServiceJob, ...]:
    """The services of the query in its order; what none of them reads is refused."""
    sections = sections_for(tables, "services", list(dict.fromkeys(s.iri for s in query.services)))
    shared = {name: Section(name, tables.get(name, {})) for name in _OWN}
    jobs = tuple(
        _service(plan, sections[plan.iri], shared, query=query, base=base)
        for plan in query.services
    )
    for section in sections.values():
        section.finish()
    return jobs


def _service(
    plan: ServicePlan,
    section: Section,
    shared: Mapping[str, Section],
    *,
    query: QueryPlan,
    base: Path,
) -> ServiceJob:
    own = {name: _own(section, name, shared[name]) for name in _OWN}
    name = section.name.removeprefix("services.")
    earlier = [service.iri for service in query.services[: plan.number]].count(plan.iri)
    job = ServiceJob(
        name=f"{name}-{earlier + 1}" if earlier else name,
        plan=plan,
        # Its width and slide say how long a join key is needed.
        window=query.windows[plan.windows[0]].window,
        client=_client(section, plan),
        budget=own["budget"].integer("refreshes", 10),
        policy=resolve_policy(own["policy"].text("name", "WSJ-WBM") or ""),
        seed=own["policy"].integer("seed", 0),
        view=_view(own["view"], plan, base),
    )
    check_service(job)
    for part in own.values():
        part.finish()
    return job


def _own(section: Section, name: str, shared: Section) -> Section:
    """What the service has for itself over what the whole job has."""
    table = section.table_of(name)
    return shared if table is None else Section(f"{section.name}.{name}", {**shared.table, **table})


def _client(section: Section, plan: ServicePlan) -> ClientSettings:
    given: dict[str, Any] = {"endpoint": section.text("endpoint", plan.iri)}
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


def _view(section: Section, plan: ServicePlan, base: Path) -> ViewJob:
    sources = ("interval_variable", "interval_predicate", "interval_file")
    given = [key for key in sources if section.text(key)]
    if len(given) > 1:
        raise JobError(f"view.{given[0]} and view.{given[1]} exclude each other: give one of them")
    variable = (section.text("interval_variable") or "").lstrip("?") or None
    known = [each.name for each in plan.variables]
    if variable and variable not in known:
        raise JobError(
            f"view.interval_variable: the SERVICE has no ?{variable}; {nearest(variable, known)}"
        )
    return ViewJob(
        refresh_key=_refresh_key(section, plan),
        capacity=section.optional_integer("capacity"),
        change_interval_ms=section.duration_ms("change_interval", None),
        interval_variable=variable,
        interval_predicate=_interval_predicate(section),
        interval_file=located(base, section.text("interval_file")),
        interval_unit_ms=_UNITS[section.choice("interval_unit", _UNITS, "s")],
    )


def _interval_predicate(section: Section) -> str | None:
    predicate = section.text("interval_predicate")
    if predicate is not None and not is_absolute_iri(predicate):
        raise JobError(
            f"view.interval_predicate = {predicate!r} is no IRI; write it in full and without "
            "angle brackets, such as http://example.org/changeInterval"
        )
    return predicate


def _refresh_key(section: Section, plan: ServicePlan) -> tuple[str, ...] | None:
    """The variables that name a unit; None if they are those of the join key, in any order."""
    given = section.texts("refresh_key")
    if given is None:
        return None
    names = tuple(name.lstrip("?$") for name in given)
    known = [each.name for each in plan.variables]
    if unknown := [name for name in names if name not in known]:
        missing, there = (", ".join(f"?{name}" for name in some) for some in (unknown, known))
        raise JobError(f"view.refresh_key: the SERVICE does not bind {missing}; it binds {there}")
    certain = [each.name for each in certain_variables(plan.service.pattern)]
    if loose := [name for name in names if name not in certain]:
        raise JobError(
            f"view.refresh_key: the SERVICE may leave ?{loose[0]} unbound, so it names no unit; "
            f"bind it outside of OPTIONAL and UNION, or take what it always binds: "
            f"{', '.join(f'?{name}' for name in known if name in certain)}"
        )
    return None if set(names) == {each.name for each in plan.join_key} else names
