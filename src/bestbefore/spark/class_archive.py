"""Spark's classes, loaded and verified once: a session then starts in some 5 s instead of 9.

The archive belongs to one Python environment. A JVM that finds it made for other classes, or for
another Java, leaves it alone.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bestbefore.errors import WorkError

_PATIENCE_S = 120.0
_LINES = "\n".join(f'{{"ts": {number}, "data": "<a> <b> <c{number}> ."}}' for number in range(9))
_QUERY = """
with parts as (select ts, split(data, ' ') as part from batch where ts is not null)
select part[0] as key, count(distinct part[2]) as objects, collect_set(part[1]) as predicates,
       max(ts) as latest, first(row) as row
from parts join (select explode(array(1, 2)) as row) on ts >= row group by part[0]
"""


def class_archive() -> Path:
    """Where the archive of this Python environment is, once it was made."""
    return Path(sys.prefix) / "share" / "bestbefore" / "spark-classes.jsa"


def archive_options() -> tuple[str, ...]:
    """How a JVM is told to use the archive; nothing if there is none."""
    archive = class_archive()
    return (f'"-XX:SharedArchiveFile={archive}"', "-Xshare:auto") if archive.is_file() else ()


def make_class_archive() -> None:
    """Run a little of everything on Spark, and keep the classes that it took."""
    from bestbefore.spark.session import local_session  # noqa: PLC0415 - it uses the archive

    archive = class_archive()
    archive.unlink(missing_ok=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=archive.parent) as folder:
        dump = Path(folder) / "classes.jsa"
        options = f'"-XX:ArchiveClassesAtExit={dump}"'
        session = local_session(options=options, log=Path(folder) / "spark.log")
        _run(session, Path(folder))
        gateway: Any = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        # The JVM ends with its standard input, and writes the archive as the last thing it does.
        gateway.proc.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            gateway.proc.wait(_PATIENCE_S)
        if not dump.is_file():
            gateway.proc.kill()
            raise WorkError("Java wrote no archive of Spark's classes; sessions start without it")
        dump.rename(archive)


def _run(session: SparkSession, folder: Path) -> None:
    """A streaming query from text to Parquet and Arrow, as every job is one."""
    from bestbefore.spark.session import fast_checkpoint  # noqa: PLC0415 - it uses the archive

    source = folder / "source"
    source.mkdir()
    (source / "lines.jsonl").write_text(_LINES, encoding="utf-8")

    def take(batch: DataFrame, number: int) -> None:
        table = str(folder / f"batch-{number}")
        batch.write.mode("overwrite").parquet(table)
        local = batch.sparkSession
        local.read.parquet(table).createOrReplaceTempView("batch")
        local.createDataFrame(local.sql(_QUERY).toArrow()).write.json(f"{table}-answers")

    rows = session.readStream.schema("ts long, data string").json(str(source))
    query = rows.writeStream.foreachBatch(take).trigger(availableNow=True)
    checkpoint = str(folder / "checkpoint")
    with fast_checkpoint(session, checkpoint):
        query.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    try:
        make_class_archive()
    except WorkError as error:
        sys.exit(f"bestbefore: {error}")
