"""Static graphs: RDF files that are read once and count in every window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox
from pyspark.sql import SparkSession

from bestbefore.errors import InputError
from bestbefore.rdf.documents import Triple, encoded_triples
from bestbefore.rdf.terms import IRI, encode
from bestbefore.spark.columns import FROM_EVALUATION, TIME, TO_EVALUATION, TRIPLE
from bestbefore.spark.content import due_bound
from bestbefore.spark.relation import Relation, name_table
from bestbefore.spark.sql import name

DEFAULT_GRAPH, NAMED_GRAPHS = "default_graph", "named_graphs"


@dataclass(frozen=True)
class StaticGraph:
    """Triples that are always there; those of named graphs with the graph's name in `g`."""

    rows: Relation

    def triples(self, wanted: str, parts: Sequence[str] = TRIPLE) -> Relation:
        """The triples that satisfy a condition, in all due windows, without a time."""
        named = ("g",) if "g" in self.rows.columns else ()
        own = {column: name(column) for column in (*named, *parts)}
        always = {
            FROM_EVALUATION: due_bound(0, "length(s)"),
            TO_EVALUATION: due_bound(1, "length(s)"),
            TIME: "bigint(NULL)",
        }
        return self.rows.filter(wanted).select({**own, **always})


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
class StaticTables:
    """The static graphs of a query as they were read: the merged default graph, the named ones."""

    default: pa.Table
    named: pa.Table
    names: tuple[str, ...]

    def register(self, spark: SparkSession) -> None:
        """Let a session know the tables."""
        for view, table in ((DEFAULT_GRAPH, self.default), (NAMED_GRAPHS, self.named)):
            name_table(spark.createDataFrame(table), view)


def default_graph() -> StaticGraph:
    """The merged default graph."""
    return StaticGraph(Relation.table(DEFAULT_GRAPH, TRIPLE))


def named_graphs() -> StaticGraph:
    """The named graphs."""
    return StaticGraph(Relation.table(NAMED_GRAPHS, ("g", *TRIPLE)))


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
