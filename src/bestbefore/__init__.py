"""bestbefore: continuous queries over streams and slow remote data, as fresh as a budget allows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestbefore.engine import Engine, Quality
    from bestbefore.experiments import simulate
    from bestbefore.job import Job, load_job, read_job

__all__ = ["Engine", "Job", "Quality", "load_job", "read_job", "simulate"]

_HOMES = {
    "Job": "bestbefore.job",
    "load_job": "bestbefore.job",
    "read_job": "bestbefore.job",
    "simulate": "bestbefore.experiments",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the public name stands for
    """Import public names when they are first used: policies and simulator need no pyspark."""
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "bestbefore.engine")), name)
    raise AttributeError(f"module 'bestbefore' has no attribute {name!r}")
