"""Streams in a job file: the sections `[streams.NAME]` turned into sources."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from bestbefore.errors import JobError
from bestbefore.job.job import StreamJob
from bestbefore.job.names import sections_for
from bestbefore.job.row_mapping import read_mapping
from bestbefore.job.section import Section, located
from bestbefore.spark.event_lines import LINE_FORMATS, EventLines, LineFormat
from bestbefore.spark.intake import TimestampUnit
from bestbefore.spark.mapped_rows import MappedColumns, MappedJson
from bestbefore.spark.payloads import PAYLOADS, Payload
from bestbefore.spark.sources import (
    ROW_FORMATS,
    FolderSource,
    Reading,
    RowFormat,
    Source,
    SparkSource,
)

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
) -> tuple[StreamJob, ...]:
    """The streams that a query reads, in its order."""
    sections = sections_for(tables, "streams", iris)
    return tuple(_stream(sections[iri], iri, base) for iri in iris)


def _stream(section: Section, iri: str, base: Path) -> StreamJob:
    stream = StreamJob(
        name=section.name.removeprefix("streams."),
        iri=iri,
        source=_source(section, base),
        allowed_lateness_ms=section.duration_ms("allowed_lateness", "0s") or 0,
        clock_skew_ms=section.duration_ms("clock_skew", "1d") or 0,
    )
    section.finish()
    return stream


def _source(section: Section, base: Path) -> Source | None:
    match section.choice("source", ("folder", "spark", "dataframe"), "folder"):
        case "folder":
            return _folder(section, base)
        case "spark":
            return _spark(section)
    return None


def _folder(section: Section, base: Path) -> FolderSource:
    kind = section.choice("format", (*LINE_FORMATS, *ROW_FORMATS), "jsonl")
    _refuse_misplaced(section, "folder", kind)
    path = section.required_text("path", "the folder with the stream's files")
    source = FolderSource(
        path=str(located(base, path)),
        format=cast("LineFormat | RowFormat", kind),
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
    values = section.choice("value_format", (*LINE_FORMATS, "json", "columns"), "columns")
    _refuse_misplaced(section, "spark", values)
    secrets = section.mapping("options_env")
    return SparkSource(
        format=kind,
        reading=_reading(section, values, in_text=values == "json"),
        options=section.mapping("options"),
        secret_options={
            name: section.secret(f"options_env.{name}", variable)
            for name, variable in secrets.items()
        },
        schema=section.text("schema"),
    )


def _reading(section: Section, kind: str, *, in_text: bool = False) -> Reading:
    unit = cast("TimestampUnit", section.choice("timestamp_unit", get_args(TimestampUnit), "ms"))
    if kind in LINE_FORMATS:
        return EventLines(
            format=kind,
            payload=cast("Payload", section.choice("payload", PAYLOADS, "ntriples")),
            time_field=section.text("timestamp", "ts") or "ts",
            data_field=section.text("data", "data") or "data",
            timestamp_unit=unit,
        )
    mapping = read_mapping(section)
    return MappedJson(mapping, unit) if in_text else MappedColumns(mapping, unit)


def _refuse_misplaced(section: Section, *kinds: str) -> None:
    for key, places in _ONLY_FOR.items():
        if key in section.table and not set(places) & set(kinds):
            raise JobError(f"{section.name}.{key} is for {', '.join(places)}, not for {kinds[-1]}")
