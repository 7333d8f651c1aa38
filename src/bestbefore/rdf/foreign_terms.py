"""Terms that come from outside: encoded if they are RDF terms, refused if they are not.

Whatever is let in here is written into views, files and queries without another look.
"""

import re
from functools import lru_cache

from bestbefore.rdf.iris import CONTROLS, IRI_SCHEME, NOT_IN_IRI
from bestbefore.rdf.terms import RDF, RDF_LANG_STRING, XSD_STRING, is_language_tag

# Halves of a character, which JSON can spell and no file takes.
_HALVES = r"\ud800-\udfff"
_HALF = re.compile(f"[{_HALVES}]")
_IRI = re.compile(f"{IRI_SCHEME}[^{NOT_IN_IRI}{_HALVES}]*")
# Wider than N-Triples, as services name blank nodes after addresses of their own.
_LABEL = re.compile(rf"[^\s{CONTROLS}\x7f<>\"\\{_HALVES}]+")


_OF_LANGUAGES = frozenset({RDF_LANG_STRING, RDF + "dirLangString"})


class NotATermError(ValueError):
    """A value of the right form that no RDF term has: an IRI with a space, a tag that is none."""


def encode_iri(value: str) -> str:
    """The encoding of an absolute IRI."""
    if not _IRI.fullmatch(value):
        raise NotATermError(f"{value!r} is no absolute IRI")
    return f"<{value}>"


def encode_blank_node(label: str) -> str:
    """The encoding of a blank node."""
    if not _LABEL.fullmatch(label):
        raise NotATermError(f"{label!r} is no label of a blank node")
    return f"_:{label}"


def encode_literal(lexical: str, datatype: str | None = None, language: str | None = None) -> str:
    """The encoding of a literal; an empty language is none, and a language is its own datatype."""
    if not lexical.isascii() and _HALF.search(lexical):
        raise NotATermError(f"{lexical!r} holds half a character")
    if language is not None and language != "":
        return f'"{lexical}"{_language_mark(language)}'
    return f'"{lexical}"{_datatype_mark(datatype)}'


@lru_cache(maxsize=1024)
def _language_mark(language: str) -> str:
    if not is_language_tag(language):
        raise NotATermError(f"{language!r} is no language tag")
    return f"@{language.lower()}"


@lru_cache(maxsize=1024)
def _datatype_mark(datatype: str | None) -> str:
    if datatype in _OF_LANGUAGES:
        raise NotATermError(f"a literal of the type {datatype} has a language")
    return "" if datatype is None or datatype == XSD_STRING else f"^^{encode_iri(datatype)}"
