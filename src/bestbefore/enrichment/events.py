"""The rows of a streaming DataFrame as triples, and back.

A row is the subject of a triple per column that it is joined on: an IRI that holds the row itself,
and a number that no other row has, since equal triples would be one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    LongType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from bestbefore.errors import InputError, nearest
from bestbefore.rdf.plain_values import ValueForm
from bestbefore.spark.mapped_rows import text_of
from bestbefore.spark.sql import name, quote
from bestbefore.spark.terms import percent_encoded

_ROW = "urn:bestbefore:row:"
_JSON = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))


def check_columns(stream: DataFrame, on: tuple[str, ...], own: tuple[str, ...]) -> None:
    """Refuse columns that are not there, that cannot be told apart, or that answers have too."""
    folded = [column.casefold() for column in stream.columns]
    for column in stream.columns:
        if folded.count(column.casefold()) > 1:
            raise InputError(f"the stream has the column {column!r} twice; rename one of them")
    for column in on:
        if column not in stream.columns:
            raise InputError(
                f"the stream has no column {column!r}; {nearest(column, stream.columns)}"
            )
    for column in own:
        if column.casefold() in folded:
            raise InputError(
                f"the stream has a column {column!r}, and so have its answers; rename that of the "
                "stream, withColumnRenamed, or of the lookup"
            )


def time_column(stream: DataFrame, given: str | None) -> str:
    """The column with the time of a row: the one that is given, or the only timestamp."""
    kinds = (TimestampType, TimestampNTZType)
    found = [field.name for field in stream.schema.fields if isinstance(field.dataType, kinds)]
    if given is None and len(found) == 1:
        return found[0]
    if given is None:
        raise InputError(
            f"the stream has {len(found)} timestamps ({', '.join(found) or 'none'}): say which "
            "column has the time of a row, time='…'"
        )
    check_columns(stream, (given,), ())
    kind = stream.schema[given].dataType
    if not isinstance(kind, (*kinds, LongType)):
        raise InputError(
            f"time={given!r} is of the type {kind.simpleString()}; it must be a timestamp, or a "
            "bigint of milliseconds since 1970"
        )
    return given


@dataclass(frozen=True)
class Events:
    """How rows of a stream become triples: `keys` are predicates by column, `forms` the terms."""

    schema: StructType
    time: str
    keys: Mapping[str, str]
    forms: Mapping[str, ValueForm]

    def triples(self, stream: DataFrame) -> DataFrame:
        """The stream as a DataFrame of ts, s, p and o."""
        whole = F.struct(*(F.col(name(column)) for column in self.schema.names))
        row = F.to_json(F.struct(F.expr("uuid()").alias("id"), whole.alias("row")), _JSON)
        packed = F.replace(F.base64(F.encode(row, "UTF-8")), F.lit("\r\n"), F.lit(""))
        subject = F.concat(F.lit(f"<{_ROW}"), packed, F.lit(">")).alias("s")
        pairs = [
            F.struct(F.lit(f"<{predicate}>").alias("p"), self._term(column).alias("o"))
            for column, predicate in self.keys.items()
        ]
        stamp = F.col(name(self.time)).cast("timestamp")
        if isinstance(self.schema[self.time].dataType, LongType):
            stamp = F.timestamp_millis(F.col(name(self.time)))
        rows = stream.select(stamp.alias("ts"), subject, F.array(*pairs).alias("pairs"))
        exploded = rows.select("ts", "s", F.explode("pairs").alias("pair"))
        return exploded.select("ts", "s", "pair.p", "pair.o")

    def row_of(self, subject: Column) -> Column:
        """The row that a subject, without its brackets, holds."""
        text = F.decode(F.unbase64(F.substring(subject, len(_ROW) + 1, 2**31 - 1)), "UTF-8")
        packed = StructType([StructField("row", self.schema)])
        return F.from_json(text, packed, _JSON).getField("row")

    def _term(self, column: str) -> Column:
        """The term that the value of a column becomes, as N-Triples has it."""
        form = self.forms.get(column, ValueForm())
        text = text_of(column, self.schema[column].dataType)
        if form.iri is not None:
            before, _, after = form.iri.partition("{}")
            value = text if form.iri == "{}" else percent_encoded(text)
            return F.expr(f"concat('<', {quote(before)}, {value}, {quote(after)}, '>')")
        for sign, escaped in _ESCAPES:
            text = f"replace({text}, {quote(sign)}, {quote(escaped)})"
        ending = f"@{form.language}" if form.language else ""
        ending = f"^^<{form.datatype}>" if form.datatype else ending
        return F.expr(f"concat('\"', {text}, {quote(chr(34) + ending)})")
