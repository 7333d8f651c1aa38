"""Events in lines of text, and triples in columns: RDF that comes with its time.

A line is a JSON object with an RDF document in it, a triple in four tab-separated fields, or a
timestamp, a tab and an N-Quads statement.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from bestbefore.errors import InputError
from bestbefore.spark import ntriples
from bestbefore.spark.intake import REASON, STAMP, TRIPLES, TimestampUnit, intake_of, timed
from bestbefore.spark.payloads import SYNTAX, Payload, with_triples

LineFormat = Literal["jsonl", "tsv", "nquads"]
LINE_FORMATS: tuple[LineFormat, ...] = get_args(LineFormat)

NOT_UTF8 = "the text is not UTF-8"
_NO_QUAD = "not a timestamp, a tab and an N-Quads statement"


@dataclass(frozen=True)
class EventLines:
    """How the text in a column `value` becomes triples."""

    format: LineFormat = "jsonl"
    payload: Payload = "ntriples"
    time_field: str = "ts"
    data_field: str = "data"
    timestamp_unit: TimestampUnit = "ms"

    def intake(self, frame: DataFrame) -> DataFrame:
        """The intake rows of a frame with a column `value`."""
        lines = text_lines(frame)
        match self.format:
            case "tsv":
                events = _from_tsv(lines, self.timestamp_unit)
            case "nquads":
                events = _from_nquads(lines, self.timestamp_unit)
            case "jsonl":
                events = self._from_json(lines)
        return intake_of(events, self.timestamp_unit)

    def _from_json(self, lines: DataFrame) -> DataFrame:
        event = json_object(F.col("raw"), (self.time_field, self.data_field))
        read = lines.withColumn("parsed", event).select(
            "raw",
            REASON,
            F.col("parsed").getField(self.time_field).alias(STAMP),
            F.col("parsed").getField(self.data_field).alias("data"),
        )
        events = timed(read, "raw", unit=self.timestamp_unit)
        reason = F.coalesce(
            REASON,
            F.when(F.col(STAMP).isNull(), f"no field {self.time_field!r} in a JSON object"),
            F.when(F.col("data").isNull(), f"no field {self.data_field!r}"),
            F.when(F.col(TRIPLES).isNull(), f"{self.data_field!r} is not {SYNTAX[self.payload]}"),
        )
        return with_triples(events, "data", self.payload).withColumn(REASON, reason)


def text_lines(frame: DataFrame) -> DataFrame:
    """The column `value` as valid text `raw`, and a reason where it was not UTF-8."""
    if "value" not in frame.columns:
        raise InputError(f"no column 'value' to read lines from, only: {', '.join(frame.columns)}")
    text = F.col("value").cast("string")
    wrong = F.when(~F.is_valid_utf8(text), NOT_UTF8)
    return frame.select(F.make_valid_utf8(text).alias("raw"), wrong.alias(REASON))


def json_object(text: Column, fields: tuple[str, ...]) -> Column:
    """The fields of a JSON object as strings; null where the text is not one object.

    Spark's own reading of an object ends with its last brace and ignores what comes after it;
    as the only item of an array it is read to the end of the text.
    """
    item = StructType([StructField(name, StringType()) for name in fields])
    items = F.from_json(F.concat(F.lit("["), text, F.lit("]")), ArrayType(item))
    return ntriples.computed_once(items, lambda read: F.when(F.size(read) == 1, F.get(read, 0)))


def elements_of(stream: DataFrame) -> DataFrame:
    """The intake rows of a DataFrame that the caller hands over, with `time` (or `ts`), s, p, o."""
    renamed = stream.withColumnRenamed("ts", "time")
    needed = ("time", *"spo")
    missing = [name for name in needed if name not in renamed.columns]
    if missing:
        raise InputError(
            f"the stream lacks the column {missing[0]!r}; it needs ts, s, p and o, with terms "
            f"written as in N-Triples, and has: {', '.join(stream.columns)}"
        )
    terms = [F.col(name).cast("string").alias(name) for name in "spo"]
    wrong = reduce(or_, (~F.is_valid_utf8(term) for term in terms))
    rows = renamed.select(_stamp(renamed), *terms, F.when(wrong, NOT_UTF8).alias(REASON))
    shown = [F.make_valid_utf8(name).alias(name) for name in "spo"]
    raw = F.to_json(F.struct(F.col(STAMP).alias("time"), *shown))
    return intake_of(_one_triple(timed(rows, *"spo")), raw=raw)


def _stamp(stream: DataFrame) -> Column:
    kind = stream.schema["time"].dataType.simpleString()
    column = F.col("time")
    return (F.unix_millis(column) if kind == "timestamp" else column).cast("string").alias(STAMP)


def _from_tsv(lines: DataFrame, unit: TimestampUnit) -> DataFrame:
    parts = F.split("raw", "\t")
    columns = [F.get(parts, number).alias(name) for number, name in enumerate((STAMP, *"spo"))]
    short = F.when(F.size(parts) != 4, "not four fields separated by tabs: ts, s, p, o")
    rows = lines.select("raw", *columns, F.coalesce(REASON, short).alias(REASON))
    return _one_triple(timed(rows, "raw", unit=unit))


def _from_nquads(lines: DataFrame, unit: TimestampUnit) -> DataFrame:
    parts = F.split("raw", "\t", 2)
    found = ntriples.triples_of(F.get(parts, 1), graphs=True)
    rows = lines.select("raw", REASON, F.get(parts, 0).alias(STAMP), found.alias(TRIPLES))
    wrong = F.when(F.col(TRIPLES).isNull(), _NO_QUAD)
    return timed(rows, "raw", unit=unit).withColumn(REASON, F.coalesce(REASON, wrong))


def _one_triple(rows: DataFrame) -> DataFrame:
    """Rows with one triple each, whose terms are written in N-Triples."""
    reason = F.coalesce(
        REASON,
        F.when(~_fits("s", ntriples.SUBJECT), "the subject is no IRI or blank node"),
        F.when(~_fits("p", ntriples.PREDICATE), "the predicate is no IRI"),
        F.when(~_fits("o", ntriples.OBJECT), "the object is no RDF term"),
    )
    triple = F.struct(*(ntriples.canonical(F.col(name)).alias(name) for name in "spo"))
    return rows.withColumn(REASON, reason).withColumn(TRIPLES, F.array(triple))


def _fits(column: str, form: str) -> Column:
    return F.coalesce(F.col(column).rlike(form), F.lit(False))  # noqa: FBT003
