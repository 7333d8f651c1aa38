"""`bestbefore explain`: what would run, as text on stdout."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console

from bestbefore.input_files import read_text
from bestbefore.job import Job, explain, load_job
from bestbefore.query import ContinuousQuery, find_warnings, parse_query

_QUERY_SIGNS = ("{", "\n", " ")


def explain_source(source: str, *, with_spark: bool, console: Console) -> None:
    """Explain a job file, a query file or a query's text."""
    what = read_source(source)
    for warning in find_warnings(what.query if isinstance(what, Job) else what):
        console.print(f"warning: {warning}")
    if not with_spark:
        sys.stdout.write(explain(what))
        return
    from bestbefore.spark.session import local_session  # noqa: PLC0415 - pyspark is slow

    console.print("starting Spark for its plans (--no-spark leaves them out) …")
    with tempfile.TemporaryDirectory() as folder:
        spark = local_session(log=Path(folder) / "spark.log")
        sys.stdout.write(explain(what, spark=spark))


def read_source(source: str) -> Job | ContinuousQuery:
    """The job of a job file, or the query of a file or a text."""
    if source.endswith(".toml"):
        return load_job(source)
    if any(sign in source for sign in _QUERY_SIGNS) and not Path(source[:200]).is_file():
        return parse_query(source)
    return parse_query(read_text(source))
