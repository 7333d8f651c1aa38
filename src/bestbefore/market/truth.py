"""The truth: how fresh an answer is, found by running the query over the flagged triples.

A joined row is fresh only if all its triples are; with probabilities, which are taken to be
independent, it is fresh with their product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr, product

from bestbefore.market.estimates import Estimate
from bestbefore.market.shapes import Star
from bestbefore.query.algebra import Pattern
from bestbefore.spark.columns import FRESH, RANGE, TIME, TRIPLE
from bestbefore.spark.patterns import Dataset, compile_solutions
from bestbefore.spark.relation import Relation
from bestbefore.spark.session import session_like, tune

_numbers = count()
_CASE = "spark.sql.caseSensitive"


@dataclass(frozen=True)
class StoredTriples:
    """A store as the content of the only window there is."""

    rows: Relation

    def triples(self, wanted: str, parts: Sequence[str] = TRIPLE) -> Relation:
        """The triples that satisfy a condition, each with the probability that it is fresh."""
        del parts
        return self.rows.filter(wanted)


def true_estimate(store: DataFrame, pattern: Pattern) -> Estimate:
    """How many rows the answer has, and how many of them are fresh."""
    spark = store.sparkSession
    if spark.conf.get(_CASE) != "true":
        # Names of variables differ by case; the caller's own session is left as it is.
        spark = tune(session_like(spark))
    view = f"market_store_{next(_numbers)}"
    window = dict.fromkeys(RANGE, "length(s) * 0L") | {TIME: "CAST(NULL AS BIGINT)"}
    columns = [*TRIPLE, FRESH, *(f"{sql} AS {name}" for name, sql in window.items())]
    store.selectExpr(*columns).createOrReplaceGlobalTempView(view)
    rows = Relation.table(f"global_temp.{view}", (*TRIPLE, FRESH, *window))
    solutions = compile_solutions(pattern, Dataset(graph=StoredTriples(rows)))
    counts = {"total": "count(1)", FRESH: f"coalesce(sum({solutions.carried(FRESH)}), 0D)"}
    ((total, fresh),) = solutions.relation.group((), counts).statement().on(spark, {}).collect()
    spark.catalog.dropGlobalTempView(view)
    return Estimate(float(total), fresh)


def true_star_estimates(store: DataFrame, stars: Sequence[Star]) -> list[Estimate]:
    """The same for many stars at once: per subject and star, the product over its patterns.

    The stars have a variable for their subject and name all their predicates.
    """
    parts = [
        (number, place, part.p, part.bound[2], len(star.parts))
        for number, star in enumerate(stars)
        for place, part in enumerate(star.parts)
    ]
    kinds = "star INT, place INT, p STRING, bound STRING, parts INT"
    table = store.sparkSession.createDataFrame(parts, kinds).hint("broadcast")
    matched = store.join(table, "p").filter("bound IS NULL OR bound = o")
    own = matched.groupBy("star", "parts", "s", "place").agg(
        expr("CAST(count(1) AS DOUBLE) AS n"), expr(f"sum({FRESH}) AS f")
    )
    rows = own.groupBy("star", "parts", "s").agg(
        product("n").alias("n"), product("f").alias("f"), expr("count(1) AS found")
    )
    whole = (
        rows.filter("found = parts").groupBy("star").agg(expr("sum(n) AS n"), expr("sum(f) AS f"))
    )
    found = {row["star"]: Estimate(row["n"], row["f"]) for row in whole.collect()}
    return [found.get(number, Estimate(0.0, 0.0)) for number in range(len(stars))]
