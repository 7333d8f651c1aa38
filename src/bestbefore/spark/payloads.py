"""RDF documents inside events, in the five syntaxes that RDF is written in.

N-Triples and N-Quads are read by Spark itself; Turtle, TriG and JSON-LD by pyoxigraph inside Arrow
batches. A window is one graph, so the graphs that a quad names are left out. Blank nodes are named
after their event: a repeated read gives the same names, and two events never share one.
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Literal, get_args

import pyarrow as pa
import pyoxigraph as ox
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, StructField, StructType

from bestbefore.errors import WorkError
from bestbefore.rdf.documents import Triple, encoded_triples
from bestbefore.spark import ntriples
from bestbefore.spark.columns import EVENT
from bestbefore.spark.intake import TRIPLE_TYPE, TRIPLES

Payload = Literal["ntriples", "nquads", "turtle", "trig", "json-ld"]
PAYLOADS: tuple[Payload, ...] = get_args(Payload)
_FORMATS = {
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "nquads": ox.RdfFormat.N_QUADS,
    "turtle": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "json-ld": ox.RdfFormat.JSON_LD,
}
SYNTAX = {payload: kind.name for payload, kind in _FORMATS.items()}
# The parser goes down recursively, and beyond some thousand levels it takes its process with it.
_DEEPEST = 500
_LACKING = re.compile(r"No module named '[\w.]+'|Cannot run program \"[^\"]+\"")
_LEVELS = re.compile(r'"(?:[^"\\]|\\.)*+"|(?P<down>[\[{])|(?P<up>[\]}])', re.DOTALL)


def with_triples(events: DataFrame, document: str, payload: Payload) -> DataFrame:
    """Add an array column of the triples in a column of documents; null where one is wrong."""
    if payload not in ("ntriples", "nquads"):
        return _with_parsed(events, document, payload)
    found = ntriples.triples_of(F.col(document), graphs=payload == "nquads")
    has_blank_nodes, scope = F.col(document).contains("_:"), F.hex(EVENT)
    scoped = ntriples.computed_once(
        found, lambda triples: F.when(has_blank_nodes, _scoped(triples, scope)).otherwise(triples)
    )
    return events.withColumn(TRIPLES, scoped)


def triples_of(document: str | None, payload: Payload, event: int) -> list[Triple] | None:
    """The encoded triples of one document, or None if it cannot be read."""
    if document is None or not _is_parsable(document, payload):
        return None
    try:
        quads = ox.parse(document, format=_FORMATS[payload])
        return encoded_triples(quads, scope=f"{event & 0xFFFFFFFFFFFFFFFF:X}")
    except (SyntaxError, ValueError):
        return None


def python_failure(text: str) -> WorkError | None:
    """The error of a run whose executors lack Python or a package, if that is what Spark says."""
    if (found := _LACKING.search(text)) is None:
        return None
    return WorkError(
        f"an executor cannot read the stream's documents: {found[0]}; N-Triples and N-Quads need "
        "no Python there, the other syntaxes need one with bestbefore and pyoxigraph"
    )


def _is_parsable(document: str, payload: Payload) -> bool:
    """Whether a document can be handed to the parser, which may still refuse it."""
    if payload != "json-ld":
        # Only triple terms nest without end, and a document of RDF 1.1 has none.
        return document.count("<<(") <= _DEEPEST
    if not document.lstrip().startswith(("{", "[")):
        return False
    if document.count("{") + document.count("[") <= _DEEPEST:
        return True
    steps = (
        1 if bracket["down"] else -1 if bracket["up"] else 0
        for bracket in _LEVELS.finditer(document)
    )
    return max(accumulate(steps), default=0) <= _DEEPEST


def _with_parsed(events: DataFrame, document: str, payload: Payload) -> DataFrame:
    schema = StructType([*events.schema.fields, StructField(TRIPLES, ArrayType(TRIPLE_TYPE))])

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            documents, numbers = (batch.column(name).to_pylist() for name in (document, EVENT))
            pairs = zip(documents, numbers, strict=True)
            found = [triples_of(text, payload, number) for text, number in pairs]
            yield batch.append_column(TRIPLES, _arrow(found))

    return events.mapInArrow(parse, schema)


def _arrow(found: list[list[Triple] | None]) -> pa.ListArray:
    """Lists of triples as one Arrow column of lists of structs."""
    flat = [triple for triples in found for triple in triples or ()]
    columns = zip(*flat, strict=True) if flat else ((), (), ())
    structs = pa.StructArray.from_arrays(
        [pa.array(terms, pa.string()) for terms in columns], [*"spo"]
    )
    ends = accumulate((len(triples or ()) for triples in found), initial=0)
    missing = pa.array([triples is None for triples in found])
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs, mask=missing)


def _scoped(triples: Column, scope: Column) -> Column:
    def name(term: Column) -> Column:
        blank = term.startswith("_:")
        return F.when(blank, F.concat(term, F.lit("x"), scope)).otherwise(term)

    return F.transform(
        triples,
        lambda triple: F.struct(
            name(triple["s"]).alias("s"), triple["p"].alias("p"), name(triple["o"]).alias("o")
        ),
    )
