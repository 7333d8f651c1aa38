"""The Spark plans of a query's two jobs, as text for people."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from bestbefore.query import ContinuousQuery, QueryPlan, ServicePlan
from bestbefore.query.continuous import CountWindow, NamedWindow, TimeWindow
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.answers import evaluations, joined_rows
from bestbefore.spark.columns import AT, ELEMENTS, EVALUATION, FRESH, OPENING, TRIPLE, column_of
from bestbefore.spark.content import WindowContents
from bestbefore.spark.session import tune
from bestbefore.spark.sql import name
from bestbefore.spark.static_graphs import StaticGraphs
from bestbefore.spark.window_mappings import window_mappings
from bestbefore.windows import Instants, SlidingWindow

Sections = list[tuple[str, str]]
_WIDTH = 160
_BRANCHES = " :+-"
_KEPT = "InMemoryRelation"


def describe_plans(spark: SparkSession, query: ContinuousQuery, plan: QueryPlan) -> Sections:
    """The Spark plans of the two jobs, over stand-ins for buffer, view and due windows."""
    session = tune(spark.newSession())
    instants = Instants(tuple(_stand_in(clause.window) for clause in plan.windows))
    streams = tuple(clause.window.streams for clause in plan.windows)
    contents = WindowContents(_table(session, ELEMENTS), instants, streams, 1, 1)
    windows = window_mappings(plan, contents)
    # Job B reads the mappings that job A kept.
    windows.persist()
    try:
        due = _table(session, f"{EVALUATION} BIGINT, {AT} BIGINT, {OPENING} BIGINT")
        answers = joined_rows(
            query,
            plan,
            contents,
            mappings=windows.mappings,
            slices=[_table(session, _slice_schema(service)) for service in plan.services],
            due=due,
            static=_static(session, query),
        )
        shown = set[str]()
        return [
            ("Spark job A: windows and key statistics", _plan(windows.statistics, shown)),
            ("Spark job B: join and answers", _plan(evaluations(answers, due, contents), shown)),
        ]
    finally:
        windows.unpersist()


def _table(session: SparkSession, schema: StructType | str) -> DataFrame:
    """A table of which Spark knows no more than its columns.

    An empty or literal one would be optimised away, and the plan with it.
    """
    return session.createDataFrame(session.sparkContext.emptyRDD(), schema)


def _static(session: SparkSession, query: ContinuousQuery) -> StaticGraphs:
    return StaticGraphs(
        default=_table(session, _texts(TRIPLE)),
        named=_table(session, _texts(("g", *TRIPLE))),
        names=tuple(encode(IRI(graph)) for graph in query.named_graphs),
    )


def _texts(columns: Iterable[str]) -> str:
    return ", ".join(f"{name(column)} STRING" for column in columns)


def _slice_schema(plan: ServicePlan) -> str:
    texts = _texts(column_of(variable.name) for variable in plan.variables)
    return f"{EVALUATION} BIGINT, {FRESH} DOUBLE, {texts}"


def _stand_in(window: NamedWindow) -> SlidingWindow:
    match window.extent:
        case TimeWindow(width, slide) | CountWindow(width, slide):
            return SlidingWindow(width, slide)


def _plan(frame: DataFrame, shown: set[str]) -> str:
    lines = str(frame._jdf.queryExecution().simpleString()).splitlines()
    once = _once(lines, shown)
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:_WIDTH]} …" for line in once)


def _once(lines: list[str], shown: set[str]) -> Iterator[str]:
    """The lines of a plan, without how kept mappings are computed where that was shown before."""
    hidden: int | None = None
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        depth = len(line) - len(line.lstrip(_BRANCHES))
        if hidden is not None and depth > hidden:
            continue
        yield line
        computed = below.lstrip(_BRANCHES)
        hidden = depth if _KEPT in line and computed in shown else None
        if _KEPT in line:
            shown.add(computed)
