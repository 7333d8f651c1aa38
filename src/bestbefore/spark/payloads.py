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
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from bestbefore.errors import WorkError
from bestbefore.rdf.documents import Triple, encoded_triples
from bestbefore.spark import ntriples
from bestbefore.spark.columns import EVENT, TRIPLE
from bestbefore.spark.intake import EACH, each_triple, intake_of, intake_of_statements
from bestbefore.spark.sql import Cheap

DOCUMENT, TRIPLES = Cheap("document"), Cheap("triples")
TRIPLE_TYPE = StructType([StructField(part, StringType()) for part in TRIPLE])

Payload = Literal["ntriples", "nquads", "turtle", "trig", "json-ld"]
_NATIVE = ("ntriples", "nquads")
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


def with_triples(events: DataFrame, payload: Payload) -> DataFrame:
    """The events with the `triples` of their `document`, null where it is wrong.

    They are still a text if Spark reads them itself.
    """
    if payload not in _NATIVE:
        return _with_parsed(events, payload)
    found = Cheap("found")
    anew = ntriples.laid_out_anew(DOCUMENT, graphs=payload == "nquads")
    with_found = events.selectExpr("*", f"{ntriples.laid_out(DOCUMENT)} AS {found}")
    triples = f"CASE WHEN {found} <> '' THEN {found} ELSE {anew} END"
    return with_found.selectExpr("*", f"{triples} AS {TRIPLES}")


def triples_of(events: DataFrame, payload: Payload, *, scoped: bool) -> DataFrame:
    """The intake rows of judged events with triples.

    The blank nodes are named after their event if they are `scoped`.
    """
    if payload not in _NATIVE:
        return intake_of(each_triple(events, TRIPLES))
    rows = each_triple(events, ntriples.statements(TRIPLES))
    return intake_of_statements(rows, EACH, scope=f"hex({EVENT})" if scoped else None)


def parsed_triples(document: str | None, payload: Payload, event: int) -> list[Triple] | None:
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


def _with_parsed(events: DataFrame, payload: Payload) -> DataFrame:
    schema = StructType([*events.schema.fields, StructField(TRIPLES, ArrayType(TRIPLE_TYPE))])

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            documents, numbers = (batch.column(name).to_pylist() for name in (DOCUMENT, EVENT))
            pairs = zip(documents, numbers, strict=True)
            found = [parsed_triples(text, payload, number) for text, number in pairs]
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
