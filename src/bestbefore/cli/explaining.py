"""`bestbefore explain`: what would run, as text on stdout."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console

from bestbefore.errors import JobError
from bestbefore.job import Job, load_job
from bestbefore.job.explanation import describe_job, describe_query
from bestbefore.query import find_warnings, parse_query, plan
from bestbefore.spark.explained_plans import describe_plans

_QUERY_SIGNS = ("{", "\n", " ")


def explain_source(source: str, *, with_spark: bool, console: Console) -> None:
    """Explain a job file, a query file or a query's text."""
    if source.endswith(".toml"):
        job: Job | None = load_job(source)
        query = job.query  # type: ignore[union-attr]
        sections = describe_job(job)  # type: ignore[arg-type]
    else:
        query = parse_query(_text(source))
        sections = []
    query_plan = plan(query)
    for warning in find_warnings(query):
        console.print(f"warning: {warning}", markup=False)
    sections += describe_query(query, query_plan)
    if with_spark:
        from bestbefore.spark.session import local_session  # noqa: PLC0415

        console.print("starting Spark for its plans (--no-spark leaves them out) …")
        with tempfile.TemporaryDirectory() as folder:
            spark = local_session(log=Path(folder) / "spark.log")
            sections += describe_plans(spark, query, query_plan)
    sys.stdout.write("\n".join(f"── {title} ──\n{text.rstrip()}\n" for title, text in sections))


def _text(source: str) -> str:
    if any(sign in source for sign in _QUERY_SIGNS) and not Path(source[:200]).is_file():
        return source
    path = Path(source)
    if not path.is_file():
        raise JobError(f"no such file: {path}")
    return path.read_text(encoding="utf-8")
