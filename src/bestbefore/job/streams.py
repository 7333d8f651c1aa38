"""The streams of a job file: where their events come from, and the triples that a row gives."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from bestbefore.errors import InputError, JobError
from bestbefore.job.job import StreamSettings, StreamTime
from bestbefore.job.sections import Section, located, sections_for
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
from bestbefore.spark.event_lines import LINE_FORMATS, EventLines
from bestbefore.spark.intake import TimestampUnit
from bestbefore.spark.mapped_rows import MappedColumns, MappedJson
from bestbefore.spark.payloads import PAYLOADS
from bestbefore.spark.sources import ROW_FORMATS, FolderSource, Reading, Source, SparkSource

T = TypeVar("T")

_OBJECT = "{ iri = 'http://…/{column}' } or { column = 'name', datatype = 'xsd:decimal' }"
# What a key is for; elsewhere it would be a mistake that passes silently.
_MAPPED = (*ROW_FORMATS, "columns")
_ONLY_FOR = {
    "path": ("folder",),
    "files_per_batch": ("folder",),
    "value_format": ("spark",),
    "options_env": ("spark",),
    "schema": ("spark", "parquet"),
    "payload": ("jsonl",),
    "data": ("jsonl",),
    "header": ("csv",),
    "columns": ("csv",),
    "timestamp": ("jsonl", *_MAPPED),
    "subject": _MAPPED,
    "triples": _MAPPED,
}


def read_streams(
    tables: Mapping[str, Any], iris: Sequence[str], *, base: Path
) -> tuple[StreamSettings, ...]:
    """The streams that a query reads, in its order."""
    sections = sections_for(tables, "streams", iris)
    return tuple(read_stream(sections[iri], iri, base) for iri in iris)


def read_stream(section: Section, iri: str, base: Path) -> StreamSettings:
    """The stream of a section."""
    stream = StreamSettings(
        name=section.name.removeprefix("streams."),
        iri=iri,
        source=_source(section, base),
        allowed_lateness_ms=section.duration_ms("allowed_lateness", "0s") or 0,
        clock_skew_ms=section.duration_ms("clock_skew", "1d") or 0,
        time=_time(section),
    )
    section.finish()
    return stream


def _time(section: Section) -> StreamTime:
    """Whose time the elements have: their own, or that of their arrival."""
    time: StreamTime = section.choice("time", get_args(StreamTime))
    if time == "arrival":
        for key in ("timestamp", "timestamp_unit"):
            if key in section.table:
                raise JobError(
                    f"{section.name}.{key} is for time = 'data'; with time = 'arrival' no "
                    "timestamp is read: leave it out"
                )
    return time


def _source(section: Section, base: Path) -> Source | None:
    match section.choice("source", ("folder", "spark", "dataframe")):
        case "folder":
            return _folder(section, base)
        case "spark":
            return _spark(section)
    return None


def _folder(section: Section, base: Path) -> FolderSource:
    kind = section.choice("format", (*LINE_FORMATS, *ROW_FORMATS))
    _refuse_misplaced(section, "folder", kind)
    path = section.required_text("path", "the folder with the stream's files")
    source = FolderSource(
        path=str(located(base, path)),
        format=kind,
        reading=_reading(section, kind),
        files_per_batch=section.optional_integer("files_per_batch"),
        header=section.flag("header", default=True),
        columns=section.texts("columns"),
        schema=section.text("schema"),
        options=section.mapping("options"),
    )
    if not source.header and source.columns is None:
        raise JobError(f"{section.name}.columns is missing: without a header, name all columns")
    return source


def _spark(section: Section) -> SparkSource:
    kind = section.required_text("format", "a streaming source of Spark, such as 'kafka'")
    values = section.choice("value_format", ("columns", "json", *LINE_FORMATS))
    _refuse_misplaced(section, "spark", values)
    return SparkSource(
        format=kind,
        reading=_reading(section, values, in_text=values == "json"),
        options=section.mapping("options"),
        secret_options={
            name: section.secret(f"options_env.{name}", variable)
            for name, variable in section.mapping("options_env").items()
        },
        schema=section.text("schema"),
    )


def _reading(section: Section, kind: str, *, in_text: bool = False) -> Reading:
    unit: TimestampUnit = section.choice("timestamp_unit", get_args(TimestampUnit))
    timestamp = None if _time(section) == "arrival" else section.text("timestamp", "ts") or "ts"
    if kind in LINE_FORMATS:
        return EventLines(
            format=kind,
            payload=section.choice("payload", PAYLOADS),
            time_field=timestamp,
            data_field=section.text("data", "data") or "data",
            timestamp_unit=unit,
        )
    mapping = _mapping(section, timestamp)
    return MappedJson(mapping, unit) if in_text else MappedColumns(mapping, unit)


def _refuse_misplaced(section: Section, *kinds: str) -> None:
    for key, known in _ONLY_FOR.items():
        if key in section.table and not set(known) & set(kinds):
            raise JobError(f"{section.name}.{key} is for {', '.join(known)}, not for {kinds[-1]}")


def _mapping(section: Section, timestamp: str | None) -> RowMapping:
    """The row mapping of a stream's section."""
    subject = _template(section, "subject")
    triples = tuple(_triple(triple, subject) for triple in section.subsections("triples"))
    if not triples:
        raise JobError(
            f"{section.name}.triples is missing: say which triples a row gives, one "
            f"[[{section.name}.triples]] each, with predicate and object = {_OBJECT}"
        )
    return RowMapping(timestamp=timestamp, subject=subject, triples=triples)


def _triple(section: Section, default: Template | None) -> TripleMap:
    subject = _template(section, "subject") or default
    if subject is None:
        raise JobError(f"{section.name}.subject is missing, and the stream has none for all")
    predicate = section.required_text("predicate", "the IRI of a property")
    term = _object(section.subsection("object", f"write {_OBJECT}"))
    section.finish()
    return _named(f"{section.name}.predicate", lambda: TripleMap(subject, predicate, term))


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
        return _named(section.name, lambda: LiteralColumn(column, XSD_STRING, language))
    if language is not None:
        raise JobError(f"{section.name}: datatype and language exclude each other: give one")
    return _named(section.name, lambda: LiteralColumn(column, datatype_iri(datatype)))


def _template(section: Section, key: str) -> Template | None:
    text = section.text(key)
    if text is None:
        return None
    return _named(f"{section.name}.{key}", lambda: parse_template(text))


def _named(key: str, make: Callable[[], T]) -> T:
    """What `make` makes; its complaint about the input gets the key of the job file."""
    try:
        return make()
    except InputError as error:
        raise JobError(f"{key}: {error}") from None
