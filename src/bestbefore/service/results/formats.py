"""The result formats: which are asked for, and which reader a reply needs."""

from collections.abc import Callable, Mapping

from bestbefore.rdf.json_results import encode_json_term
from bestbefore.service.no_answer import NoAnswerError, excerpt
from bestbefore.service.results.json_reader import JsonReader
from bestbefore.service.results.rows import EncodeTerm, Reader, RowCollector, Wanted
from bestbefore.service.results.tsv_reader import TsvReader, encode_tsv_term
from bestbefore.service.results.xml_reader import XmlReader

ACCEPTED = (
    "application/sparql-results+json, application/sparql-results+xml;q=0.8,"
    " application/json;q=0.5, text/tab-separated-values;q=0.3"
)

_Format = tuple[Callable[[RowCollector], Reader], EncodeTerm]
_JSON: _Format = (JsonReader, encode_json_term)
_XML: _Format = (XmlReader, encode_json_term)
_TSV: _Format = (TsvReader, encode_tsv_term)
_FORMATS = {
    # Who says nothing is taken to send what was asked for first.
    "": _JSON,
    "application/sparql-results+json": _JSON,
    "application/json": _JSON,
    "application/sparql-results+xml": _XML,
    "application/xml": _XML,
    "text/xml": _XML,
    "text/tab-separated-values": _TSV,
}


def open_reader(headers: Mapping[str, str], wanted: Wanted) -> Reader:
    """The reader for a 200 reply with these headers (names in lower case)."""
    if headers.get("x-sql-state", "").strip().upper() == "S1TAT":
        raise NoAnswerError(
            "the reply is truncated: the service ran out of time (X-SQL-State: S1TAT)"
        )
    content_type = headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in _FORMATS:
        raise NoAnswerError(
            f"the reply is {excerpt(content_type.encode())}, not SPARQL results in JSON, XML or TSV"
        )
    reader, encode = _FORMATS[media_type]
    return reader(RowCollector(wanted, encode, ceiling=_announced_ceiling(headers)))


def _announced_ceiling(headers: Mapping[str, str]) -> int | None:
    """The most rows that a Virtuoso says it sends."""
    announced = headers.get("x-sparql-maxrows", "").strip()
    # Digits only, and few enough of them: the header is the service's text.
    sound = announced.isdecimal() and len(announced) < 16
    return (int(announced) or None) if sound else None
