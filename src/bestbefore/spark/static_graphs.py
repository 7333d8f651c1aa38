"""Static graphs: RDF files that are read once and count in every window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox
from pyspark.sql import Column, DataFrame, SparkSession

from bestbefore.errors import InputError
from bestbefore.rdf.documents import Triple, encoded_triples
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.columns import FROM_EVALUATION, TIME, TO_EVALUATION, TRIPLE


@dataclass(frozen=True)
class StaticGraph:
    """Triples that are always there; those of named graphs with the graph's name in `g`."""

    rows: DataFrame
    first: int
    last: int

    def triples(self, wanted: Column, parts: Sequence[str] = TRIPLE) -> DataFrame:
        """The triples that satisfy a condition, in all due windows, without a time."""
        named = ("g",) if "g" in self.rows.columns else ()
        always = (
            f"{self.first}L AS {FROM_EVALUATION}",
            f"{self.last}L AS {TO_EVALUATION}",
            f"CAST(NULL AS BIGINT) AS {TIME}",
        )
        return self.rows.filter(wanted).selectExpr(*named, *parts, *always)


def read_graph(path: Path, *, iri: str, scope: str) -> list[Triple]:
    """The triples of an RDF file as encoded terms; blank nodes are named after the scope.

    Relative IRIs are those relative to the graph's own.
    """
    if not path.is_file():
        raise InputError(f"no such file: {path} (a static graph)")
    kind = ox.RdfFormat.from_extension(path.suffix.removeprefix("."))
    if kind is None:
        raise InputError(
            f"{path}: unknown RDF format {path.suffix!r}; use .ttl, .nt, .rdf or .jsonld"
        )
    try:
        quads = ox.parse(path=str(path), format=kind, base_iri=iri)
        return encoded_triples(quads, scope=scope)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{path}: not {kind.name}: {error}") from None


@dataclass(frozen=True)
class StaticGraphs:
    """The static graphs of a query: the merged default graph, and the named ones."""

    default: DataFrame
    named: DataFrame
    names: tuple[str, ...]

    def during(self, first: int, last: int) -> tuple[StaticGraph, StaticGraph]:
        """The default graph and the named ones, for the evaluations from `first` to `last`."""
        return StaticGraph(self.default, first, last), StaticGraph(self.named, first, last)


@dataclass(frozen=True)
class StaticTables:
    """The static graphs of a query as they were read."""

    default: pa.Table
    named: pa.Table
    names: tuple[str, ...]

    def on(self, spark: SparkSession) -> StaticGraphs:
        """The graphs as DataFrames of a session."""
        default, named = map(spark.createDataFrame, (self.default, self.named))
        return StaticGraphs(default, named, self.names)


def read_graphs(
    default: Sequence[str], named: Sequence[str], paths: Mapping[str, Path]
) -> StaticTables:
    """Read the graphs of a query from the files that stand for their IRIs."""
    wanted = dict.fromkeys((*default, *named))
    read = {
        iri: read_graph(paths[iri], iri=iri, scope=f"g{number}")
        for number, iri in enumerate(wanted)
    }
    return StaticTables(
        default=_table("spo", {triple for iri in default for triple in read[iri]}),
        named=_table(
            "gspo", {(encode(IRI(iri)), *triple) for iri in named for triple in read[iri]}
        ),
        names=tuple(encode(IRI(iri)) for iri in named),
    )


def _table(names: str, rows: set[tuple[str, ...]]) -> pa.Table:
    columns: list[Sequence[str]] = list(zip(*sorted(rows), strict=True)) or [[] for _ in names]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=list(names))
