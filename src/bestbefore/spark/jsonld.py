"""JSON-LD payloads, parsed by pyoxigraph inside Arrow batches."""

from collections.abc import Iterator
from hashlib import blake2b

import pyarrow as pa
import pyoxigraph as ox
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from bestbefore.rdf.terms import IRI, BlankNode, Literal, encode

TRIPLES = "triples"
_TRIPLE = StructType([StructField(name, StringType()) for name in "spo"])
_ARROW_TRIPLES = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))


def with_triples(events: DataFrame, payload: str) -> DataFrame:
    """Add an array column of the triples in a JSON-LD column; null where it is not JSON-LD."""
    schema = StructType([*events.schema.fields, StructField(TRIPLES, ArrayType(_TRIPLE))])

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            documents = batch.column(payload).to_pylist()
            parsed = pa.array([triples_of(each) for each in documents], _ARROW_TRIPLES)
            yield batch.append_column(TRIPLES, parsed)

    return events.mapInArrow(parse, schema)


def triples_of(document: str | None) -> list[dict[str, str]] | None:
    """The triples of one JSON-LD document, or None if it cannot be read.

    Blank nodes are named after the document, so that a repeated read gives the same names and two
    documents never share one.
    """
    if document is None:
        return None
    names: dict[str, str] = {}
    scope = blake2b(document.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def text(term: object) -> str:
        match term:
            case ox.NamedNode():
                return encode(IRI(term.value))
            case ox.BlankNode():
                return encode(BlankNode(names.setdefault(term.value, f"b{len(names)}x{scope}")))
            case ox.Literal():
                return encode(Literal(term.value, term.datatype.value, term.language))
        raise ValueError(f"{term} is no term of an RDF 1.1 triple")

    try:
        quads = list(ox.parse(document, format=ox.RdfFormat.JSON_LD))
        return [
            {"s": text(each.subject), "p": text(each.predicate), "o": text(each.object)}
            for each in quads
        ]
    except (SyntaxError, ValueError):
        return None
