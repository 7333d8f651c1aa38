"""Row mappings, from the columns of a row to triples: templates for IRIs, columns for literals.

A small part of what R2RML and RML can say, enough for a row that describes a few things.
"""

import re
from dataclasses import dataclass
from itertools import chain

from bestbefore.errors import InputError
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import IRI, XSD_STRING, Literal, encode, is_language_tag

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """An IRI with columns in braces: `http://example.org/user/{user_id}`.

    The pieces are texts and names of columns in turn, a text first and last. A column's value is
    percent-encoded, so that it can add characters to the IRI, but no structure.
    """

    pieces: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the braces."""
        return self.pieces[1::2]

    def __str__(self) -> str:
        columns = (f"{{{column}}}" for column in self.columns)
        return f"<{''.join(chain(*zip(self.pieces[::2], (*columns, ''), strict=True)))}>"


def parse_template(text: str) -> Template:
    """The template of a text.

    >>> parse_template("http://example.org/user/{user_id}").columns
    ('user_id',)
    """
    pieces = tuple(_PLACEHOLDER.split(text))
    if not is_absolute_iri("".join(pieces[::2])) or ":" not in pieces[0]:
        raise InputError(
            f"{text!r} is no template of an IRI; write one with its scheme and with columns in "
            "braces, such as 'http://example.org/user/{user_id}'"
        )
    return Template(pieces)


@dataclass(frozen=True, slots=True)
class LiteralColumn:
    """A literal whose lexical form is the value of a column."""

    column: str
    datatype: str = XSD_STRING
    language: str | None = None

    def __post_init__(self) -> None:
        if self.language is not None and not is_language_tag(self.language):
            raise InputError(f"{self.language!r} is no language tag such as 'en' or 'de-AT'")

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def __str__(self) -> str:
        return encode(Literal(f"{{{self.column}}}", self.datatype, self.language))


ObjectMap = Template | LiteralColumn


@dataclass(frozen=True, slots=True)
class TripleMap:
    """A triple per row; a row without one of its columns gives none."""

    subject: Template
    predicate: str
    object: ObjectMap

    def __post_init__(self) -> None:
        if not is_absolute_iri(self.predicate):
            raise InputError(f"{self.predicate!r} is no predicate; write an IRI in full")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the triple is made from."""
        return (*self.subject.columns, *self.object.columns)

    def __str__(self) -> str:
        return f"{self.subject} {encode(IRI(self.predicate))} {self.object} ."


@dataclass(frozen=True, slots=True)
class RowMapping:
    """The triples of a row, their time, and the subject that no row may lack.

    Without a column for it, the time is that of arrival.
    """

    timestamp: str | None
    triples: tuple[TripleMap, ...]
    subject: Template | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which a row is no event."""
        timestamp = () if self.timestamp is None else (self.timestamp,)
        return (*timestamp, *(self.subject.columns if self.subject else ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the mapping, each once."""
        used = chain(self.needed, *(triple.columns for triple in self.triples))
        return tuple(dict.fromkeys(used))
