"""SPARQL 1.1 results in TSV, read line by line.

Every line ends with a line break, so a reply that does not was cut. A cut between two lines leaves
no trace in this format, which is why it is the last one asked for.
"""

import codecs
import re

from bestbefore.errors import ServiceError
from bestbefore.rdf.foreign_terms import encode_blank_node, encode_iri, encode_literal
from bestbefore.rdf.terms import XSD
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.results.rows import RowCollector, Rows

_LITERAL = re.compile(
    r"""(?:"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)')"""
    r"(?:@(?P<language>.*)|\^\^<(?P<datatype>.*)>)?",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"} | {c: c for c in "\"'\\"}
_PLAIN = {
    "integer": re.compile(r"[+-]?[0-9]+"),
    "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    "boolean": re.compile("true|false"),
}


def encode_tsv_term(text: str) -> str:
    """The encoding of a term as TSV results write it, which is as Turtle does.

    >>> encode_tsv_term("5"), encode_tsv_term('"a b"@en')
    ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"a b"@en')
    """
    if text.startswith("<") and text.endswith(">"):
        return encode_iri(_unescape(text[1:-1]))
    if text.startswith("_:"):
        return encode_blank_node(text[2:])
    if literal := _LITERAL.fullmatch(text):
        lexical = _unescape(literal["double"] or literal["single"] or "")
        return encode_literal(lexical, literal["datatype"], literal["language"])
    for kind, form in _PLAIN.items():
        if form.fullmatch(text):
            return encode_literal(text, XSD + kind)
    raise ServiceError(f"not a SPARQL 1.1 TSV result term: {text!r}")


class TsvReader:
    """A reader of `text/tab-separated-values`."""

    def __init__(self, rows: RowCollector) -> None:
        self._rows = rows
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._names: list[str] | None = None
        self._unended: list[str] = []

    def feed(self, data: bytes) -> None:
        """Read the next piece of the body."""
        self._read(data, final=False)

    def close(self) -> Rows:
        """The rows, once the whole body has been fed."""
        self._read(b"", final=True)
        if "".join(self._unended) or self._names is None:
            raise NoAnswerError("the reply was cut: its last line has no end")
        return self._rows.finish()

    def _read(self, data: bytes, *, final: bool) -> None:
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError:
            raise NoAnswerError("the reply was cut or is no text in UTF-8") from None
        if "\n" not in text:
            self._unended.append(text)
            return
        first, *others = text.split("\n")
        whole = ["".join([*self._unended, first]), *others]
        self._unended = [whole.pop()]
        for line in whole:
            self._line(line.removesuffix("\r"))

    def _line(self, line: str) -> None:
        fields = line.split("\t")
        if self._names is None:
            self._names = [field.strip().lstrip("?$") for field in fields if field.strip()]
            if len(set(self._names)) < len(self._names):
                raise NoAnswerError("the reply names a variable twice")
            self._rows.name(self._names)
            return
        # A result without variables has lines without fields.
        if len(fields) != max(1, len(self._names)):
            raise NoAnswerError(
                f"the reply has a line of {len(fields)} fields, but {len(self._names)} variables"
            )
        self._rows.add({n: f for n, f in zip(self._names, fields, strict=False) if f})


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code is None and escape[3] in _ESCAPED:
        return _ESCAPED[escape[3]]
    if code is None or int(code, 16) > 0x10FFFF:
        raise ServiceError(f"{escape[0]!r} is no escape of TSV results")
    return chr(int(code, 16))
