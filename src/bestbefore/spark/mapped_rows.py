"""Plain rows as triples: a row mapping as native Spark expressions.

Values become RDF terms and nothing else: in an IRI they are percent-encoded, in a literal they
stand as they are, since the encoding of terms needs no escapes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import assert_never

from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.errors import InputError, nearest
from bestbefore.rdf.lexical_forms import LEXICAL_FORMS, LexicalForm
from bestbefore.rdf.mapping import LiteralColumn, ObjectMap, RowMapping, Template, TripleMap
from bestbefore.rdf.terms import IRI, XSD, Literal, encode
from bestbefore.spark.event_lines import NOT_UTF8, json_object, text_lines
from bestbefore.spark.intake import REASON, STAMP, TRIPLES, TimestampUnit, intake_of, timed
from bestbefore.spark.sql import name as quoted
from bestbefore.spark.terms import percent_encoded

# The column for rows that a reader could not make sense of; no header can name a column so.
MALFORMED = "bestbefore\nmalformed"
_ROW = "row"
_SHOWN = 40
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
        row = F.struct(*(_text_of(name, kind).alias(name) for name, kind in kinds.items()))
        malformed = F.col(quoted(MALFORMED)) if MALFORMED in frame.columns else F.lit(None)
        texts = [F.col(quoted(name)).cast("string") for name in kinds if _is_text(kinds[name])]
        wrong = reduce(or_, (~F.is_valid_utf8(text) for text in texts), F.lit(False))  # noqa: FBT003
        reason = F.when(malformed.isNotNull(), "the row is malformed").when(wrong, NOT_UTF8)
        rows = frame.select(
            row.alias(_ROW), malformed.cast("string").alias("raw"), reason.alias(REASON)
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
        lines = text_lines(frame)
        rows = lines.withColumn(_ROW, json_object(F.col("raw"), self.mapping.columns))
        wrong = F.when(F.col(_ROW).isNull(), "not a JSON object")
        rows = rows.withColumn(REASON, F.coalesce(REASON, wrong))
        return _mapped(rows, self.mapping, self.timestamp_unit, identity="raw")


def _mapped(
    rows: DataFrame, mapping: RowMapping, unit: TimestampUnit, *, identity: str
) -> DataFrame:
    """The intake rows of `row`, a struct of strings, with a reason where it cannot be used."""
    reason = F.coalesce(REASON, *_missing(mapping), *_misfits(mapping))
    found = F.array(*map(_triple, mapping.triples))
    complete = F.filter(found, lambda triple: triple["s"].isNotNull() & triple["o"].isNotNull())
    events = timed(rows.withColumn(STAMP, _value(mapping.timestamp)), identity, unit=unit)
    events = events.withColumn(REASON, reason).withColumn(TRIPLES, complete)
    return intake_of(events, unit, raw=F.coalesce("raw", F.to_json(_ROW)))


def _missing(mapping: RowMapping) -> Iterator[Column]:
    for name in mapping.needed:
        part = "timestamp" if name == mapping.timestamp else "subject"
        yield F.when(_value(name).isNull(), f"no value for the {part} in the column {name!r}")


def _misfits(mapping: RowMapping) -> Iterator[Column]:
    literals = (triple.object for triple in mapping.triples)
    typed = {literal: None for literal in literals if isinstance(literal, LiteralColumn)}
    for literal in typed:
        if form := LEXICAL_FORMS.get(literal.datatype):
            value, kind = _value(literal.column), literal.datatype.replace(XSD, "xsd:")
            what = F.lit(f"the column {literal.column!r} holds no {kind}: ")
            yield F.when(~_fits(value, form), F.concat(what, F.substring(value, 1, _SHOWN)))


def _value(name: str) -> Column:
    """The text in a column; null if it is empty."""
    return F.expr(_value_sql(name))


def _value_sql(name: str) -> str:
    return f"nullif({_ROW}.{quoted(name)}, '')"


def _triple(mapped: TripleMap) -> Column:
    return F.struct(
        _iri(mapped.subject).alias("s"),
        F.lit(encode(IRI(mapped.predicate))).alias("p"),
        _object(mapped.object).alias("o"),
    )


def _object(node: ObjectMap) -> Column:
    match node:
        case Template():
            return _iri(node)
        case LiteralColumn(column, datatype, language):
            opening, closing = '"', encode(Literal("", datatype, language))[1:]
            return F.concat(F.lit(opening), _value(column), F.lit(closing))
    assert_never(node)


def _iri(template: Template) -> Column:
    pieces = [F.lit(piece) for piece in template.pieces]
    pieces[1::2] = [F.expr(percent_encoded(_value_sql(column))) for column in template.columns]
    return F.concat(F.lit("<"), *pieces, F.lit(">"))


def _fits(value: Column, form: LexicalForm) -> Column:
    fits = value.rlike(rf"^(?:{form.pattern})\z")
    if form.low is not None and form.high is not None:
        number = value.try_cast("decimal(38,0)")
        inside = number.between(F.lit(Decimal(form.low)), F.lit(Decimal(form.high)))
        fits = fits & F.coalesce(inside, F.lit(False))  # noqa: FBT003
    if form.starts_with_date:
        day = value.substr(1, len("2026-01-01")).try_cast("date")
        fits = fits & (~value.rlike(r"^\d{4}-") | day.isNotNull())
    return fits


def _is_text(kind: types.DataType) -> bool:
    """Whether a column of the type holds bytes that may be no UTF-8."""
    return isinstance(kind, types.StringType | types.BinaryType)


def _text_of(name: str, kind: types.DataType) -> Column:
    """The values of a column as XML Schema writes them, whatever the session's settings are."""
    column = F.col(quoted(name))
    match kind:
        case types.StringType() | types.BinaryType():
            return F.make_valid_utf8(column.cast("string"))
        case types.TimestampType():
            # A plain cast would write the session's own time zone.
            utc = F.expr(f"timestampadd(MICROSECOND, unix_micros({quoted(name)}), {_EPOCH})")
            local = F.replace(utc.cast("string"), F.lit(" "), F.lit("T"))
            return F.concat(local, F.lit("Z"))
        case types.DecimalType():
            # A plain cast may write an exponent.
            return F.replace(F.format_number(column, kind.scale), F.lit(","), F.lit(""))
        case types.FloatType() | types.DoubleType():
            return F.replace(column.cast("string"), F.lit("Infinity"), F.lit("INF"))
        case types.ArrayType() | types.MapType() | types.StructType() | types.VariantType():
            return F.to_json(column)
    return column.cast("string")
