"""bestbefore: continuous queries over streams and slow remote data, as fresh as a budget allows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestbefore.engine import Engine, Quality, RunningQuery, Sink
    from bestbefore.errors import (
        BestbeforeError,
        InputError,
        JobError,
        PolicyError,
        QueryError,
        ServiceError,
        StateError,
        UnsupportedSparql,
        WorkError,
    )
    from bestbefore.experiments import simulate
    from bestbefore.job import Job, explain, load_job, read_job
    from bestbefore.query import parse_query
    from bestbefore.service import Fetched, Loaded, Service
    from bestbefore.traces import (
        BackgroundTrace,
        Links,
        StreamTrace,
        Traces,
        read_traces,
        write_traces,
    )

__version__ = "0.1.0"

__all__ = [
    "BackgroundTrace",
    "BestbeforeError",
    "Engine",
    "Fetched",
    "InputError",
    "Job",
    "JobError",
    "Links",
    "Loaded",
    "PolicyError",
    "Quality",
    "QueryError",
    "RunningQuery",
    "Service",
    "ServiceError",
    "Sink",
    "StateError",
    "StreamTrace",
    "Traces",
    "UnsupportedSparql",
    "WorkError",
    "__version__",
    "explain",
    "load_job",
    "parse_query",
    "read_job",
    "read_traces",
    "simulate",
    "write_traces",
]

# Where a name comes from, unless from the errors.
_ROOMS = {
    **dict.fromkeys(("Engine", "Quality", "RunningQuery", "Sink"), "engine"),
    **dict.fromkeys(("simulate",), "experiments"),
    **dict.fromkeys(("Job", "explain", "load_job", "read_job"), "job"),
    **dict.fromkeys(("parse_query",), "query"),
    **dict.fromkeys(("Fetched", "Loaded", "Service"), "service"),
    **dict.fromkeys(
        ("BackgroundTrace", "Links", "StreamTrace", "Traces", "read_traces", "write_traces"),
        "traces",
    ),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the public name stands for
    """Import a public name when it is first used: policies and simulator need no pyspark."""
    if name in __all__:
        return getattr(import_module(f"bestbefore.{_ROOMS.get(name, 'errors')}"), name)
    raise AttributeError(f"module 'bestbefore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
