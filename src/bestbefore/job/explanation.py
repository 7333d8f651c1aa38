"""What a job or a query means, for people: effective settings, algebra, keys and Spark plans."""

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from bestbefore.job.job import UNLIMITED, Job, Qos, ServiceSettings, listed
from bestbefore.maintenance.allocation import Allocation
from bestbefore.maintenance.replacement import Replacement, replacements
from bestbefore.query import describe_algebra, parse_query, print_query
from bestbefore.query.algebra import (
    Extend,
    Join,
    Pattern,
    Service,
    Union,
    Values,
    Variable,
    Window,
    children,
)
from bestbefore.query.continuous import ContinuousQuery, CountWindow, NamedWindow, TimeWindow
from bestbefore.query.plan import QueryPlan, ServicePlan, WindowPlan, plan
from bestbefore.spark.explained_plans import describe_plans
from bestbefore.spark.sources import mapping_of
from bestbefore.time import format_duration
from bestbefore.windows import SlidingWindow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sections = list[tuple[str, str]]


def explain(what: Job | ContinuousQuery | str, *, spark: "SparkSession | None" = None) -> str:
    """What would run, as text: of a job, of a query, or of a query's text.

    A session adds the Spark plans of the query's two jobs.
    """
    sections: Sections = []
    if isinstance(what, Job):
        query, query_plan = what.query, what.plan
        sections += describe_job(what)
    else:
        query = parse_query(what) if isinstance(what, str) else what
        query_plan = plan(query)
    sections += describe_query(query, query_plan)
    if spark is not None:
        sections += describe_plans(spark, query, query_plan)
    return "\n".join(f"── {title} ──\n{text.rstrip()}\n" for title, text in sections)


def describe_job(job: Job) -> Sections:
    """The effective job: every setting with its value, secrets left out."""
    heartbeat = None if job.heartbeat_ms is None else format_duration(job.heartbeat_ms)
    lines = [
        f"query.trigger = {job.trigger}",
        f"query.heartbeat = {heartbeat}",
        *_settings("query.report", job.report),
    ]
    for stream in job.sources:
        lines += _settings(f"streams.{stream.name}", stream)
    if job.shared_budget is not None:
        lines.append(f"budget.shared = {job.shared_budget} refreshes for all services together")
    lines += _settings("sink", job.sink)
    lines.append(f"checkpoint.path = {job.checkpoint}")
    sections = [("job", "\n".join(lines)), *_row_mappings(job)]
    for service in job.services:
        sections.append((f"service {service.name}", "\n".join(_service_settings(service))))
        sections.append((f"maintenance of {service.name}", "\n".join(_maintenance(service))))
    return sections


def _row_mappings(job: Job) -> Sections:
    """The triples that a row of a stream gives, with the columns in braces."""
    sections = []
    for stream in job.sources:
        if stream.source is not None and (mapping := mapping_of(stream.source)) is not None:
            time = "of arrival" if mapping.timestamp is None else f"{{{mapping.timestamp}}}"
            lines = [f"time: {time}", *map(str, mapping.triples)]
            sections.append((f"triples of a row of {stream.name}", "\n".join(lines)))
    return sections


def _service_settings(service: ServiceSettings) -> list[str]:
    return [
        f"policy.name = {service.policy.name}",
        f"budget.refreshes = {_budget(service)}",
        f"budget.start = {service.start}",
        *_qos(service.qos),
        f"policy.seed = {service.seed}",
        *_settings("client", service.client),
        *_settings("view", service.view),
        *_limits(service),
    ]


def _qos(qos: Qos) -> list[str]:
    """What is promised, if anything is."""
    lines = []
    if qos.freshness is not None:
        lines.append(f"qos.freshness = {qos.freshness}")
    if qos.deadline_ms is not None:
        lines.append(f"qos.deadline = {format_duration(qos.deadline_ms)}")
    return lines


def _limits(service: ServiceSettings) -> list[str]:
    """The limits there are; `burst` with the rate that it is for."""
    given = service.limits.given()
    if "burst" in given:
        given["burst"] += f" (of {service.limits.bursting})"
    lines = [f"limits.{name} = {value}" for name, value in given.items()]
    if service.limits.lasting:
        lines.append(f"limits.ledger = {service.ledger or 'in the checkpoint'}")
    return lines or ["limits: none"]


def _maintenance(service: ServiceSettings) -> list[str]:
    policy = service.policy
    lines = [_units(service)]
    if policy.saves:
        horizon, budget = _horizon(service.window), service.budget
        borrowed = (horizon - 1) * budget if policy.allocation is Allocation.FBA else 0
        lines.append(
            f"allocation: flexible, {budget} refreshes per evaluation on average; at most "
            f"{horizon * budget} saved for later, {borrowed} borrowed from it"
        )
    else:
        lines.append(f"allocation: fixed, {_budget(service)} refreshes at each evaluation")
    if service.start:
        lines.append(f"allocation: {service.start} more, once, to fill the view")
    lines.append(_view_start(service))
    if service.view.capacity is not None:
        lines.append(f"replacement: {_replacement(policy.replacement)}")
    return lines + _thresholds(service)


def _budget(service: ServiceSettings) -> str:
    return "as many" if service.budget == UNLIMITED else str(service.budget)


def _view_start(service: ServiceSettings) -> str:
    """How the view comes to have what it has, and what bounds it."""
    view = service.view
    if view.mode == "none":
        return "view: none; every evaluation asks for all that its window needs"
    if view.capacity is not None:
        return f"capacity: {view.capacity} units; the view starts empty"
    if not view.fill:
        return "capacity: none; the view starts with all that the service has"
    return (
        "capacity: none; the view is filled with what windows need, and lets go of what none of "
        f"the last {view.keep_windows} needed"
    )


def _units(service: ServiceSettings) -> str:
    unit, joined = listed(service.refresh_key), listed(service.join_key)
    line = f"unit: all view rows with the same {unit}; one refresh replaces them"
    if service.refresh_key == service.join_key:
        return f"{line}\njoin key: {joined}, one unit each (1:1)"
    return f"{line}\njoin key: {joined}; view rows link join keys with units (M:N)"


def _thresholds(service: ServiceSettings) -> list[str]:
    """The FILTER that Filter rankers look at, and those that they do not."""
    if service.threshold is None:
        return []
    first, *others = map(str, service.plan.thresholds)
    unused = f"; Filter rankers do not look at {', '.join(others)}" if others else ""
    return [f"FILTER threshold: {first}{unused}"]


def describe_query(query: ContinuousQuery, query_plan: QueryPlan) -> Sections:
    """The query in RSP-QL, its algebra after rewriting, its windows, join keys and units."""
    windows = [line for window in query_plan.windows for line in _window_lines(window)]
    services = [line for service in query_plan.services for line in _service_lines(service)]
    sections = [
        ("query", print_query(query)),
        ("algebra", describe_algebra(query_plan.around)),
        ("windows", "\n".join(windows)),
    ]
    return [*sections, ("services", "\n".join(services))] if services else sections


def _service_lines(plan: ServicePlan) -> list[str]:
    key = _names(plan.join_key)
    lines = [
        f"service: <{plan.iri}>, variables: {_names(plan.variables)}",
        f"join key: {key}, bound by {_bound_by(plan.bound_by)}",
        (
            f"unit: all view rows with the same {key}, unless a job's view.refresh_key says "
            "otherwise; one refresh replaces them"
        ),
    ]
    return lines + [f"FILTER threshold: {threshold}" for threshold in plan.thresholds]


def _bound_by(pattern: Pattern) -> str:
    """The WINDOW clauses that bind a join key, all of them or one of them, by their names."""
    match pattern:
        case Window(name) | Service(str(name)):
            return f"<{name}>"
        case Values():
            return "VALUES"
        case Extend(inner):
            return f"{_bound_by(inner)} through BIND"
        case Join(left, right) | Union(left, right):
            word = "and" if isinstance(pattern, Join) else "or"
            parts = dict.fromkeys(map(_bound_by, (left, right)))
            return f" {word} ".join(f"({part})" if " " in part else part for part in parts)
    return " and ".join(map(_bound_by, children(pattern)))


def _window_lines(plan: WindowPlan) -> list[str]:
    window = plan.window
    match window.extent:
        case TimeWindow(width, slide):
            spans = f"width {format_duration(width)}, slide {format_duration(slide)}"
        case CountWindow(size, step):
            spans = f"{size} elements, moving on by {step}"
    streams = ", ".join(f"<{stream}>" for stream in window.streams)
    return [
        f"window: <{window.name}> over {streams}, {spans}, variables: {_names(plan.variables)}",
        f"used outside: {_names(plan.outputs) or 'nothing but how many mappings there are'}",
        f"looks at: {', '.join(map(str, plan.needed)) or 'no triples'} (_ is any term)",
    ]


def _horizon(window: NamedWindow) -> int:
    """How many evaluations an element takes part in, at most."""
    match window.extent:
        case TimeWindow(width, slide) | CountWindow(width, slide):
            return SlidingWindow(width, slide).overlap


def _replacement(replacement: Replacement) -> str:
    name = next(name for name, kind in replacements.items() if isinstance(replacement, kind))
    given = [f"{one.name}={getattr(replacement, one.name)}" for one in fields(replacement)]  # type: ignore[arg-type]
    return f"{name}({', '.join(given)})" if given else name


def _settings(name: str, value: object) -> list[str]:
    if not is_dataclass(value):
        return [f"{name} = {value}"]
    lines = []
    for setting in fields(value):
        if setting.repr:
            lines += _settings(f"{name}.{setting.name}", getattr(value, setting.name))
    return lines


def _names(variables: tuple[Variable, ...]) -> str:
    return listed(variable.name for variable in variables)
