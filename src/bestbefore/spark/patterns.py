"""Graph patterns as DataFrames; every row belongs to a window.

Each compiled pattern has the column `window`, a column per variable in scope, and where it comes
from the stream `time`, the earliest time of the triples behind a mapping.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query.algebra import (
    BGP,
    Filter,
    Join,
    Pattern,
    PatternTerm,
    Service,
    TriplePattern,
    Variable,
    Window,
)
from bestbefore.rdf.terms import BlankNode, encode
from bestbefore.spark.columns import TIME, WINDOW, column_of
from bestbefore.spark.expressions import compile_condition

_PLACES = ("s", "p", "o")


class Graph(Protocol):
    """What a basic graph pattern is matched against: triples with their window and time."""

    def triples(self, wanted: Column) -> DataFrame:
        """The triples that satisfy a condition on `s`, `p` and `o`."""
        ...


@dataclass(frozen=True)
class Dataset:
    """What the leaves of a pattern stand for: a graph, or the mappings of a clause by its name."""

    graph: Graph | None = None
    windows: Mapping[str, DataFrame] | None = None
    services: Mapping[str, DataFrame] | None = None


def compile_pattern(pattern: Pattern, dataset: Dataset) -> DataFrame:
    """The mappings of a pattern, for all windows at once."""
    match pattern:
        case BGP(patterns):
            assert dataset.graph is not None  # noqa: S101 - the plan puts BGPs inside WINDOW
            return reduce(_join, (_match(each, dataset.graph) for each in patterns))
        case Join(left, right):
            return _join(compile_pattern(left, dataset), compile_pattern(right, dataset))
        case Filter(condition, inner):
            return compile_pattern(inner, dataset).filter(compile_condition(condition))
        case Window(name, _):
            return (dataset.windows or {})[name]
        case Service(iri, _, _):
            return (dataset.services or {})[iri]
        case _:
            assert_never(pattern)


def _match(pattern: TriplePattern, graph: Graph) -> DataFrame:
    places = list(zip(_PLACES, (pattern.subject, pattern.predicate, pattern.object), strict=True))
    fixed = [F.col(place) == encode(term) for place, term in places if not _open(term)]
    named = [(place, _name(term)) for place, term in places if _open(term)]
    first = {name: place for place, name in reversed(named)}
    equal = [F.col(place) == F.col(first[name]) for place, name in named if first[name] != place]
    wanted = reduce(lambda one, other: one & other, [*fixed, *equal], F.lit(True))  # noqa: FBT003
    columns = [F.col(place).alias(name) for name, place in first.items()]
    return graph.triples(wanted).select(WINDOW, TIME, *columns)


def _open(term: PatternTerm) -> bool:
    return isinstance(term, Variable | BlankNode)


def _name(term: PatternTerm) -> str:
    """Blank nodes of a pattern are variables that nothing outside the pattern sees."""
    return column_of(term.name) if isinstance(term, Variable) else f"_:{term.label}"  # type: ignore[union-attr]


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    shared = [name for name in left.columns if name in right.columns and name != TIME]
    if TIME not in left.columns or TIME not in right.columns:
        return left.join(right.hint("shuffle_hash"), shared)
    joined = left.join(right.withColumnRenamed(TIME, "other_time"), shared)
    return joined.withColumn(TIME, F.least(TIME, "other_time")).drop("other_time")
