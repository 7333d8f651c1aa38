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
    Service,
    TriplePattern,
    Variable,
    Window,
)
from bestbefore.rdf.terms import IRI, BlankNode, Literal, encode
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
    wanted, first = F.lit(True), dict[str, str]()  # noqa: FBT003
    for place, term in zip(
        _PLACES, (pattern.subject, pattern.predicate, pattern.object), strict=True
    ):
        match term:
            case IRI() | Literal():
                wanted &= F.col(place) == encode(term)
            case Variable() | BlankNode():
                # A variable that stands twice in a pattern wants the same term twice.
                earlier = first.setdefault(_name(term), place)
                wanted &= F.lit(True) if earlier == place else F.col(place) == F.col(earlier)  # noqa: FBT003
            case _:
                assert_never(term)
    columns = [F.col(place).alias(name) for name, place in first.items()]
    return graph.triples(wanted).select(WINDOW, TIME, *columns)


def _name(term: Variable | BlankNode) -> str:
    """The column of a variable; a blank node is one that nothing outside the pattern sees."""
    return column_of(term.name) if isinstance(term, Variable) else f"_:{term.label}"


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    shared = [name for name in left.columns if name in right.columns and name != TIME]
    if TIME not in left.columns or TIME not in right.columns:
        return left.join(right.hint("shuffle_hash"), shared)
    joined = left.join(right.withColumnRenamed(TIME, "other_time"), shared)
    return joined.withColumn(TIME, F.least(TIME, "other_time")).drop("other_time")
