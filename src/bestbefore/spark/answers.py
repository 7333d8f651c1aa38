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

from bestbefore.query import ContinuousQuery, QueryPlan
from bestbefore.query.algebra import (
    Ask,
    Construct,
    Describe,
    Form,
    PatternTerm,
    Select,
    TriplePattern,
    Variable,
)
from bestbefore.rdf.terms import BlankNode, encode
from bestbefore.spark import terms
from bestbefore.spark.columns import (
    AT,
    FRESH,
    FROM_WINDOW,
    MAPPINGS,
    OPENING,
    PLACE,
    REMAINING,
    TO_WINDOW,
    WINDOW,
    column_of,
)
from bestbefore.spark.content import WindowContents
from bestbefore.spark.patterns import Dataset, TripleSource, compile_pattern
from bestbefore.spark.sql import NO_TERM, Cheap, name, quote
from bestbefore.spark.static_graphs import StaticGraphs
from bestbefore.windows import Timeline

_NUMBER, _SHARE, _ORDER = "#", "~", "+"
_OWN = (_NUMBER, _SHARE, _ORDER)
_TRIPLE = ("subject", "predicate", "object")
_NO_TRIPLE = "named_struct(" + ", ".join(f"'{each}', {NO_TERM}" for each in _TRIPLE) + ")"
_BOOLEAN = "boolean"


def answer_job(  # noqa: PLR0913 - what an answer is made of
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
        contents.spread_by(frame, WINDOW, *(column_of(key.name) for key in service.join_key))
        for service, frame in zip(plan.services, slices, strict=True)
    ]
    dataset = Dataset(windows=windows, services=services, origin=lambda: due)
    if static is not None:
        span = contents.first, contents.last
        dataset = replace(
            dataset,
            graph=static.default_graph(*span),
            named=static.named_graphs(*span),
            graph_names=static.names,
        )
    return answer_rows(compile_pattern(plan.around, dataset), query.form, contents)


def due_frame(spark: SparkSession, due: list[int], timeline: Timeline) -> DataFrame:
    """The due evaluations as a DataFrame: their numbers, times, and when their windows open."""
    spans = [timeline.window(each) for each in due]
    table = pa.table(
        {
            WINDOW: pa.array(due, pa.int64()),
            AT: pa.array([at for _, at in spans], pa.int64()),
            OPENING: pa.array([opening for opening, _ in spans], pa.int64()),
        }
    )
    return spark.createDataFrame(table)


def answer_rows(solutions: DataFrame, form: Form, graph: TripleSource | None = None) -> DataFrame:
    """The rows of the answer: a column per answer column, and `#`, `~` and `+`.

    These are the window, how probably the row is fresh, and its place in the order, if it has one.
    `graph` holds what DESCRIBE describes.
    """
    match form:
        case Select(projection):
            return _select(solutions, [each.name for each in projection])
        case Construct(template):
            return _construct(solutions, template)
        case Ask():
            return _first_columns(solutions).selectExpr(*map(name, _OWN), f"TRUE AS {_BOOLEAN}")
        case Describe(described):
            assert graph is not None  # noqa: S101 - whoever answers knows the data
            return _describe(solutions, described, graph)
    assert_never(form)


def evaluations(rows: DataFrame, due: DataFrame, contents: WindowContents) -> DataFrame:
    """One row per due evaluation: its number, time, window and rows as JSON result terms.

    `due` has the numbers, times and openings of the evaluations. `count` and `fresh` are for the
    quality record; they are not part of the answer.
    """
    names = tuple(each for each in rows.columns if each not in _OWN)
    row = f"struct({', '.join(map(name, (_ORDER, *names)))})"
    found = rows.selectExpr(name(_NUMBER), f"{row} AS row", name(_SHARE))
    every = due.selectExpr(f"{WINDOW} AS {name(_NUMBER)}", AT, OPENING)
    # collect_list passes over nulls: an evaluation without rows has an empty list.
    grouped = (
        contents.spread_by(found.unionByName(every, allowMissingColumns=True), _NUMBER)
        .groupBy(name(_NUMBER))
        .agg(
            F.expr("array_sort(collect_list(row)) AS row"),
            F.expr("count(row) AS count"),
            F.expr(f"avg({name(_SHARE)}) AS {FRESH}"),
            F.expr(f"max({AT}) AS {AT}"),
            F.expr(f"max({OPENING}) AS {OPENING}"),
        )
    )
    # A window that is not reported is due all the same: without a SERVICE it has rows.
    return grouped.filter(f"{AT} IS NOT NULL").selectExpr(
        f"{name(_NUMBER)} AS evaluation",
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
        f"{quote(each)}, {terms.json_term(Cheap(f'each.{name(each)}'))}" for each in names
    )
    return f"transform(row, each -> named_struct({fields}))"


def _first_columns(solutions: DataFrame) -> DataFrame:
    """The solutions with the columns that every answer has; absent ones have their meaning."""
    absent = {FRESH: "CAST(NULL AS DOUBLE)", PLACE: "CAST(NULL AS INT)", MAPPINGS: "1L"}
    own = {each: each if each in solutions.columns else sql for each, sql in absent.items()}
    return solutions.selectExpr(
        f"{WINDOW} AS {name(_NUMBER)}",
        f"{own[FRESH]} AS {name(_SHARE)}",
        f"{own[PLACE]} AS {name(_ORDER)}",
        f"{own[MAPPINGS]} AS copies",
        "*",
    )


def _select(solutions: DataFrame, names: list[str]) -> DataFrame:
    # Equal mappings were counted, not kept: each comes back as often as it was found.
    copied = MAPPINGS in solutions.columns
    columns = [f"{name(column_of(each))} AS {name(each)}" for each in names]
    copies = ["explode(sequence(1L, copies)) AS copies"] if copied else []
    rows = _first_columns(solutions).selectExpr(*map(name, _OWN), *columns, *copies)
    return rows.drop("copies") if copied else rows


def _construct(solutions: DataFrame, template: tuple[TriplePattern, ...]) -> DataFrame:
    identity = [each for each in solutions.columns if each not in (FRESH, MAPPINGS)]
    triples = ", ".join(_instance(each, identity) for each in template) or _NO_TRIPLE
    return _distinct_triples(_with_triples(solutions, f"array({triples})"))


def _with_triples(solutions: DataFrame, triples: str) -> DataFrame:
    return _first_columns(solutions).selectExpr(name(_NUMBER), name(_SHARE), f"inline({triples})")


def _instance(template: TriplePattern, identity: list[str]) -> str:
    terms_ = (template.subject, template.predicate, template.object)
    fields = (
        f"'{place}', {_term(each, identity)}" for place, each in zip(_TRIPLE, terms_, strict=True)
    )
    return f"named_struct({', '.join(fields)})"


def _term(term: PatternTerm, identity: list[str]) -> str:
    match term:
        case Variable(variable):
            return name(column_of(variable))
        case BlankNode(label):
            # A template's blank node is a new one per solution; the solution names it.
            hashed = f"hex(xxhash64({', '.join(map(name, identity))}))"
            return f"concat({quote(f'_:{label}x')}, {hashed})"
        case _:
            return quote(encode(term))


def _describe(
    solutions: DataFrame, described: tuple[Variable | PatternTerm, ...], graph: TripleSource
) -> DataFrame:
    """The triples whose subject is one of the terms, in the windows in which they are found."""
    listed = ", ".join(_term(each, []) for each in described)
    wanted = _first_columns(solutions).selectExpr(
        name(_NUMBER), name(_SHARE), f"explode(array({listed})) AS subject"
    )
    known = graph.triples(F.expr("TRUE")).selectExpr(
        "s AS subject", "p AS predicate", "o AS object", FROM_WINDOW, TO_WINDOW
    )
    found = wanted.join(known, "subject").filter(
        f"{name(_NUMBER)} BETWEEN {FROM_WINDOW} AND {TO_WINDOW}"
    )
    return _distinct_triples(found)


def _distinct_triples(rows: DataFrame) -> DataFrame:
    """The legal triples without repetitions; one is fresh if any of those behind it is."""
    legal = (
        f"NOT {terms.is_literal('subject')} AND {terms.is_iri('predicate')} AND object IS NOT NULL"
    )
    share = F.expr(f"max({name(_SHARE)}) AS {name(_SHARE)}")
    found = rows.filter(legal).groupBy(name(_NUMBER), *_TRIPLE).agg(share)
    return found.selectExpr("*", f"CAST(NULL AS INT) AS {name(_ORDER)}")
