"""Row mappings in a job file: `subject` and `[[streams.NAME.triples]]`."""

from collections.abc import Callable
from typing import TypeVar

from bestbefore.errors import InputError, JobError
from bestbefore.job.section import Section
from bestbefore.rdf.lexical_forms import datatype_iri
from bestbefore.rdf.mapping import (
    LiteralColumn,
    ObjectMap,
    RowMapping,
    Template,
    TripleMap,
    parse_template,
)
from bestbefore.rdf.terms import XSD_STRING

T = TypeVar("T")
_OBJECT = "{ iri = 'http://…/{column}' } or { column = 'name', datatype = 'xsd:decimal' }"


def read_mapping(section: Section) -> RowMapping:
    """The row mapping of a stream's section."""
    subject = _template(section, "subject")
    triples = tuple(_triple(each, subject) for each in section.subsections("triples"))
    if not triples:
        raise JobError(
            f"{section.name}.triples is missing: say which triples a row gives, one "
            f"[[{section.name}.triples]] each, with predicate and object = {_OBJECT}"
        )
    timestamp = section.text("timestamp", "ts") or "ts"
    return RowMapping(timestamp=timestamp, subject=subject, triples=triples)


def _triple(section: Section, default: Template | None) -> TripleMap:
    subject = _template(section, "subject") or default
    if subject is None:
        raise JobError(f"{section.name}.subject is missing, and the stream has none for all")
    predicate = section.required_text("predicate", "the IRI of a property")
    term = _object(section.subsection("object", f"write {_OBJECT}"))
    section.finish()
    return _placed(f"{section.name}.predicate", lambda: TripleMap(subject, predicate, term))


def _object(section: Section) -> ObjectMap:
    column, template = section.text("column"), _template(section, "iri")
    literal = None if column is None else _literal(section, column)
    section.finish()
    if template is not None and literal is None:
        return template
    if literal is not None and template is None:
        return literal
    raise JobError(f"{section.name} needs either iri or column: write {_OBJECT}")


def _literal(section: Section, column: str) -> LiteralColumn:
    datatype, language = section.text("datatype"), section.text("language")
    if datatype is None:
        return _placed(section.name, lambda: LiteralColumn(column, XSD_STRING, language))
    if language is not None:
        raise JobError(f"{section.name}: datatype and language exclude each other: give one")
    return _placed(section.name, lambda: LiteralColumn(column, datatype_iri(datatype)))


def _template(section: Section, key: str) -> Template | None:
    text = section.text(key)
    if text is None:
        return None
    return _placed(f"{section.name}.{key}", lambda: parse_template(text))


def _placed(place: str, make: Callable[[], T]) -> T:
    """What `make` makes; its complaint about the input gets its place in the job file."""
    try:
        return make()
    except InputError as error:
        raise JobError(f"{place}: {error}") from None
