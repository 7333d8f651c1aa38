"""A job: everything the engine needs to run one continuous query."""

from dataclasses import dataclass, field
from typing import Literal

from bestbefore.maintenance import Policy
from bestbefore.query import ContinuousQuery, QueryPlan
from bestbefore.service import ClientSettings
from bestbefore.spark.sources import Source

AVAILABLE_NOW = "available-now"


@dataclass(frozen=True)
class StreamJob:
    """A stream: where it comes from and how late its elements may be."""

    name: str
    iri: str
    source: Source | None
    allowed_lateness_ms: int = 0
    clock_skew_ms: int = 86_400_000


@dataclass(frozen=True)
class ViewJob:
    """The local view: its units, how many it may hold, and where their change intervals come from.

    Units are named by the variables of the refresh key; without one, by the join key.
    """

    refresh_key: tuple[str, ...] | None = None
    capacity: int | None = None

    change_interval_ms: int | None = None
    interval_variable: str | None = None
    interval_predicate: str | None = None
    interval_file: str | None = None
    interval_unit_ms: int = 1000


@dataclass(frozen=True)
class SinkJob:
    """Where the answers go, in which Spark format, and where their quality records go."""

    format: str = "json"
    path: str | None = None
    mode: Literal["overwrite-batch", "append"] = "overwrite-batch"
    options: dict[str, str] = field(default_factory=dict)
    quality: str | None = None


@dataclass(frozen=True)
class Job:
    """One continuous query with its streams, service, budget, policy, view, sink and checkpoint."""

    query: ContinuousQuery
    plan: QueryPlan
    streams: tuple[StreamJob, ...]
    service: ClientSettings
    budget: int
    policy: Policy
    view: ViewJob
    sink: SinkJob
    checkpoint: str
    seed: int = 0
    trigger: str = AVAILABLE_NOW
    t0_ms: int | None = None
    full_windows_only: bool = False

    @property
    def stream(self) -> StreamJob:
        """The only stream, of a query that has one."""
        (stream,) = self.streams
        return stream

    @property
    def join_key(self) -> tuple[str, ...]:
        """The names of the variables that WINDOW and SERVICE share."""
        return tuple(each.name for each in self.plan.join_key)

    @property
    def refresh_key(self) -> tuple[str, ...]:
        """The names of the variables that name a unit."""
        return self.view.refresh_key or self.join_key
