"""Plain rows as triples: a row mapping as native Spark expressions.

Values become RDF terms and nothing else: in an IRI they are percent-encoded, in a literal they
stand as they are, since the encoding of terms needs no escapes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from pyspark.sql import DataFrame, types

from bestbefore.errors import InputError, nearest
from bestbefore.rdf.lexical_forms import LEXICAL_FORMS, LexicalForm
from bestbefore.rdf.mapping import LiteralColumn, ObjectMap, RowMapping, Template, TripleMap
from bestbefore.rdf.terms import IRI, XSD, Literal, encode
from bestbefore.spark.event_lines import json_object, not_utf8, text_lines
from bestbefore.spark.intake import (
    ARRIVAL,
    EACH,
    RAW,
    REASON,
    STAMP,
    WRONG,
    TimestampUnit,
    each_triple,
    intake_of,
    judged,
    shown,
    timed,
)
from bestbefore.spark.sql import Cheap, all_of, call, chain, has_form, quote
from bestbefore.spark.sql import name as quoted
from bestbefore.spark.terms import percent_encoded

# The column for rows that a reader could not make sense of; no header can name a column so.
MALFORMED = "bestbefore\nmalformed"
_ROW = Cheap("row")
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


@dataclass(frozen=True)
class MappedColumns:
    """How the columns of a frame become triples."""

    mapping: RowMapping = field(repr=False)
    timestamp_unit: TimestampUnit = "ms"

    def intake(self, frame: DataFrame) -> DataFrame:
        """The intake rows of a frame that has the columns of the mapping."""
        self._check(frame)
        kinds = {name: frame.schema[name].dataType for name in self.mapping.columns}
        values = ", ".join(f"{text_of(*each)} AS {quoted(each[0])}" for each in kinds.items())
        malformed = quoted(MALFORMED) if MALFORMED in frame.columns else "NULL"
        texts = [f"string({quoted(name)})" for name in kinds if _is_text(kinds[name])]
        broken = f"CASE WHEN {malformed} IS NOT NULL THEN 'the row is malformed' END"
        rows = frame.selectExpr(
            f"struct({values}) AS {_ROW}",
            f"string({malformed}) AS {RAW}",
            f"coalesce({broken}, {not_utf8(*texts)}) AS {WRONG}",
        )
        return _mapped(rows, self.mapping, self.timestamp_unit, identity=_ROW)

    def _check(self, frame: DataFrame) -> None:
        known = [name for name in frame.columns if name != MALFORMED]
        for name in self.mapping.columns:
            if name not in known:
                raise InputError(f"no column {name!r}; {nearest(name, known)}")


@dataclass(frozen=True)
class MappedJson:
    """How the fields of JSON objects in a column `value` become triples."""

    mapping: RowMapping = field(repr=False)
    timestamp_unit: TimestampUnit = "ms"

    def intake(self, frame: DataFrame) -> DataFrame:
        """The intake rows of a frame with a column `value`."""
        row = json_object(RAW, self.mapping.columns)
        rows = text_lines(frame).selectExpr("*", f"{row} AS {_ROW}")
        no_object = (f"{_ROW} IS NULL", "'not a JSON object'")
        return _mapped(rows, self.mapping, self.timestamp_unit, no_object, identity=RAW)


def _mapped(
    rows: DataFrame,
    mapping: RowMapping,
    unit: TimestampUnit,
    *faults: tuple[str, str],
    identity: str,
) -> DataFrame:
    """The intake rows of `row`, a struct of strings."""
    stamp = ARRIVAL if mapping.timestamp is None else _value(mapping.timestamp)
    stamped = rows.selectExpr("*", f"{stamp} AS {STAMP}")
    faults = (*faults, *_missing(mapping), *_misfits(mapping))
    events = judged(timed(stamped, identity, unit=unit), faults, unit)
    triples = each_triple(events, f"array({', '.join(map(_triple, mapping.triples))})")
    complete = triples.filter(
        f"{REASON} IS NOT NULL OR {EACH}.s IS NOT NULL AND {EACH}.o IS NOT NULL"
    )
    return intake_of(complete, raw=f"coalesce({RAW}, to_json({_ROW}))")


def _missing(mapping: RowMapping) -> Iterator[tuple[str, str]]:
    for name in mapping.needed:
        part = "timestamp" if name == mapping.timestamp else "subject"
        said = quote(f"no value for the {part} in the column {name!r}")
        yield f"{_value(name)} IS NULL", said


def _misfits(mapping: RowMapping) -> Iterator[tuple[str, str]]:
    literals = (triple.object for triple in mapping.triples)
    typed = {literal: None for literal in literals if isinstance(literal, LiteralColumn)}
    for literal in typed:
        if form := LEXICAL_FORMS.get(literal.datatype):
            value, kind = _value(literal.column), literal.datatype.replace(XSD, "xsd:")
            what = quote(f"the column {literal.column!r} holds no {kind}: ")
            misfit = f"{value} IS NOT NULL AND {call('not', _fits(value, form))}"
            yield misfit, f"concat({what}, {shown(value)})"


def _value(name: str) -> Cheap:
    """The text in a column; null if it is empty."""
    return Cheap(f"nullif({_ROW}.{quoted(name)}, '')")


def _triple(mapped: TripleMap) -> str:
    predicate = quote(encode(IRI(mapped.predicate)))
    return f"struct({_iri(mapped.subject)} AS s, {predicate} AS p, {_object(mapped.object)} AS o)"


def _object(node: ObjectMap) -> str:
    match node:
        case Template():
            return _iri(node)
        case LiteralColumn(column, datatype, language):
            opening, closing = '"', encode(Literal("", datatype, language))[1:]
            return f"concat({quote(opening)}, {_value(column)}, {quote(closing)})"
    assert_never(node)


def _iri(template: Template) -> str:
    pieces: list[str] = [quote(piece) for piece in template.pieces]
    pieces[1::2] = [percent_encoded(_value(column)) for column in template.columns]
    return f"concat('<', {', '.join(pieces)}, '>')"


def _fits(value: str, form: LexicalForm) -> str:
    fits = [has_form(value, form.pattern)]
    if form.low is not None and form.high is not None:
        number = f"try_cast({value} AS DECIMAL(38, 0))"
        fits.append(f"coalesce({number} BETWEEN {form.low} AND {form.high}, FALSE)")
    if form.starts_with_date:
        day = f"try_cast(left({value}, {len('2026-01-01')}) AS DATE)"
        undated = f"NOT {value} RLIKE {quote(r'^[0-9]{4}-')}"
        fits.append(chain("OR", [undated, f"{day} IS NOT NULL"]))
    return all_of(fits)


def _is_text(kind: types.DataType) -> bool:
    """Whether a column of the type holds bytes that may be no UTF-8."""
    return isinstance(kind, types.StringType | types.BinaryType)


def text_of(name: str, kind: types.DataType) -> str:
    """The values of a column as XML Schema writes them, whatever the session's settings are."""
    column = quoted(name)
    match kind:
        case types.StringType() | types.BinaryType():
            return f"make_valid_utf8(string({column}))"
        case types.TimestampType():
            # A plain cast would write the session's own time zone.
            utc = f"timestampadd(MICROSECOND, unix_micros({column}), {_EPOCH})"
            return f"concat(replace(string({utc}), ' ', 'T'), 'Z')"
        case types.DecimalType():
            # A plain cast may write an exponent.
            return f"replace(format_number({column}, {kind.scale}), ',', '')"
        case types.FloatType() | types.DoubleType():
            return f"replace(string({column}), 'Infinity', 'INF')"
        case types.ArrayType() | types.MapType() | types.StructType() | types.VariantType():
            return f"to_json({column})"
    return f"string({column})"
