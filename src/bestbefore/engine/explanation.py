"""What a job means, for people: effective settings, algebra, keys and Spark plans."""

from dataclasses import fields, is_dataclass

from pyspark.sql import DataFrame, SparkSession

from bestbefore.engine.job import Job
from bestbefore.engine.jobs import answer_job, window_job
from bestbefore.maintenance.replacement import Replacement, replacements
from bestbefore.query import ContinuousQuery, QueryPlan, Variable, describe_algebra, print_query
from bestbefore.spark.columns import FRESH, TIME, WINDOW, column_of
from bestbefore.spark.content import WindowContent
from bestbefore.spark.session import tune
from bestbefore.spark.sources import mapping_of
from bestbefore.time import format_duration
from bestbefore.windows import SlidingWindow

Sections = list[tuple[str, str]]
_WIDTH = 160


def describe_job(job: Job) -> Sections:
    """The effective job: every setting with its value, secrets left out."""
    lines = [f"policy.name = {job.policy.name}", f"budget.refreshes = {job.budget}"]
    lines += [f"policy.seed = {job.seed}", f"query.trigger = {job.trigger}"]
    for stream in job.streams:
        lines += _settings(f"streams.{stream.name}", stream)
    for name in ("service", "view", "sink"):
        lines += _settings(name, getattr(job, name))
    lines.append(f"checkpoint.path = {job.checkpoint}")
    maintenance = ("maintenance", "\n".join(_maintenance(job)))
    return [("job", "\n".join(lines)), *_row_mappings(job), maintenance]


def _row_mappings(job: Job) -> Sections:
    """The triples that a row of a stream gives, with the columns in braces."""
    sections = []
    for stream in job.streams:
        if stream.source is not None and (mapping := mapping_of(stream.source)) is not None:
            lines = [f"time: {{{mapping.timestamp}}}", *map(str, mapping.triples)]
            sections.append((f"triples of a row of {stream.name}", "\n".join(lines)))
    return sections


def _maintenance(job: Job) -> list[str]:
    policy, window = job.policy, job.plan.window
    horizon = SlidingWindow(window.width_ms, window.slide_ms).overlap
    lines = [_units(job)]
    if policy.flexible:
        lines.append(
            f"allocation: flexible, {job.budget} refreshes per evaluation on average; at most "
            f"{horizon * job.budget} saved for later, {(horizon - 1) * job.budget} borrowed from it"
        )
    else:
        lines.append(f"allocation: fixed, {job.budget} refreshes at each evaluation")
    if job.view.capacity is None:
        lines.append("capacity: none; the view starts with all that the service has")
    else:
        lines.append(f"capacity: {job.view.capacity} units; the view starts empty")
        lines.append(f"replacement: {_replacement(policy.replacement)}")
    return lines + _thresholds(job)


def _units(job: Job) -> str:
    unit, joined = (
        ", ".join(f"?{name}" for name in key) for key in (job.refresh_key, job.join_key)
    )
    line = f"unit: all view rows with the same {unit}; one refresh replaces them"
    if job.refresh_key == job.join_key:
        return f"{line}\njoin key: {joined}, one unit each (1:1)"
    return f"{line}\njoin key: {joined}; view rows link join keys with units (M:N)"


def _thresholds(job: Job) -> list[str]:
    """The FILTER that Filter rankers look at, and those that they do not."""
    if job.plan.threshold is None:
        return []
    first, *others = map(str, job.plan.thresholds)
    unused = f"; Filter rankers do not look at {', '.join(others)}" if others else ""
    return [f"FILTER threshold: {first}{unused}"]


def describe_query(query: ContinuousQuery, plan: QueryPlan) -> Sections:
    """The query in RSP-QL, its algebra, its join key and its units."""
    window = plan.window
    spans = f"width {format_duration(window.width_ms)}, slide {format_duration(window.slide_ms)}"
    keys = (
        f"window: <{window.name}> over <{window.stream}>, {spans}\n"
        f"window variables: {_names(plan.window_variables)}\n"
        f"service: <{plan.service.iri}>\n"
        f"service variables: {_names(plan.service_variables)}\n"
        f"join key: {_names(plan.join_key)}\n"
        f"unit: all view rows with the same {_names(plan.join_key)}, unless a job's "
        "view.refresh_key says otherwise; one refresh replaces them"
    )
    return [
        ("query", print_query(query)),
        ("algebra", describe_algebra(query.pattern)),
        ("join key and units", keys),
    ]


def describe_plans(spark: SparkSession, query: ContinuousQuery, plan: QueryPlan) -> Sections:
    """The Spark plans of the two jobs, over stand-ins for buffer, view and due windows."""
    session = tune(spark.newSession())
    window = SlidingWindow(plan.window.width_ms, plan.window.slide_ms)
    # An empty or literal table would be optimised away, and the plan with it.
    rows = session.range(1)
    elements = rows.selectExpr(f"id AS {TIME}", *(f"string(id) AS {name}" for name in "spo"))
    content = WindowContent(elements, window, 1, 1)
    job_a = window_job(plan, content)
    names = [column_of(each.name) for each in plan.service_variables]
    texts = [f"string(id) AS `{name}`" for name in names]
    answers = answer_job(
        query,
        plan,
        content,
        mappings=job_a.mappings,
        slices=rows.selectExpr(f"id AS {WINDOW}", f"double(id) AS {FRESH}", *texts),
        due=rows.selectExpr(f"id AS {WINDOW}"),
    )
    return [
        ("Spark job A: windows and key statistics", _plan(job_a.statistics)),
        ("Spark job B: join and answers", _plan(answers)),
    ]


def _replacement(replacement: Replacement) -> str:
    name = next(name for name, kind in replacements.items() if isinstance(replacement, kind))
    given = [f"{each.name}={getattr(replacement, each.name)}" for each in fields(replacement)]  # type: ignore[arg-type]
    return f"{name}({', '.join(given)})" if given else name


def _plan(frame: DataFrame) -> str:
    lines = str(frame._jdf.queryExecution().simpleString()).splitlines()
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:_WIDTH]} …" for line in lines)


def _settings(name: str, value: object) -> list[str]:
    if not is_dataclass(value):
        return [f"{name} = {value}"]
    lines = []
    for each in fields(value):
        if each.repr:
            lines += _settings(f"{name}.{each.name}", getattr(value, each.name))
    return lines


def _names(variables: tuple[Variable, ...]) -> str:
    return ", ".join(f"?{each.name}" for each in variables)
