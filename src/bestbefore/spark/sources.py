"""Stream sources: anything that becomes rows of `time`, `s`, `p`, `o`, or a reason why not.

A line that cannot be read is never dropped silently: it comes out with its raw text and a reason,
and the engine counts it and puts it into quarantine.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from bestbefore.errors import InputError
from bestbefore.spark import jsonld, ntriples
from bestbefore.spark.columns import ELEMENT_FIELDS

LineFormat = Literal["tsv", "jsonl"]
Payload = Literal["ntriples", "json-ld"]

_MILLISECONDS = r"^\d{1,15}$"
_ISO_INSTANT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}"


@dataclass(frozen=True)
class FolderSource:
    """A folder into which files of lines are moved; each file is read once, oldest first."""

    path: str
    format: LineFormat = "jsonl"
    payload: Payload = "ntriples"
    time_field: str = "ts"
    data_field: str = "data"
    files_per_batch: int | None = None

    def check(self) -> None:
        """Refuse a folder on this machine that does not exist."""
        if "://" not in self.path and not Path(self.path).is_dir():
            raise InputError(f"no such folder: {self.path}; the stream's files are read from it")

    def stream(self, spark: SparkSession) -> DataFrame:
        """The intake rows of the folder as a streaming DataFrame."""
        self.check()
        reader = spark.readStream.format("text")
        if self.files_per_batch is not None:
            reader = reader.option("maxFilesPerTrigger", self.files_per_batch)
        return self.parse(reader.load(self.path))

    def parse(self, lines: DataFrame) -> DataFrame:
        """The intake rows of lines of text in the column `value`."""
        return _from_tsv(lines) if self.format == "tsv" else self._from_json(lines)

    def _from_json(self, lines: DataFrame) -> DataFrame:
        fields = [StructField(name, StringType()) for name in (self.time_field, self.data_field)]
        event = F.from_json("value", StructType(fields))
        events = lines.select(
            F.col("value").alias("raw"),
            event[self.time_field].alias("stamp"),
            event[self.data_field].alias("data"),
        )
        if self.payload == "json-ld":
            read, kind = jsonld.with_triples(events, "data"), "JSON-LD"
        else:
            scope = F.hex(F.xxhash64("raw"))
            found = _scoped(ntriples.triples_of(F.col("data")), scope)
            read, kind = events.withColumn(jsonld.TRIPLES, found), "N-Triples"
        reason = (
            F.when(F.col("stamp").isNull(), f"no field {self.time_field!r} in a JSON object")
            .when(F.col("data").isNull(), f"no field {self.data_field!r}")
            .when(F.col(jsonld.TRIPLES).isNull(), f"{self.data_field!r} is not {kind}")
        )
        return _intake(read.withColumn("reason", reason))


def elements_of(stream: DataFrame) -> DataFrame:
    """The intake rows of a DataFrame that the caller hands over, with `time` (or `ts`), s, p, o."""
    renamed = stream.withColumnRenamed("ts", "time")
    missing = [name for name in ELEMENT_FIELDS if name not in renamed.columns]
    if missing:
        raise InputError(
            f"the stream lacks the column {missing[0]!r}; it needs ts, s, p and o, with terms "
            f"written as in N-Triples, and has: {', '.join(stream.columns)}"
        )
    stamp = _milliseconds_of(renamed)
    raw = F.to_json(F.struct(*(F.col(name).cast("string") for name in ELEMENT_FIELDS)))
    rows = renamed.select(raw.alias("raw"), stamp.alias("stamp"), *(F.col(name) for name in "spo"))
    return _from_columns(rows)


def _milliseconds_of(stream: DataFrame) -> Column:
    kind = stream.schema["time"].dataType.simpleString()
    column = F.col("time")
    return (F.unix_millis(column) if kind == "timestamp" else column).cast("string")


def _from_tsv(lines: DataFrame) -> DataFrame:
    parts = F.split("value", "\t")
    columns = [F.get(parts, place).alias(name) for place, name in enumerate(("stamp", *"spo"))]
    short = F.when(F.size(parts) != 4, "not four fields separated by tabs: ts, s, p, o")
    return _from_columns(lines.select(F.col("value").alias("raw"), *columns, short.alias("reason")))


def _from_columns(rows: DataFrame) -> DataFrame:
    """Rows with one triple each, whose terms are written in N-Triples."""
    known = F.col("reason") if "reason" in rows.columns else F.lit(None).cast("string")
    reason = F.coalesce(
        known,
        F.when(~_fits("s", ntriples.SUBJECT), "the subject is no IRI or blank node"),
        F.when(~_fits("p", ntriples.PREDICATE), "the predicate is no IRI"),
        F.when(~_fits("o", ntriples.OBJECT), "the object is no RDF term"),
    )
    triple = F.struct(*(ntriples.canonical(F.col(name)).alias(name) for name in "spo"))
    return _intake(rows.withColumn("reason", reason).withColumn(jsonld.TRIPLES, F.array(triple)))


def _fits(column: str, form: str) -> Column:
    return F.coalesce(F.col(column).rlike(form), F.lit(False))  # noqa: FBT003


def _scoped(triples: Column, scope: Column) -> Column:
    """Blank nodes named after their event: two events never mean the same one by a label."""

    def name(term: Column) -> Column:
        blank = term.startswith("_:")
        return F.when(blank, F.concat(term, F.lit("x"), scope)).otherwise(term)

    return F.transform(
        triples,
        lambda each: F.struct(
            name(each["s"]).alias("s"), each["p"].alias("p"), name(each["o"]).alias("o")
        ),
    )


def _intake(events: DataFrame) -> DataFrame:
    """One row per triple of a good event, one row per bad event."""
    stamp = F.col("stamp")
    instant = F.when(stamp.rlike(_ISO_INSTANT), F.unix_millis(stamp.try_cast("timestamp")))
    time = F.when(stamp.rlike(_MILLISECONDS), stamp.cast("long")).otherwise(instant)
    wrong = F.concat(
        F.lit("the timestamp is neither milliseconds nor ISO 8601: "), F.substring(stamp, 1, 40)
    )
    judged = events.withColumn("time", time).withColumn(
        "reason", F.coalesce("reason", F.when(F.col("time").isNull(), wrong))
    )
    good = F.col("reason").isNull()
    nothing = F.lit(None).cast("struct<s:string,p:string,o:string>")
    rows = judged.select(
        F.when(good, F.col("time")).alias("time"),
        F.explode(F.when(good, F.col(jsonld.TRIPLES)).otherwise(F.array(nothing))).alias("triple"),
        F.when(~good, F.col("raw")).alias("raw"),
        "reason",
    )
    columns = [F.col(f"triple.{name}").alias(name) for name in "spo"]
    return rows.select("time", *columns, "raw", "reason")
