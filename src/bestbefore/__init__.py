"""bestbefore: continuous queries over streams and slow remote data, as fresh as a budget allows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestbefore.engine import Engine, Figures, Quality, RunningQuery, Sink
    from bestbefore.enrichment import HttpLookup, SparqlLookup, SqlLookup, enrich
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
    "Figures",
    "HttpLookup",
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
    "SparqlLookup",
    "SqlLookup",
    "StateError",
    "StreamTrace",
    "Traces",
    "UnsupportedSparql",
    "WorkError",
    "__version__",
    "enrich",
    "explain",
    "load_job",
    "parse_query",
    "read_job",
    "read_traces",
    "simulate",
    "write_traces",
]

# Which names come from where, unless from the errors.
_ROOMS = {
    "engine": ("Engine", "Figures", "Quality", "RunningQuery", "Sink"),
    "enrichment": ("HttpLookup", "SparqlLookup", "SqlLookup", "enrich"),
    "experiments": ("simulate",),
    "job": ("Job", "explain", "load_job", "read_job"),
    "query": ("parse_query",),
    "service": ("Fetched", "Loaded", "Service"),
    "traces": ("BackgroundTrace", "Links", "StreamTrace", "Traces", "read_traces", "write_traces"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the public name stands for
    """Import a public name when it is first used: policies and simulator need no pyspark."""
    if name in __all__:
        room = next((room for room, names in _ROOMS.items() if name in names), "errors")
        return getattr(import_module(f"bestbefore.{room}"), name)
    raise AttributeError(f"module 'bestbefore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
