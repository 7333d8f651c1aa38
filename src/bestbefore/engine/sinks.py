"""Sinks: where the answers of a batch go."""

import json
import sys
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.errors import JobError
from bestbefore.job.job import SinkJob

ANSWER = ("evaluation", "at", "window", "rows")
_FILE_FORMATS = ("json", "parquet", "orc")
_STDOUT = "stdout"


class Sink(Protocol):
    """A function that writes the answers of one batch, in one Spark job.

    The DataFrame has a row per evaluation: `evaluation`, `at`, `window` and `rows`. A batch that
    is repeated after a crash comes again under the same number.
    """

    def __call__(self, answers: DataFrame, batch: int) -> None:
        """Write the answers of a batch."""
        ...


def sink_of(job: SinkJob) -> Sink:
    """The sink that a job names."""
    if job.format == _STDOUT:
        return _print
    if job.mode == "append":
        return _append(job)
    if job.format not in _FILE_FORMATS:
        raise JobError(
            f"sink.format = {job.format!r} cannot overwrite a repeated batch: set sink.mode = "
            f"'append' (at least once; rows carry their evaluation), or use one of "
            f"{', '.join((*_FILE_FORMATS, _STDOUT))}"
        )
    return _overwrite(job)


def _overwrite(job: SinkJob) -> Sink:
    """Files in a folder per batch: a repeated batch replaces its own, so answers come once."""

    def write(answers: DataFrame, batch: int) -> None:
        writer = answers.write.format(job.format).mode("overwrite").options(**job.options)
        writer.save(f"{job.path}/batch={batch:012d}")

    return write


def _append(job: SinkJob) -> Sink:
    """Any Spark format, at least once: after a crash an evaluation may come a second time."""

    def write(answers: DataFrame, batch: int) -> None:  # noqa: ARG001
        rows = _for_kafka(answers) if job.format == "kafka" else answers
        writer = rows.write.format(job.format).mode("append").options(**job.options)
        if job.path and job.format in _FILE_FORMATS:
            writer.save(job.path)
        else:
            writer.save()

    return write


def _for_kafka(answers: DataFrame) -> DataFrame:
    value = F.to_json(F.struct(*ANSWER)).alias("value")
    return answers.select(F.col("evaluation").cast("string").alias("key"), value)


def _print(answers: DataFrame, batch: int) -> None:  # noqa: ARG001
    lines = answers.select("evaluation", F.to_json(F.struct(*ANSWER)).alias("line")).collect()
    for _, line in sorted(lines):
        sys.stdout.write(json.dumps(json.loads(line), ensure_ascii=False) + "\n")
    sys.stdout.flush()
