"""Sinks: where the answers of a batch go."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.errors import JobError
from bestbefore.job.job import Job, SinkSettings
from bestbefore.spark.columns import EVALUATION
from bestbefore.spark.hadoop import storage_at
from bestbefore.spark.sql import name
from bestbefore.storage import Storage, local_path

_FILE_FORMATS = ("json", "parquet", "orc")
_STDOUT = "stdout"


class Sink(Protocol):
    """A function that writes the answers of one batch, in one Spark job.

    The DataFrame has a row per evaluation: `evaluation`, `at`, `window`, `rows` and, with
    `sink.row_freshness`, `fresh`. A batch that is repeated after a crash comes again under the same
    number.
    """

    def __call__(self, answers: DataFrame, batch: int, /) -> None:
        """Write the answers of a batch."""
        ...


def check_output(job: Job, *, sink_given: bool = False) -> None:
    """Refuse what can be known to be wrong with where a job writes, before Spark is started.

    A sink that the caller has given stands in for the job's own.
    """
    if job.sink.quality is not None:
        _check_folder("sink.quality", job.sink.quality)
    _check_folder("checkpoint.path", job.checkpoint)
    if not sink_given:
        _check_sink(job.sink)


def output_folders(job: Job, *, sink_given: bool = False) -> dict[str, str]:
    """The folders that a job writes answers and quality records into, by their keys."""
    folders = {"sink.quality": job.sink.quality}
    if job.sink.format in _FILE_FORMATS and not sink_given:
        folders["sink.path"] = job.sink.path
    return {key: path for key, path in folders.items() if path is not None}


def _check_sink(sink: SinkSettings) -> None:
    if sink.mode == "overwrite-batch" and sink.format not in (*_FILE_FORMATS, _STDOUT):
        raise JobError(
            f"sink.format = {sink.format!r} cannot overwrite a repeated batch: set sink.mode = "
            f"'append' (at least once; rows carry their evaluation), or use one of "
            f"{', '.join((*_FILE_FORMATS, _STDOUT))}"
        )
    if sink.format in _FILE_FORMATS:
        if sink.path is None:
            raise JobError(f"sink.path is missing: format {sink.format!r} writes into a folder")
        _check_folder("sink.path", sink.path)


def sink_of(settings: SinkSettings, spark: SparkSession) -> Sink:
    """The sink that a job names; a format that Spark does not have is refused."""
    if settings.format == _STDOUT:
        return StandardOutput()
    if settings.format not in _FILE_FORMATS:
        _check_format(settings.format, spark)
    if settings.mode == "append":
        return _append(settings)
    storage = storage_at(spark, settings.path or "")
    if settings.format == "json" and not settings.options:
        return JsonFolder(settings, storage)
    return _overwrite(settings, storage)


def _check_folder(key: str, path: str) -> None:
    """Refuse a path of this machine where no folder is or can be made."""
    folder = local_path(path)
    if folder is None:
        return
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    if not there.is_dir():
        raise JobError(f"{key} = {path!r}: {there} is a file, and a folder is needed there")
    if not os.access(there, os.W_OK):
        raise JobError(f"{key} = {path!r}: {there} cannot be written to")


def _check_format(name: str, spark: SparkSession) -> None:
    """Refuse an unknown format: reading nothing with it fails for that reason, or for another."""
    try:
        spark.read.format(name).load()
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        if "DATA_SOURCE_NOT_FOUND" in text or "Failed to find" in text:
            raise JobError(
                f"sink.format = {name!r}: Spark has no such format; use one of "
                f"{', '.join((*_FILE_FORMATS, _STDOUT))}, or start Spark with the package that "
                "brings it"
            ) from None


def _overwrite(settings: SinkSettings, storage: Storage) -> Sink:
    """Files in a folder per batch: a repeated batch replaces its own, so answers come once."""

    def write(answers: DataFrame, batch: int) -> None:
        writer = answers.write.format(settings.format).mode("overwrite")
        writer.options(**settings.options).save(f"{settings.path}/{_batch_folder(batch)}")
        # The commit that follows says that they are there.
        storage.force(_batch_folder(batch))

    return write


def _batch_folder(batch: int) -> str:
    return f"batch={batch:012d}"


def _append(settings: SinkSettings) -> Sink:
    """Any Spark format, at least once: after a crash an evaluation may come a second time."""

    def write(answers: DataFrame, _: int) -> None:
        rows = _for_kafka(answers) if settings.format == "kafka" else answers
        writer = rows.write.format(settings.format).mode("append").options(**settings.options)
        writer.save(settings.path if settings.format in _FILE_FORMATS else None)

    return write


def _for_kafka(answers: DataFrame) -> DataFrame:
    value = _as_json(answers).alias("value")
    if EVALUATION not in answers.columns:
        return answers.select(value)
    return answers.select(F.col(EVALUATION).cast("string").alias("key"), value)


def _as_json(answers: DataFrame) -> Column:
    return F.to_json(F.struct(*(F.col(name(column)) for column in answers.columns)))


@runtime_checkable
class LineSink(Sink, Protocol):
    """A sink that also takes few answers as lines of JSON."""

    def write_lines(self, lines: Sequence[str], batch: int) -> None:
        """Write the answers of a batch, one line per evaluation, in their order."""
        ...


@dataclass(frozen=True)
class JsonFolder:
    """JSON files in a folder per batch: few answers are one file, many are written by Spark."""

    settings: SinkSettings
    storage: Storage

    def __call__(self, answers: DataFrame, batch: int) -> None:
        """Let Spark write the answers of a batch."""
        _overwrite(self.settings, self.storage)(answers, batch)

    def write_lines(self, lines: Sequence[str], batch: int) -> None:
        """Write the answers of a batch as one file, in place of what the folder held."""
        folder = _batch_folder(batch)
        self.storage.delete(folder)
        self.storage.write(
            f"{folder}/part-00000.json", "".join(f"{one}\n" for one in lines).encode()
        )


class Nowhere:
    """A sink of answers that nobody wants."""

    def __call__(self, answers: DataFrame, _: int) -> None:
        """Let Spark make the answers, for their figures."""
        answers.write.format("noop").mode("overwrite").save()

    def write_lines(self, lines: Sequence[str], batch: int) -> None:
        """Do without."""


class StandardOutput:
    """One line per evaluation, for people and pipes."""

    def __call__(self, answers: DataFrame, batch: int) -> None:
        """Collect the answers of a batch and print them."""
        order = [EVALUATION] if EVALUATION in answers.columns else []
        rows = answers.select(*order, _as_json(answers).alias("line")).collect()
        self.write_lines([row["line"] for row in (sorted(rows) if order else rows)], batch)

    def write_lines(self, lines: Sequence[str], _: int) -> None:
        """Print the answers of a batch."""
        for line in lines:
            sys.stdout.write(json.dumps(json.loads(line), ensure_ascii=False) + "\n")
        sys.stdout.flush()
