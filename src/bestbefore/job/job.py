"""A job: everything the engine needs to run one continuous query."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bestbefore.maintenance import Policy
from bestbefore.query import ContinuousQuery, NamedWindow, QueryPlan, ServicePlan, Threshold
from bestbefore.service import ClientSettings
from bestbefore.spark.sources import Source
from bestbefore.windows.reports import ReportSetting

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

    Units are named by the variables of the refresh key; without one, by the join key. Plain numbers
    from the service are seconds unless a unit is given; in a file its header says what they are.
    """

    refresh_key: tuple[str, ...] | None = None
    capacity: int | None = None

    change_interval_ms: int | None = None
    learned: bool = False
    interval_variable: str | None = None
    interval_predicate: str | None = None
    interval_file: str | None = None
    interval_unit_ms: int | None = None


@dataclass(frozen=True)
class SinkJob:
    """Where the answers go, in which Spark format, and where their quality records go."""

    format: str = "json"
    path: str | None = None
    mode: Literal["overwrite-batch", "append"] = "overwrite-batch"
    options: dict[str, str] = field(default_factory=dict)
    quality: str | None = None


@dataclass(frozen=True)
class ServiceJob:
    """A SERVICE of the query: its endpoint, its budget, its policy and its local view."""

    name: str
    plan: ServicePlan
    window: NamedWindow
    client: ClientSettings
    budget: int
    policy: Policy
    view: ViewJob
    seed: int = 0

    @property
    def join_key(self) -> tuple[str, ...]:
        """The names of the variables that WINDOW and SERVICE share."""
        return tuple(each.name for each in self.plan.join_key)

    @property
    def threshold(self) -> Threshold | None:
        """The FILTER that Filter rankers look at: the first on a variable of the SERVICE."""
        return self.plan.thresholds[0] if self.plan.thresholds else None

    @property
    def refresh_key(self) -> tuple[str, ...]:
        """The names of the variables that name a unit."""
        return self.view.refresh_key or self.join_key


@dataclass(frozen=True)
class Job:
    """One continuous query with its streams, services, sink and checkpoint."""

    query: ContinuousQuery
    plan: QueryPlan
    streams: tuple[StreamJob, ...]
    services: tuple[ServiceJob, ...]
    sink: SinkJob
    checkpoint: str
    graphs: Mapping[str, Path] = field(default_factory=dict)
    report: ReportSetting = field(default_factory=ReportSetting)
    trigger: str = AVAILABLE_NOW
    t0_ms: int | None = None
    full_windows_only: bool = False

    @property
    def allowed_lateness_ms(self) -> int:
        """How long windows wait for stragglers: as long as the latest stream may be late."""
        return max(each.allowed_lateness_ms for each in self.streams)

    def streams_of_windows(self) -> tuple[tuple[str, ...], ...]:
        """The names of the streams of each WINDOW clause."""
        return tuple(
            tuple(each.name for each in self.streams if each.iri in window.window.streams)
            for window in self.plan.windows
        )

    @property
    def clock_skew_ms(self) -> int:
        """How far ahead of the clock an element may be."""
        return max(each.clock_skew_ms for each in self.streams)
