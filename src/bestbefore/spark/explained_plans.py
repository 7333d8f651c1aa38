"""The Spark plans of a query's two jobs, as text for people."""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from bestbefore.query import (
    ContinuousQuery,
    CountWindow,
    NamedWindow,
    QueryPlan,
    ServicePlan,
    TimeWindow,
)
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.answers import answer_job, evaluations
from bestbefore.spark.columns import AT, FRESH, OPENING, TIME, TRIPLE, WINDOW, column_of
from bestbefore.spark.content import WindowContents
from bestbefore.spark.session import tune
from bestbefore.spark.sql import name, quote
from bestbefore.spark.static_graphs import StaticGraphs
from bestbefore.spark.window_mappings import window_job
from bestbefore.windows import Instants, SlidingWindow

Sections = list[tuple[str, str]]
_WIDTH = 160


def describe_plans(spark: SparkSession, query: ContinuousQuery, plan: QueryPlan) -> Sections:
    """The Spark plans of the two jobs, over stand-ins for buffer, view and due windows."""
    session = tune(spark.newSession())
    instants = Instants(tuple(_stand_in(part.window) for part in plan.windows))
    # An empty or literal table would be optimised away, and the plan with it.
    rows = session.range(1)
    elements = rows.selectExpr(f"id AS {TIME}", *_texts(TRIPLE))
    streams = tuple(part.window.streams for part in plan.windows)
    contents = WindowContents(elements, instants, streams, 1, 1)
    job_a = window_job(plan, contents)
    due = rows.selectExpr(f"id AS {WINDOW}", f"id AS {AT}", f"id AS {OPENING}")
    answers = answer_job(
        query,
        plan,
        contents,
        mappings=job_a.mappings,
        slices=[_slice(rows, service) for service in plan.services],
        due=due,
        static=_static(query, rows),
    )
    return [
        ("Spark job A: windows and key statistics", _plan(job_a.statistics)),
        ("Spark job B: join and answers", _plan(evaluations(answers, due, contents))),
    ]


def _static(query: ContinuousQuery, rows: DataFrame) -> StaticGraphs:
    return StaticGraphs(
        default=rows.selectExpr(*_texts(TRIPLE)),
        named=rows.selectExpr(*_texts(("g", *TRIPLE))),
        names=tuple(encode(IRI(name)) for name in query.named_graphs),
    )


def _texts(columns: Iterable[str]) -> list[str]:
    # No two columns alike: what is known of one would decide what is asked of another.
    return [f"concat(id, {quote(column)}) AS {name(column)}" for column in columns]


def _stand_in(window: NamedWindow) -> SlidingWindow:
    match window.extent:
        case TimeWindow(width, slide) | CountWindow(width, slide):
            return SlidingWindow(width, slide)


def _slice(rows: DataFrame, plan: ServicePlan) -> DataFrame:
    texts = _texts(column_of(variable.name) for variable in plan.variables)
    return rows.selectExpr(f"id AS {WINDOW}", f"double(id) AS {FRESH}", *texts)


def _plan(frame: DataFrame) -> str:
    lines = str(frame._jdf.queryExecution().simpleString()).splitlines()
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:_WIDTH]} …" for line in lines)
