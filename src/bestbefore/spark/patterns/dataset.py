"""What a query is evaluated on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column, DataFrame

from bestbefore.query.algebra import Service, Window
from bestbefore.spark.columns import TRIPLE


class TripleSource(Protocol):
    """What triple patterns are matched against: triples and the range of windows they count in."""

    def triples(self, wanted: Column, parts: Sequence[str] = TRIPLE) -> DataFrame:
        """The triples that satisfy a condition, which differ in nothing but in `parts`.

        They have those of the columns `s`, `p`, `o`, the range `from_evaluation` to
        `to_evaluation`, and `time`, which may be null for a triple that is always there; those of
        named graphs also `g`, an encoded IRI.
        """
        ...


@dataclass(frozen=True)
class Dataset:
    """What the leaves of a pattern stand for: triples, or the mappings of a clause by its number.

    `origin` gives what is evaluated: one row per `evaluation`, or a single row with the range
    `from_evaluation` to `to_evaluation`. It is asked for by what has a solution where there is
    no triple: an empty group, VALUES, an aggregate of nothing. `graph_names` are the encoded IRIs
    of the named graphs.
    """

    graph: TripleSource | None = None
    windows: Sequence[DataFrame] = ()
    services: Sequence[DataFrame] = ()
    origin: Callable[[], DataFrame] | None = None
    named: TripleSource | None = None
    graph_names: tuple[str, ...] = ()

    def mappings(self, clause: Window | Service) -> DataFrame:
        """The mappings of a clause."""
        assert clause.number is not None  # noqa: S101 - a plan numbers its clauses
        return (self.windows if isinstance(clause, Window) else self.services)[clause.number]
