"""Graph patterns as DataFrames; every row says to which window, or windows, it belongs.

Inside WINDOW a mapping carries the range of windows it is found in and `time`, the earliest time of
its triples; outside, every row has one `window`.
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
from bestbefore.spark.columns import FROM_WINDOW, TIME, TO_WINDOW, column_of
from bestbefore.spark.expressions import compile_condition

_PLACES = ("s", "p", "o")
_STREAM = (FROM_WINDOW, TO_WINDOW, TIME)


class Graph(Protocol):
    """What a basic graph pattern is matched against: triples with their windows and time."""

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
    return graph.triples(wanted).select(FROM_WINDOW, TO_WINDOW, TIME, *columns)


def _name(term: Variable | BlankNode) -> str:
    """The column of a variable; a blank node is one that nothing outside the pattern sees."""
    return column_of(term.name) if isinstance(term, Variable) else f"_:{term.label}"


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    shared = [name for name in left.columns if name in right.columns and name not in _STREAM]
    if TIME not in left.columns or TIME not in right.columns:
        return left.join(right.hint("shuffle_hash"), shared)
    return _join_in_window(left, right, shared)


def _join_in_window(left: DataFrame, right: DataFrame, shared: list[str]) -> DataFrame:
    """A mapping is found in the windows that both of its parts are found in."""
    other = right.withColumnsRenamed({name: f"other_{name}" for name in _STREAM})
    joined = left.join(other, shared) if shared else left.crossJoin(other)
    kept = [name for name in joined.columns if name.removeprefix("other_") not in _STREAM]
    return joined.select(
        F.expr(f"greatest({FROM_WINDOW}, other_{FROM_WINDOW}) AS {FROM_WINDOW}"),
        F.expr(f"least({TO_WINDOW}, other_{TO_WINDOW}) AS {TO_WINDOW}"),
        F.expr(f"least({TIME}, other_{TIME}) AS {TIME}"),
        *(F.col(name) for name in kept),
    ).filter(f"{FROM_WINDOW} <= {TO_WINDOW}")
