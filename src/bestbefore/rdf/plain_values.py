"""Plain values, as JSON and databases have them, and the RDF terms that they stand for."""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import isinf, isnan
from urllib.parse import quote, unquote
from uuid import UUID

from bestbefore.errors import InputError
from bestbefore.rdf.foreign_terms import NotATermError, encode_iri, encode_literal
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.lexical_forms import has_lexical_form
from bestbefore.rdf.terms import IRI, XSD, Literal, decode, is_language_tag

_PLACE = "{}"


class WrittenNumber(str):
    """A number as it was written, so that not a digit of it is lost."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ValueForm:
    """The term that a plain value stands for: a literal with a datatype or a language, or an IRI.

    `iri` is a template with one `{}`, where the value stands percent-encoded: it can add characters
    to the IRI, but no structure. The template `{}` is for values that are IRIs themselves. Without
    any of them a value has the datatype that it comes with.
    """

    datatype: str | None = None
    language: str | None = None
    iri: str | None = None

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.datatype, self.language, self.iri)) > 1:
            raise InputError("datatype, language and iri exclude each other: give one of them")
        if self.language is not None and not is_language_tag(self.language):
            raise InputError(f"{self.language!r} is no language tag such as 'en' or 'de-AT'")
        if self.iri is not None and not _is_template(self.iri):
            raise InputError(
                f"{self.iri!r} is no template of an IRI; write one with its scheme and with one "
                f"{_PLACE} for the value, such as 'http://example.org/city/{_PLACE}'"
            )

    def encode(self, value: object) -> str:
        """The encoded term of a value; what no such term has is a `NotATermError`."""
        lexical, own = lexical_form(value)
        if self.iri is not None:
            return encode_iri(self.iri.replace(_PLACE, _in_iri(lexical, whole=self.iri == _PLACE)))
        datatype = None if self.language else self.datatype or own
        if datatype is not None and not has_lexical_form(lexical, datatype):
            raise NotATermError(f"{lexical!r} is no value of {datatype}")
        return encode_literal(lexical, datatype, self.language)

    def plain(self, encoded: str) -> str:
        """The text of the value that an encoded term stands for; other terms are refused."""
        term = decode(encoded)
        match term:
            case IRI(iri) if self.iri is not None:
                text = self._in_template(iri)
            case Literal(lexical) if self.iri is None:
                text = lexical
            case _:
                wanted = "a literal" if self.iri is None else f"an IRI such as {self.iri}"
                raise InputError(f"{encoded!r} is not {wanted}, which the service is asked by")
        if "\x00" in text:
            raise InputError(f"{encoded!r} holds a null character")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{encoded!r} holds half a character (a lone surrogate)") from None
        return text

    def _in_template(self, iri: str) -> str:
        before, _, after = str(self.iri).partition(_PLACE)
        end = len(iri) - len(after)
        if not (iri.startswith(before) and iri.endswith(after) and end > len(before)):
            raise InputError(f"<{iri}> is no IRI such as {self.iri}")
        if self.iri == _PLACE:
            return iri
        try:
            return unquote(iri[len(before) : end], errors="strict")
        except UnicodeDecodeError:
            raise InputError(f"<{iri}> is percent-encoded, but not in UTF-8") from None


def _is_template(text: str) -> bool:
    filled = text.replace(_PLACE, "x:x" if text == _PLACE else "x")
    scheme = text.partition(_PLACE)[0]
    return text.count(_PLACE) == 1 and is_absolute_iri(filled) and (":" in scheme or not scheme)


def _in_iri(text: str, *, whole: bool) -> str:
    if whole:
        return text
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise NotATermError(f"{text!r} holds half a character") from None


def lexical_form(value: object) -> tuple[str, str | None]:  # noqa: PLR0911 - one case per type
    """A value as XML Schema writes it, and its datatype; None is that of strings."""
    match value:
        case bool():
            return str(value).lower(), f"{XSD}boolean"
        case WrittenNumber():
            return _written(value)
        case str():
            return value, None
        case int():
            return str(value), f"{XSD}integer"
        case float():
            sign = "-" if value < 0 else ""
            text = f"{sign}INF" if isinf(value) else "NaN" if isnan(value) else repr(value)
            return text, f"{XSD}double"
        case Decimal() if value.is_finite():
            return f"{value:f}", f"{XSD}decimal"
        case datetime():
            return value.isoformat(), f"{XSD}dateTime"
        case date() | time():
            kind = "date" if isinstance(value, date) else "time"
            return value.isoformat(), f"{XSD}{kind}"
        case UUID():
            return str(value), None
    raise NotATermError(f"a value of the type {type(value).__name__} is no RDF term")


def _written(number: str) -> tuple[str, str]:
    if "e" in number or "E" in number:
        return str(number), f"{XSD}double"
    return str(number), f"{XSD}decimal" if "." in number else f"{XSD}integer"
