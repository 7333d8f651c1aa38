"""Answers: the solutions of all due windows as one row per evaluation."""

from functools import cache, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query.algebra import Construct, PatternTerm, Select, TriplePattern, Variable
from bestbefore.rdf.terms import BlankNode, encode
from bestbefore.spark import terms
from bestbefore.spark.columns import FRESH, MAPPINGS, WINDOW, column_of
from bestbefore.spark.content import WindowContent

_EVERY_ROW = (f"{WINDOW} AS `#`", f"{FRESH} AS `~`")
_TRIPLE = ("subject", "predicate", "object")


def answer_rows(solutions: DataFrame, form: Select | Construct) -> DataFrame:
    """The rows of the answer: `window`, a column per answer column, and `fresh`."""
    if isinstance(form, Construct):
        return _construct(solutions, form)
    names = [each.name for each in form.projection]
    columns = [F.col(column_of(name)).alias(name) for name in names]
    if form.distinct:
        return _distinct(solutions.select(*map(F.expr, _EVERY_ROW), *columns), names)
    # Equal mappings were counted, not kept: each comes back as often as it was found.
    copies = F.expr(f"explode(sequence(1L, {MAPPINGS}))")
    return solutions.select(*map(F.expr, _EVERY_ROW), *columns, copies.alias("+")).drop("+")


def evaluations(rows: DataFrame, due: DataFrame, content: WindowContent) -> DataFrame:
    """One row per due evaluation: its number, time, window and rows as JSON result terms.

    `count` and `fresh` are for the quality record; they are not part of the answer.
    """
    names = [name for name in rows.columns if name not in ("#", "~")]
    row = F.struct(*names)
    kind = rows.select(row.alias("row")).schema["row"].dataType
    nothing = due.select(
        F.col(WINDOW).alias("#"), F.lit(None).cast(kind).alias("row"), F.lit(None).alias("~")
    )
    found = rows.select("#", row.alias("row"), "~")
    # collect_list passes over nulls: an evaluation without rows has an empty list.
    window = content.window
    grouped = (
        content.spread_by(found.unionByName(nothing), "#")
        .groupBy("#")
        .agg(
            F.array_sort(F.collect_list("row")).alias("row"),
            F.count("row").alias("count"),
            F.avg("~").alias(FRESH),
        )
    )
    at = f"`#` * {window.slide_ms} + {window.t0_ms}"
    return grouped.select(
        F.col("#").alias("evaluation"),
        F.expr(f"{at} AS at"),
        F.expr(f"array({at} - {window.width_ms}, {at}) AS window"),
        _json_rows(tuple(names)).alias("rows"),
        "count",
        FRESH,
    )


@cache
def _json_rows(names: tuple[str, ...]) -> Column:
    """The column `row` with every term in JSON form, built once per query."""
    return F.transform(
        "row", lambda each: F.struct(*(terms.json_term(each[name]).alias(name) for name in names))
    )


def _construct(solutions: DataFrame, form: Construct) -> DataFrame:
    triples = [_instance(solutions, each) for each in form.template]
    rows = reduce(DataFrame.unionByName, triples)
    subject, predicate = F.col("subject"), F.col("predicate")
    legal = ~terms.is_literal(subject) & terms.is_iri(predicate) & F.col("object").isNotNull()
    return _distinct(rows.filter(legal), list(_TRIPLE))


def _instance(solutions: DataFrame, template: TriplePattern) -> DataFrame:
    places = (template.subject, template.predicate, template.object)
    columns = [
        _term(solutions, each).alias(name) for each, name in zip(places, _TRIPLE, strict=True)
    ]
    return solutions.select(*map(F.expr, _EVERY_ROW), *columns)


def _term(solutions: DataFrame, term: PatternTerm) -> Column:
    match term:
        case Variable(name):
            return F.col(column_of(name))
        case BlankNode(label):
            # A template's blank node is a new one per solution; the solution names it.
            identity = [name for name in solutions.columns if name != FRESH]
            return F.concat(F.lit(f"_:{label}x"), F.hex(F.xxhash64(*identity)))
        case _:
            return F.lit(encode(term))


def _distinct(rows: DataFrame, names: list[str]) -> DataFrame:
    """Rows without repetitions; a row is fresh if any of the mappings behind it is."""
    return rows.groupBy("#", *names).agg(F.max("~").alias("~"))
