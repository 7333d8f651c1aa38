"""RDF terms and the encoding that carries a term in one string column.

The encoding is N-Triples without escapes: `<iri>`, `_:label`, `"lexical"`, `"lexical"@en`,
`"lexical"^^<datatype>`. It needs none, because neither a language tag nor an IRI holds a quote,
so the last quote ends the lexical form. Two terms are equal exactly when their encodings are:
`xsd:string` is left out and language tags are lower case.
"""

import re
from dataclasses import dataclass
from typing import assert_never

from bestbefore.errors import InputError

XSD = "http://www.w3.org/2001/XMLSchema#"
XSD_STRING = XSD + "string"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE = RDF + "type"
RDF_LANG_STRING = RDF + "langString"

# As regular expressions of Java and of Python: how an IRI begins, and what it never holds.
IRI_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*:"
FORBIDDEN_IN_IRI = r"\x00-\x20<>\"{}|^`\\"
_SCHEME, _FORBIDDEN_IN_IRI = re.compile(IRI_SCHEME), re.compile(f"[{FORBIDDEN_IN_IRI}]")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROL = re.compile(r'[\\"\n\r\t\x00-\x1f\x7f]')


Key = tuple[str, ...]
"""The values of some variables as encoded terms: a join key, or the refresh key of a unit."""

Row = tuple[str | None, ...]
"""A mapping: one encoded term per variable, in an order known from elsewhere; None is unbound."""


@dataclass(frozen=True, slots=True)
class IRI:
    """An absolute IRI."""

    value: str


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node, named only within its source."""

    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal: a lexical form with a datatype or a language."""

    lexical: str
    datatype: str = XSD_STRING
    language: str | None = None


Term = IRI | BlankNode | Literal


def encode(term: Term) -> str:
    """The one-string encoding of a term.

    >>> encode(Literal("5", XSD + "integer"))
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    match term:
        case IRI(value):
            return f"<{value}>"
        case BlankNode(label):
            return f"_:{label}"
        case Literal(lexical, _, str(language)):
            return f'"{lexical}"@{language.lower()}'
        case Literal(lexical, datatype):
            return f'"{lexical}"' if datatype == XSD_STRING else f'"{lexical}"^^<{datatype}>'
    assert_never(term)


def decode(text: str) -> Term:
    """The term behind an encoding."""
    if text.startswith("<") and text.endswith(">"):
        return IRI(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    end = text.rfind('"')
    if text.startswith('"') and end > 0:
        lexical, suffix = text[1:end], text[end + 1 :]
        if not suffix:
            return Literal(lexical)
        if suffix.startswith("@"):
            return Literal(lexical, RDF_LANG_STRING, suffix[1:])
        if suffix.startswith("^^<"):
            return Literal(lexical, suffix[3:-1])
    raise InputError(f"{text!r} is not an encoded RDF term")


def is_absolute_iri(text: str) -> bool:
    """Whether a text is an IRI with a scheme and without forbidden characters."""
    return bool(_SCHEME.match(text)) and not _FORBIDDEN_IN_IRI.search(text)


def is_language_tag(text: str) -> bool:
    """Whether a text is a language tag such as `en` or `de-AT`."""
    return bool(_LANGUAGE_TAG.fullmatch(text))


def to_sparql(term: Term) -> str:
    """The term as SPARQL text, escaped so that no value can change the query around it.

    A term that SPARQL cannot name (a blank node, an IRI with forbidden characters) is refused.
    """
    match term:
        case IRI(value) if not _FORBIDDEN_IN_IRI.search(value):
            return f"<{value}>"
        case Literal(lexical, _, str(language)) if _LANGUAGE_TAG.fullmatch(language):
            return f'"{_escape(lexical)}"@{language}'
        case Literal(lexical, datatype, None) if not _FORBIDDEN_IN_IRI.search(datatype):
            suffix = "" if datatype == XSD_STRING else f"^^<{datatype}>"
            return f'"{_escape(lexical)}"{suffix}'
    raise InputError(f"{encode(term)!r} cannot be written in a SPARQL query")


def _escape(lexical: str) -> str:
    return _CONTROL.sub(lambda hit: _ESCAPES.get(hit[0], f"\\u{ord(hit[0]):04X}"), lexical)
