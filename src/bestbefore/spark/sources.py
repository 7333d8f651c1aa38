"""Stream sources: where events come from, and how they are read into intake rows."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from bestbefore.errors import InputError
from bestbefore.rdf.mapping import RowMapping
from bestbefore.spark.event_lines import EventLines, LineFormat
from bestbefore.spark.mapped_rows import MALFORMED, MappedColumns, MappedJson
from bestbefore.spark.reasons import reason_of

RowFormat = Literal["csv", "json", "parquet"]
ROW_FORMATS: tuple[RowFormat, ...] = get_args(RowFormat)

Reading = EventLines | MappedColumns | MappedJson

_KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13"


class Source(Protocol):
    """Where the events of a stream come from."""

    @property
    def reading(self) -> Reading:
        """How its rows become triples."""
        ...

    def check(self) -> None:
        """Refuse what can be known to be wrong before Spark is started."""
        ...

    def stream(self, spark: SparkSession) -> DataFrame:
        """The intake rows as a streaming DataFrame."""
        ...


@dataclass(frozen=True)
class FolderSource:
    """A folder into which files are moved; each file is read once, oldest first.

    `columns` are those of CSV files without a header, or of a folder that is still empty; `schema`
    is that of Parquet files in such a folder.
    """

    path: str
    format: LineFormat | RowFormat = "jsonl"
    reading: Reading = field(default_factory=EventLines)
    files_per_batch: int | None = None
    header: bool = True
    columns: tuple[str, ...] | None = None
    schema: str | None = None
    options: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse a folder on this machine that does not exist."""
        if "://" not in self.path and not Path(self.path).is_dir():
            raise InputError(f"no such folder: {self.path}; the stream's files are read from it")

    def stream(self, spark: SparkSession) -> DataFrame:
        """The intake rows of the folder as a streaming DataFrame."""
        return self._intake(spark, spark.readStream)

    def present(self, spark: SparkSession) -> DataFrame:
        """The intake rows of what is in the folder now, as a plain DataFrame."""
        return self._intake(spark, spark.read)

    def _intake(self, spark: SparkSession, reader: Any) -> DataFrame:  # noqa: ANN401
        """What a reader of streams or of plain files, which have no common type, makes of it."""
        self.check()
        with _named_errors(self.path):
            return self.reading.intake(self._configured(spark, reader).load(self.path))

    def _configured(self, spark: SparkSession, reader: Any) -> Any:  # noqa: ANN401
        if self.files_per_batch is not None:
            reader = reader.option("maxFilesPerTrigger", self.files_per_batch)
        match self.format:
            case "csv":
                schema = _strings(self.columns or self._header(spark))
                reader = reader.schema(schema).options(**self._csv(), header=self.header)
            case "json":
                mapping = mapping_of(self)
                schema = _strings(mapping.columns if mapping else ())
                reader = reader.schema(schema).options(**_TOLERANT)
            case "parquet":
                reader = reader.schema(self.schema or self._stored_schema(spark))
        kind = self.format if self.format in ROW_FORMATS else "text"
        return reader.format(kind).options(**self.options)

    def _csv(self) -> dict[str, str]:
        """Spark's options for CSV, with quotes doubled inside quotes unless the job says else."""
        quote = self.options.get("quote", '"')
        doubled = {"escape": quote, "charToEscapeQuoteEscaping": quote}
        return _CSV if "escape" in self.options else {**_CSV, **doubled}

    def _header(self, spark: SparkSession) -> list[str]:
        """The columns of the file that is read first."""
        files = spark.read.options(**self.options).format("binaryFile").load(self.path)
        filled = files.filter("length > 0").orderBy("modificationTime", "path")
        oldest = filled.select("path").first()
        if oldest is None:
            raise self._empty("CSV", "name the columns, columns = ['…']")
        options = {**self._csv(), **self.options, "header": "true"}
        return spark.read.options(**options).csv(oldest["path"]).columns

    def _stored_schema(self, spark: SparkSession) -> StructType:
        try:
            return spark.read.options(**self.options).parquet(self.path).schema
        except PySparkException as error:
            if error.getCondition() != "UNABLE_TO_INFER_SCHEMA":
                raise
            raise self._empty("Parquet", "give its schema, schema = 'ts BIGINT, …'") from None

    def _empty(self, kind: str, way_out: str) -> InputError:
        return InputError(
            f"no {kind} file is there yet to take the columns from: put one there, or {way_out}"
        )


@dataclass(frozen=True)
class SparkSource:
    """Any streaming source that Spark has, or gets by a package, such as Kafka."""

    format: str
    reading: Reading
    options: dict[str, str] = field(default_factory=dict)
    secret_options: dict[str, str] = field(default_factory=dict, repr=False)
    schema: str | None = None

    def check(self) -> None:
        """Nothing is known before Spark is started."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The intake rows of the source as a streaming DataFrame."""
        reader = spark.readStream.format(self.format)
        reader = reader.options(**self.options, **self.secret_options)
        with _named_errors(f"the stream of format {self.format!r}", spark):
            reader = reader.schema(self.schema) if self.schema else reader
            return self.reading.intake(reader.load())


def mapping_of(source: Source) -> RowMapping | None:
    """The row mapping of a source of plain rows."""
    return None if isinstance(source.reading, EventLines) else source.reading.mapping


_TOLERANT = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
# A header that differs from the one that the columns were taken from ends the run: the values of
# its rows would be taken for those of other columns.
_CSV = {**_TOLERANT, "enforceSchema": "false"}


def _strings(names: tuple[str, ...] | list[str]) -> StructType:
    return StructType([StructField(name, StringType()) for name in (*names, MALFORMED)])


@contextmanager
def _named_errors(source: str, spark: SparkSession | None = None) -> Iterator[None]:
    """Say in one line what is wrong with a source."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        if spark is not None and "KAFKA_DATA_SOURCE_NOT_ENABLED" in text:
            package = f"{_KAFKA}:{spark.version}"
            raise InputError(
                f"{source}: Spark has no Kafka source; start with its package, "
                f"bestbefore run … --conf spark.jars.packages={package}"
            ) from None
        raise InputError(f"{source}: {reason_of(text)}") from None


def file_failure(text: str) -> InputError | None:
    """The error of a run that met a file it cannot read, if that is what Spark says."""
    if header := _OTHER_HEADER.search(text):
        return InputError(
            f"{header['file']}: the CSV header {header['header']} is not that of the stream, "
            f"{header['columns']}: write the file anew with these columns, then run again"
        )
    if (file := _UNREADABLE.search(text)) is None:
        return None
    causes = _CAUSE.findall(text)
    if any("MALFORMED_CSV_RECORD" in cause for cause in causes):
        cause = "a CSV row has more columns than Spark reads; see its option maxColumns"
    else:
        cause = causes[-1] if causes else "Spark does not say why"
    return InputError(f"{file['file']} cannot be read: {cause}; repair the file, then run again")


_OTHER_HEADER = re.compile(
    r"CSV header does not conform to the schema\.\s+Header: (?P<header>[^\n]+)\s+"
    r"Schema: (?P<columns>[^\n]+)[\s\S]*?CSV file: (?P<file>\S+)"
)
_UNREADABLE = re.compile(r"FAILED_READ_FILE[^\n]* file (?P<file>\S+?)\.\s")
_CAUSE = re.compile(r"Caused by: [\w.$]+: ([^\n]{1,200})")
