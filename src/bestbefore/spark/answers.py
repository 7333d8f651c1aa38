"""Job B of a batch: mappings and view slices joined, and answers as one row per evaluation.

SELECT answers with a row per mapping; CONSTRUCT and DESCRIBE with a row per triple, in the columns
`subject`, `predicate` and `object`; ASK with one row, whose `boolean` says whether there is any
mapping.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query import ContinuousQuery, QueryPlan, algebra
from bestbefore.query.algebra import Form, PatternTerm, TriplePattern, Variable
from bestbefore.rdf.terms import BlankNode, encode
from bestbefore.spark import terms
from bestbefore.spark.columns import (
    AT,
    EVALUATION,
    FRESH,
    FROM_EVALUATION,
    MAPPINGS,
    OPENING,
    POSITION,
    REMAINING,
    TO_EVALUATION,
    column_of,
)
from bestbefore.spark.content import WindowContents
from bestbefore.spark.output_stream import OWN
from bestbefore.spark.patterns import Dataset, TripleSource, compile_pattern
from bestbefore.spark.sql import NO_TERM, Cheap, name, quote, quoted
from bestbefore.spark.static_graphs import StaticGraphs
from bestbefore.windows import Timeline

_TRIPLE = ("subject", "predicate", "object")
_NO_TRIPLE = "named_struct(" + ", ".join(f"'{part}', {NO_TERM}" for part in _TRIPLE) + ")"
_BOOLEAN = "boolean"


def joined_rows(  # noqa: PLR0913 - what an answer is made of
    query: ContinuousQuery,
    plan: QueryPlan,
    contents: WindowContents,
    *,
    mappings: Sequence[DataFrame],
    slices: Sequence[DataFrame],
    due: DataFrame,
    static: StaticGraphs | None = None,
) -> DataFrame:
    """Job B: the WINDOW mappings joined with the view slices, up to the rows of the answers."""
    windows = [frame.drop(REMAINING) for frame in mappings]
    services = [
        contents.spread_by(frame, EVALUATION, *(column_of(key.name) for key in service.join_key))
        for service, frame in zip(plan.services, slices, strict=True)
    ]
    dataset = Dataset(windows=windows, services=services, origin=lambda: due)
    if static is not None:
        graph, named = static.during(contents.first, contents.last)
        dataset = replace(dataset, graph=graph, named=named, graph_names=static.names)
    return answer_rows(compile_pattern(plan.around, dataset), query.form, contents)


def due_frame(spark: SparkSession, due: list[int], timeline: Timeline) -> DataFrame:
    """The due evaluations as a DataFrame: their numbers, times, and when their windows open."""
    spans = [timeline.window(evaluation) for evaluation in due]
    table = pa.table(
        {
            EVALUATION: pa.array(due, pa.int64()),
            AT: pa.array([at for _, at in spans], pa.int64()),
            OPENING: pa.array([opening for opening, _ in spans], pa.int64()),
        }
    )
    return spark.createDataFrame(table)


def answer_rows(solutions: DataFrame, form: Form, graph: TripleSource | None = None) -> DataFrame:
    """The rows of the answer: what every answer has (`OWN`), and a column per answer column.

    Those of variables keep their `?`, so that no variable collides with what is the engine's own.
    `graph` holds what DESCRIBE describes.
    """
    match form:
        case algebra.Select(projection):
            return _select(solutions, [column_of(variable.name) for variable in projection])
        case algebra.Construct(template):
            return _construct(solutions, template)
        case algebra.Ask():
            return solutions.selectExpr(*_own(solutions), f"TRUE AS {_BOOLEAN}")
        case algebra.Describe(described):
            assert graph is not None  # noqa: S101 - whoever answers knows the data
            return _describe(solutions, described, graph)
    assert_never(form)


def evaluations(rows: DataFrame, due: DataFrame, contents: WindowContents) -> DataFrame:
    """One row per due evaluation: its number, time, window and rows as JSON result terms.

    `due` has the numbers, times and openings of the evaluations. `count` and `fresh` are for the
    quality record; they are not part of the answer.
    """
    names = tuple(column for column in rows.columns if column not in OWN)
    found = rows.selectExpr(
        EVALUATION, f"struct({', '.join(quoted((POSITION, *names)))}) AS row", FRESH
    )
    every = due.select(EVALUATION, AT, OPENING)
    # collect_list passes over nulls: an evaluation without rows has an empty list.
    grouped = (
        contents.spread_by(found.unionByName(every, allowMissingColumns=True), EVALUATION)
        .groupBy(EVALUATION)
        .agg(
            F.expr("array_sort(collect_list(row)) AS row"),
            F.expr("count(row) AS count"),
            F.expr(f"avg({FRESH}) AS {FRESH}"),
            F.expr(f"max({AT}) AS {AT}"),
            F.expr(f"max({OPENING}) AS {OPENING}"),
        )
    )
    # A window that is not reported is due all the same: without a SERVICE it has rows.
    return grouped.filter(f"{AT} IS NOT NULL").selectExpr(
        EVALUATION,
        AT,
        f"array({OPENING}, {AT}) AS window",
        f"{_json_rows(names)} AS rows",
        "count",
        FRESH,
    )


def _json_rows(names: tuple[str, ...]) -> str:
    """The column `row` with every term in JSON form; that of ASK always has one."""
    if names == (_BOOLEAN,):
        return f"array(named_struct('{_BOOLEAN}', size(row) > 0))"
    fields = ", ".join(
        f"{quote(column.removeprefix('?'))}, {terms.json_term(Cheap(f'mapping.{name(column)}'))}"
        for column in names
    )
    return f"transform(row, mapping -> named_struct({fields}))"


def _own(solutions: DataFrame) -> list[str]:
    """What every answer has; what the solutions do not have is null."""
    absent = {FRESH: "CAST(NULL AS DOUBLE)", POSITION: "CAST(NULL AS INT)"}
    return [
        column if column in solutions.columns else f"{absent[column]} AS {column}" for column in OWN
    ]


def _select(solutions: DataFrame, columns: list[str]) -> DataFrame:
    # Equal mappings were counted, not kept: each comes back as often as it was found.
    copies = [f"explode(sequence(1L, {MAPPINGS})) AS copy"] * (MAPPINGS in solutions.columns)
    return solutions.selectExpr(*_own(solutions), *quoted(columns), *copies).drop("copy")


def _construct(solutions: DataFrame, template: tuple[TriplePattern, ...]) -> DataFrame:
    identity = [column for column in solutions.columns if column not in (FRESH, MAPPINGS)]
    triples = ", ".join(_instance(triple, identity) for triple in template) or _NO_TRIPLE
    return _distinct_triples(solutions.selectExpr(*_own(solutions), f"inline(array({triples}))"))


def _instance(template: TriplePattern, identity: list[str]) -> str:
    terms_ = (template.subject, template.predicate, template.object)
    fields = (
        f"'{part}', {_term(term, identity)}" for part, term in zip(_TRIPLE, terms_, strict=True)
    )
    return f"named_struct({', '.join(fields)})"


def _term(term: PatternTerm, identity: list[str]) -> str:
    match term:
        case Variable(variable):
            return name(column_of(variable))
        case BlankNode(label):
            # A template's blank node is a new one per solution; the solution names it.
            hashed = f"hex(xxhash64({', '.join(quoted(identity))}))"
            return f"concat({quote(f'_:{label}x')}, {hashed})"
        case _:
            return quote(encode(term))


def _describe(
    solutions: DataFrame, described: tuple[Variable | PatternTerm, ...], graph: TripleSource
) -> DataFrame:
    """The triples whose subject is one of the terms, in the windows in which they are found."""
    listed = ", ".join(_term(term, []) for term in described)
    wanted = solutions.selectExpr(*_own(solutions), f"explode(array({listed})) AS subject")
    known = graph.triples(F.expr("TRUE")).selectExpr(
        "s AS subject", "p AS predicate", "o AS object", FROM_EVALUATION, TO_EVALUATION
    )
    found = wanted.join(known, "subject").filter(
        f"{EVALUATION} BETWEEN {FROM_EVALUATION} AND {TO_EVALUATION}"
    )
    return _distinct_triples(found)


def _distinct_triples(rows: DataFrame) -> DataFrame:
    """The legal triples without repetitions; one is fresh if any of those behind it is."""
    legal = (
        f"NOT {terms.is_literal('subject')} AND {terms.is_iri('predicate')} AND object IS NOT NULL"
    )
    found = rows.filter(legal).groupBy(EVALUATION, *_TRIPLE).agg(F.max(FRESH).alias(FRESH))
    return found.selectExpr(*_own(found), *_TRIPLE)
