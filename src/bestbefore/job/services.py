"""The services of a job file: who answers each SERVICE, its budget, its policy and its view."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from bestbefore.errors import JobError, excerpt, nearest
from bestbefore.job.changes import read_changes
from bestbefore.job.clients import read_client
from bestbefore.job.job import NO_QOS, UNLIMITED, Qos, ServiceSettings, ViewSettings, listed
from bestbefore.job.lookups import read_http, read_sql
from bestbefore.job.sections import Section, located, sections_for
from bestbefore.job.service_limits import read_limits
from bestbefore.maintenance import Need, Policy, resolve_policy
from bestbefore.query import ContinuousQuery, CountWindow, QueryPlan, ServicePlan
from bestbefore.query.algebra import Distinct, Group, services_of, walk
from bestbefore.query.scope import certain_variables, visible_variables
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.registry import SERVICES, load_entry_points, load_module
from bestbefore.service.kinds import (
    BUILT_IN,
    HTTP,
    SPARQL,
    SQL,
    ClientKind,
    PluggedService,
    service_kinds,
)

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# What a service may have for itself, and takes from the whole job otherwise.
OWN_SECTIONS = ("budget", "policy", "view")
_LIMITS = "limits"
_LEARNED = "learned"
_DEFAULT_POLICY = "EFG"
_ON_DEMAND, _AT_START = "on-demand", "start"
_MAINTAINED: Literal["maintained"] = "maintained"
_MODES: tuple[Literal["maintained", "frozen", "none"], ...] = (_MAINTAINED, "frozen", "none")


def read_services(
    tables: Mapping[str, Any], plan: QueryPlan, base: Path
) -> tuple[ServiceSettings, ...]:
    """The services of the query in its order; what none of them reads is refused."""
    iris = list(dict.fromkeys(service.iri for service in plan.services))
    sections = sections_for(tables, "services", iris)
    shared = {name: Section(name, tables.get(name, {})) for name in OWN_SECTIONS}
    qos = _qos(Section("qos", tables.get("qos", {})))
    services = tuple(
        replace(_service(clause, sections[clause.iri], shared, plan=plan, base=base), qos=qos)
        for clause in plan.services
    )
    if qos != NO_QOS:
        services = tuple(_without_budget(service, sections, shared) for service in services)
    for section in sections.values():
        section.finish()
    return tuple(map(_paced, services))


def refresh_keys(tables: Mapping[str, Any], query: ContinuousQuery) -> dict[str, tuple[str, ...]]:
    """The variables that a job file says name the units of an endpoint, by its IRI."""
    iris = [str(service.iri) for service in services_of(query.pattern)]
    shared = Section("view", tables.get("view", {}))
    sections = sections_for(tables, "services", list(dict.fromkeys(iris)))
    views = {iri: _own(section, "view", shared) for iri, section in sections.items()}
    return {iri: _names_of_units(view) for iri, view in views.items()}


def _names_of_units(view: Section) -> tuple[str, ...]:
    return tuple(name.lstrip("?$") for name in view.texts("refresh_key") or ())


def shared_budget(tables: Mapping[str, Any], services: Sequence[ServiceSettings]) -> int | None:
    """The budget that the services of a job spend together, None if each has its own.

    Where one is asked for what another answers they share it, unless the job says otherwise.
    """
    section = Section("budget", tables.get("budget", {}))
    own = [
        name
        for name, table in tables.get("services", {}).items()
        if {"refreshes", "shared"} & {*table.get("budget", {})}
    ]
    saving = [one for one in services if one.policy.saves or one.ahead]
    chained = any(service.plan.after is not None for service in services)
    shared = section.flag("shared", default=chained and not own and not saving)
    if not shared:
        return None
    if own:
        raise JobError(
            f"budget.shared = true is for the whole job, and [services.{own[0]}.budget] is for one "
            "service: leave one of them out"
        )
    if saving:
        raise JobError(
            f"budget.shared = true goes with a fixed budget: leave out FBA, price or ahead for "
            f"services.{saving[0].name}, or shared"
        )
    return max((service.budget for service in services), default=None)


def _qos(section: Section) -> Qos:
    """What the job promises."""
    deadline_ms = section.duration_ms("deadline", None)
    if deadline_ms == 0:
        raise JobError("qos.deadline = 0 can be kept by no answer; write for example '2s'")
    freshness = section.value("freshness")
    number = isinstance(freshness, (int, float)) and not isinstance(freshness, bool)
    if freshness is not None and not (number and 0 < freshness <= 1):
        raise JobError(f"qos.freshness = {excerpt(freshness)}: it must be a share such as 0.9")
    section.finish()
    return Qos(None if freshness is None else float(freshness), deadline_ms)


def _without_budget(
    service: ServiceSettings, sections: Mapping[str, Section], shared: Mapping[str, Section]
) -> ServiceSettings:
    """Who promises freshness or speed spends what that takes, unless a budget is stated."""
    own = sections[service.plan.iri].table.get("budget", {})
    stated = "refreshes" in own or "refreshes" in shared["budget"].table
    return service if stated else replace(service, budget=UNLIMITED)


def _paced(service: ServiceSettings) -> ServiceSettings:
    """The service with a client that keeps `per_second`; clients of an address share a pacer."""
    if (rate := service.limits.per_second) is None:
        return service
    if isinstance(service.client, PluggedService):
        raise JobError(
            f"services.{service.name}: limits.per_second = {rate} cannot be kept for a service of "
            f"kind {service.client.kind!r}, which sends by itself; use limits.per_minute"
        )
    return replace(service, client=replace(service.client, requests_per_second=rate))


def _service(
    clause: ServicePlan,
    section: Section,
    shared: Mapping[str, Section],
    *,
    plan: QueryPlan,
    base: Path,
) -> ServiceSettings:
    own = {name: _own(section, name, shared[name]) for name in OWN_SECTIONS}
    _load_own_module(own["policy"], base)
    name = section.name.removeprefix("services.")
    earlier = [service.iri for service in plan.services[: clause.number]].count(clause.iri)
    table = section.table_of(_LIMITS) or {}
    own["budget"].flag("shared", default=False)
    limits, ledger = read_limits(Section(f"{section.name}.{_LIMITS}", table), own["budget"], base)
    settings = ServiceSettings(
        name=f"{name}-{earlier + 1}" if earlier else name,
        plan=clause,
        # Its width and slide say how long a join key is needed.
        window=plan.window_of(clause),
        client=_client(section, clause, base),
        budget=own["budget"].integer("refreshes", 10),
        start=own["budget"].integer("start", 0),
        ahead=own["budget"].flag("ahead", default=False),
        policy=_policy(own["policy"], own["view"]),
        seed=own["policy"].integer("seed", 0),
        view=_view(own["view"], clause, base),
        limits=limits,
        ledger=ledger,
        once=any(isinstance(node, Distinct | Group) for node in walk(plan.around)),
        shown=_is_shown(clause, plan),
    )
    check_service(settings)
    settings = read_changes(section, settings, base)
    for used in own.values():
        used.finish()
    return settings


def _is_shown(clause: ServicePlan, plan: QueryPlan) -> bool:
    """Whether an answer shows more of what a service gives than what it is joined on."""
    return bool(set(visible_variables(plan.around)) & set(clause.variables) - set(clause.join_key))


def _own(section: Section, name: str, shared: Section) -> Section:
    """What the service has for itself over what the whole job has."""
    table = section.table_of(name)
    return shared if table is None else Section(f"{section.name}.{name}", {**shared.table, **table})


def _load_own_module(section: Section, base: Path) -> None:
    """Import the module of the user's own that a section names, for what it registers."""
    if module := section.text("module"):
        load_module(module, folder=base, where=f"{section.name}.module")


def _client(section: Section, clause: ServicePlan, base: Path) -> ClientKind:
    _load_own_module(section, base)
    kind = section.text("kind", SPARQL) or SPARQL
    if kind == SPARQL:
        return read_client(section, endpoint=clause.iri, base=base)
    if kind in (HTTP, SQL):
        return read_http(section, base) if kind == HTTP else read_sql(section, base)
    load_entry_points(SERVICES)
    if kind not in service_kinds:
        known = nearest(kind, (*BUILT_IN, *service_kinds))
        raise JobError(f"{section.name}.kind = {kind!r} is no kind of service; {known}")
    return PluggedService(
        kind, section.rest("iri", "kind", "module", _LIMITS, "changes", *OWN_SECTIONS)
    )


def _view(section: Section, clause: ServicePlan, base: Path) -> ViewSettings:
    sources = ("interval_variable", "interval_predicate", "interval_file")
    given = [key for key in sources if section.text(key)]
    if len(given) > 1:
        raise JobError(f"view.{given[0]} and view.{given[1]} exclude each other: give one of them")
    variable = (section.text("interval_variable") or "").lstrip("?") or None
    known = [variable.name for variable in clause.variables]
    if variable and variable not in known:
        raise JobError(
            f"view.interval_variable: the SERVICE has no ?{variable}; {nearest(variable, known)}"
        )
    unit = section.choice("interval_unit", _UNITS)
    interval = section.value("change_interval")
    learned = interval in (None, _LEARNED) and not given
    if interval == _LEARNED and given:
        raise JobError(
            f"view.change_interval = {_LEARNED!r} and view.{given[0]} exclude each other: "
            "intervals are learned or stated"
        )
    refresh_key = _refresh_key(section, clause)
    return ViewSettings(
        refresh_key=refresh_key,
        capacity=section.optional_integer("capacity"),
        fill=_fill(section, linked=refresh_key is not None),
        mode=section.choice("mode", _MODES),
        keep_windows=section.integer("keep_windows", 100, least=1),
        change_interval_ms=(
            None if interval == _LEARNED else section.duration_ms("change_interval", None)
        ),
        learned=learned,
        interval_variable=variable,
        interval_predicate=_predicate(section, "interval_predicate"),
        interval_file=located(base, section.text("interval_file")),
        interval_unit_ms=_UNITS[unit] if section.text("interval_unit") else None,
        modified_predicate=_predicate(section, "modified_predicate"),
    )


def _policy(section: Section, view: Section) -> Policy:
    """The policy; a view that is not maintained has none."""
    maintained = view.choice("mode", _MODES) == _MAINTAINED
    return resolve_policy(section.text("name", _DEFAULT_POLICY if maintained else "WST") or "")


def _fill(section: Section, *, linked: bool) -> bool:
    """Whether the view is filled with what windows need, rather than loaded at the start."""
    start = section.choice("fill", (_AT_START, _ON_DEMAND) if linked else (_ON_DEMAND, _AT_START))
    if start == _AT_START and section.value("capacity") is not None:
        raise JobError(
            f"view.fill = {_AT_START!r} loads all that the service has, and view.capacity bounds "
            "what the view holds: leave one of them out"
        )
    return start == _ON_DEMAND


def _predicate(section: Section, key: str) -> str | None:
    predicate = section.text(key)
    if predicate is not None and not is_absolute_iri(predicate):
        raise JobError(
            f"view.{key} = {predicate!r} is no IRI; write it in full and without "
            "angle brackets, such as http://example.org/changeInterval"
        )
    return predicate


def _refresh_key(section: Section, clause: ServicePlan) -> tuple[str, ...] | None:
    """The variables that name a unit; None if they are those of the join key, in any order."""
    names = _names_of_units(section)
    if not names:
        return None
    known = [variable.name for variable in clause.variables]
    if unknown := [name for name in names if name not in known]:
        raise JobError(
            f"view.refresh_key: the SERVICE does not bind {listed(unknown)}; it binds "
            f"{listed(known)}"
        )
    certain = [variable.name for variable in certain_variables(clause.service.pattern)]
    if loose := [name for name in names if name not in certain]:
        always = listed(name for name in known if name in certain)
        raise JobError(
            f"view.refresh_key: the SERVICE may leave ?{loose[0]} unbound, so it names no unit; "
            f"bind it outside of OPTIONAL and UNION, or take what it always binds: {always}"
        )
    return None if set(names) == {variable.name for variable in clause.join_key} else names


def check_needs(policy: Policy, clause: ServicePlan) -> None:
    """Refuse a policy that needs more than a SERVICE clause of a query gives."""
    given = {Need.FILTER: bool(clause.thresholds), Need.AGGREGATE: clause.aggregated}
    policy.require([need for need, there in given.items() if there], where="this query")


def check_service(service: ServiceSettings) -> None:
    """Refuse a service whose parts contradict each other, and say what would fit."""
    window, policy, view = service.window, service.policy, service.view
    check_needs(policy, service.plan)
    if view.mode != _MAINTAINED and policy.name != "WST":
        raise JobError(
            f"view.mode = {view.mode!r} maintains nothing, and policy.name = {policy.name!r} says "
            "how: leave one of them out"
        )
    if isinstance(window.extent, CountWindow) and view.change_interval_ms is None:
        raise JobError(
            f"the window <{window.name}> counts elements, so it has no width in time to stand for "
            'change intervals: give view.change_interval, for example "1h"'
        )
    if service.ahead and (policy.saves or view.capacity is not None or view.mode == "none"):
        raise JobError(
            "budget.ahead = true goes with a fixed budget and a view without a capacity: leave out "
            "FBA or price, view.capacity and view.mode = 'none', or ahead"
        )
    if service.ahead and isinstance(window.extent, CountWindow):
        raise JobError(
            f"budget.ahead = true needs windows in time: when <{window.name}> closes, nobody knows"
        )
    if view.interval_predicate and len(service.refresh_key) != 1:
        raise JobError(
            "view.interval_predicate needs a subject, and a unit is named by several variables, "
            f"{listed(service.refresh_key)}; use view.interval_variable or view.interval_file"
        )
    if view.modified_predicate and len(service.refresh_key) != 1:
        raise JobError(
            "view.modified_predicate needs a subject, and a unit is named by several variables, "
            f"{listed(service.refresh_key)}; leave it out"
        )
    if service.refresh_key != service.join_key and service.fetches_missing:
        unit, key = listed(service.refresh_key), listed(service.join_key)
        what = (
            f"policy {policy.name!r} fetches"
            if policy.fetches_missing
            else "the view is filled with"
        )
        raise JobError(
            f"{what} what the window needs and the view lacks, but which {unit} belongs to a "
            f"missing {key} is unknown: leave view.refresh_key out, or load everything with "
            f"view.fill = {_AT_START!r} and use a proposer such as WSJ"
        )
