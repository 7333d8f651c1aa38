"""The dataset of a query: the graphs that FROM and FROM NAMED name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatasetClause:
    """The IRIs of the graphs that make the default graph, and of the named graphs."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
