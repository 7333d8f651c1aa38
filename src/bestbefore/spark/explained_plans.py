"""The Spark plans of a query's two jobs, as text for people."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import zip_longest

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from bestbefore.query import ContinuousQuery, OutputOperator, QueryPlan, ServicePlan
from bestbefore.query.continuous import CountWindow, NamedWindow, TimeWindow
from bestbefore.spark.answers import DUE
from bestbefore.spark.columns import ELEMENTS, EVALUATION, FRESH, MAPPINGS, TRIPLE, column_of
from bestbefore.spark.compiled_query import (
    ELEMENTS_VIEW,
    ROWS_VIEW,
    compile_query,
    mappings_view,
    no_previous_rows,
    slice_view,
    told_view,
    window_contents,
)
from bestbefore.spark.content import bounds_of
from bestbefore.spark.output_stream import answer_columns, operator_of
from bestbefore.spark.relation import Statement, name_table
from bestbefore.spark.session import tune
from bestbefore.spark.sql import name
from bestbefore.spark.static_graphs import DEFAULT_GRAPH, NAMED_GRAPHS
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
    compiled = compile_query(query, plan, window_contents(instants, streams))
    _register(session, query, plan)
    parameters = bounds_of(instants, 1, 1)
    due = f"{', '.join(f'{column} BIGINT' for column in DUE)}"
    parameters |= {"due": _view(session, "due", due)}
    parameters |= {"previous": no_previous_rows(answer_columns(compiled.rows.columns))}
    with ExitStack() as kept:

        def keep(statement: Statement, view: str) -> None:
            frame = statement.on(session, parameters).persist()
            kept.callback(frame.unpersist)
            name_table(frame, view)

        # Job B reads the mappings that job A kept.
        for number, statement in enumerate(compiled.mappings):
            keep(statement, mappings_view(number))
        if operator_of(query) is not OutputOperator.RSTREAM:
            keep(compiled.rows, ROWS_VIEW)
        shown = set[str]()
        return [
            ("Spark job A: windows and key statistics",
             _plan(compiled.statistics.on(session, parameters), shown)),
            ("Spark job B: join and answers",
             _plan(compiled.answers.on(session, parameters), shown)),
        ]  # fmt: skip


def _register(session: SparkSession, query: ContinuousQuery, plan: QueryPlan) -> None:
    """Make the tables that the statements are about."""
    _view(session, ELEMENTS_VIEW, ELEMENTS)
    for service in plan.services:
        _view(session, slice_view(service.number), _slice_schema(service))
    for window in plan.windows:
        texts = _texts(column_of(variable.name) for variable in window.outputs)
        told = ", ".join(filter(None, (f"{EVALUATION} BIGINT, {MAPPINGS} BIGINT", texts)))
        _view(session, told_view(window.number), told)
    if query.default_graphs or query.named_graphs:
        _view(session, DEFAULT_GRAPH, _texts(TRIPLE))
        _view(session, NAMED_GRAPHS, _texts(("g", *TRIPLE)))


def _view(session: SparkSession, view: str, schema: StructType | str) -> str:
    """A table of which Spark knows no more than its columns, by its name.

    An empty or literal one would be optimised away, and the plan with it.
    """
    frame = session.createDataFrame(session.sparkContext.emptyRDD(), schema)
    name_table(frame, view)
    return view


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
