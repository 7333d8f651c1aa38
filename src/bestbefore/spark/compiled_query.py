"""The Spark SQL of a query's jobs, compiled once; a batch binds window bounds and data to it.

Job A finds the mappings of the WINDOW clauses and collects their key statistics; job B joins the
mappings with the view slices and gives the answers. The tables are temporary views: the elements,
the mappings of each clause, the slice of each view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bestbefore.query import ContinuousQuery, OutputOperator, QueryPlan, ServicePlan, WindowPlan
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.answers import DUE, FIGURES, answer_rows, evaluations
from bestbefore.spark.columns import (
    EVALUATION,
    FINGERPRINT,
    FRESH,
    MAPPINGS,
    STREAM,
    TIME,
    TRIPLE,
    column_of,
)
from bestbefore.spark.content import WindowContents, gathered
from bestbefore.spark.output_stream import answer_columns, operator_of, to_stream
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.plan_size import check_size
from bestbefore.spark.relation import Relation, Statement, union_all
from bestbefore.spark.sql import NO_TERM, parameter
from bestbefore.spark.static_graphs import default_graph, named_graphs
from bestbefore.spark.window_mappings import (
    fingerprints,
    key_statistics,
    telling_service,
    window_mappings,
)
from bestbefore.windows import Instants, ReportStrategy

ELEMENTS_VIEW, NEW_VIEW, DUE_VIEW = "elements", "new_elements", "due"
ROWS_VIEW, PREVIOUS_VIEW = "answer_rows", "previous_rows"
_COLUMNS = (TIME, *TRIPLE, STREAM)


@dataclass(frozen=True)
class CompiledQuery:
    """The statements of a query's jobs.

    `rows` are those of the answers, up to the output operator; `lines` are the answers as JSON.
    Where the key statistics of a service tell all of a window's mappings, job B takes them from
    there: `told` has that service, or None, for each window. Where `repeating` is false, the
    statistics have the fingerprints of new elements, too.
    """

    repeating: bool

    told: tuple[int | None, ...]
    mappings: tuple[Statement, ...]
    statistics: Statement
    rows: Statement
    answers: Statement
    lines: Statement


def mappings_view(window: int) -> str:
    """The view of a WINDOW clause's mappings."""
    return f"mappings{window}"


def told_view(window: int) -> str:
    """The view of a WINDOW clause's mappings as the key statistics told them."""
    return f"told{window}"


def slice_view(service: int) -> str:
    """The view of what a SERVICE clause joins with."""
    return f"slice{service}"


def window_contents(
    instants: Instants,
    streams: tuple[tuple[str, ...], ...],
    *,
    together: bool = False,
    repeating: bool = True,
) -> WindowContents:
    """The content of windows that begin at a known time, over the view of the elements."""
    elements = Relation.table(ELEMENTS_VIEW, _COLUMNS)
    if together:
        elements = gathered(elements)
    return WindowContents(elements, instants, streams, together, repeating)


def compile_query(
    query: ContinuousQuery,
    plan: QueryPlan,
    contents: WindowContents,
    report: ReportStrategy = ReportStrategy.WINDOW_CLOSE,
    *,
    refresh_keys: Sequence[tuple[str, ...]] = (),
    row_freshness: bool = False,
) -> CompiledQuery:
    """The statements of a query over the content of its windows.

    The refresh keys of the services are their join keys unless others are given.
    """
    check_size(plan)
    joined = [tuple(variable.name for variable in service.join_key) for service in plan.services]
    found = [window_mappings(window, contents) for window in plan.windows]
    kept = [
        replace(one, relation=Relation.table(mappings_view(number), one.relation.columns))
        for number, one in enumerate(found)
    ]
    due = Relation(DUE, ("SELECT * FROM ", parameter("due")))
    if contents.together:
        due = gathered(due)
    told = tuple(telling_service(window, plan) for window in plan.windows)
    dataset = Dataset(
        windows=[
            one.by_evaluation() if service is None else _told(window, contents)
            for window, one, service in zip(plan.windows, kept, told, strict=True)
        ],
        services=[_slice(service, contents) for service in plan.services],
        origin=lambda: due,
        units=[tuple(map(column_of, key)) for key in refresh_keys or joined],
        join_keys=[tuple(map(column_of, key)) for key in joined],
    )
    if query.default_graphs or query.named_graphs:
        names = tuple(encode(IRI(graph)) for graph in query.named_graphs)
        dataset = replace(dataset, graph=default_graph(), named=named_graphs(), graph_names=names)
    rows = answer_rows(compile_solutions(plan.around, dataset).relation, query.form, contents)
    streamed = _streamed(query, rows, due)
    answers = evaluations(streamed, due, contents, row_freshness=row_freshness)
    shown = [column for column in answers.columns if column not in FIGURES]
    statistics = key_statistics(plan, contents, kept, report)
    if not contents.repeating:
        new = Relation.table(NEW_VIEW, (FINGERPRINT,))
        statistics = union_all([statistics, fingerprints(new)])
    return CompiledQuery(
        repeating=contents.repeating,
        told=told,
        mappings=tuple(one.relation.statement() for one in found),
        statistics=statistics.statement(),
        rows=rows.statement(),
        answers=answers.statement(),
        lines=answers.select(
            {
                **{column: column for column in (EVALUATION, *FIGURES)},
                "line": f"to_json(struct({', '.join(shown)}))",
            }
        ).statement(),
    )


def _told(window: WindowPlan, contents: WindowContents) -> Relation:
    """The mappings of a WINDOW clause as the key statistics told them."""
    variables = [column_of(variable.name) for variable in window.outputs]
    table = Relation.table(told_view(window.number), (EVALUATION, MAPPINGS, *variables))
    return contents.spread_by(table, EVALUATION, *variables)


def _slice(service: ServicePlan, contents: WindowContents) -> Relation:
    variables = [column_of(variable.name) for variable in service.variables]
    table = Relation.table(slice_view(service.number), (EVALUATION, FRESH, *variables))
    key = (column_of(variable.name) for variable in service.join_key)
    return contents.spread_by(table, EVALUATION, *key)


def _streamed(query: ContinuousQuery, rows: Relation, due: Relation) -> Relation:
    """What the output operator lets through of the rows, which are then a table of their own."""
    operator = operator_of(query)
    if operator is OutputOperator.RSTREAM:
        return rows
    columns = answer_columns(rows.columns)
    previous = Relation((EVALUATION, *columns), ("SELECT * FROM ", parameter("previous")))
    table = Relation.table(ROWS_VIEW, rows.columns)
    return to_stream(table, operator, due=due, previous=previous)


def no_previous_rows(columns: Iterable[str]) -> str:
    """The parameter `previous` where there was no answer yet."""
    listed = ", ".join(f"{NO_TERM} AS `{column}`" for column in columns)
    return f"(SELECT bigint(NULL) AS {EVALUATION}, {listed} WHERE FALSE)"


def previous_rows(first: int) -> str:
    """The parameter `previous`: the rows of the last answer, under the number of the next."""
    return f"(SELECT {first}L AS {EVALUATION}, * FROM {PREVIOUS_VIEW})"
