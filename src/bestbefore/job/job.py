"""The job: everything that the user configured for one continuous query."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bestbefore.limits import NO_LIMITS, Limits
from bestbefore.maintenance import Policy
from bestbefore.query import QueryPlan, ServicePlan, Threshold
from bestbefore.query.algebra import Describe
from bestbefore.query.continuous import ContinuousQuery, CountWindow, NamedWindow
from bestbefore.service.kinds import ClientKind, PluggedService
from bestbefore.spark.needed_elements import ANY, NeededElements, Shape, shape_of
from bestbefore.spark.sources import Source
from bestbefore.windows import ReportSetting, ReportStrategy

AVAILABLE_NOW = "available-now"
UNTIL_END = "until-end"
FINITE = (AVAILABLE_NOW, UNTIL_END)
"""The triggers of runs that end by themselves."""

StreamTime = Literal["data", "arrival"]
_BY_CONTENT = (ReportStrategy.CONTENT_CHANGE, ReportStrategy.NON_EMPTY)


@dataclass(frozen=True)
class StreamSettings:
    """A stream: where it comes from, whose time it has, and how late its elements may be."""

    name: str
    iri: str
    source: Source | None
    allowed_lateness_ms: int = 0
    clock_skew_ms: int = 86_400_000
    time: StreamTime = "data"


@dataclass(frozen=True)
class ViewSettings:
    """The local view: its units, how many it may hold, and where their change intervals come from.

    With `fill` it starts empty, and is filled with what windows need; units that none of the last
    `keep_windows` needed leave. Without, all that the service has is loaded before. By its `mode`
    it is maintained, filled but never refreshed, or not kept beyond an evaluation. Units are
    named by the variables of the refresh key; without one, by the join key. Plain numbers from the
    service are seconds unless a unit is given; in a file its header says what they are. The
    `modified_predicate` says when a unit has last changed.
    """

    refresh_key: tuple[str, ...] | None = None
    capacity: int | None = None
    fill: bool = True
    keep_windows: int = 100
    mode: Literal["maintained", "frozen", "none"] = "maintained"
    change_interval_ms: int | None = None
    learned: bool = True
    interval_variable: str | None = None
    interval_predicate: str | None = None
    interval_file: str | None = None
    interval_unit_ms: int | None = None
    modified_predicate: str | None = None


@dataclass(frozen=True)
class SinkSettings:
    """Where the answers go, in which Spark format, and where their quality records go.

    With `row_freshness` an answer tells of each of its rows how probably it is fresh.
    """

    format: str = "json"
    path: str | None = None
    mode: Literal["overwrite-batch", "append"] = "overwrite-batch"
    options: dict[str, str] = field(default_factory=dict)
    quality: str | None = None
    row_freshness: bool = False


@dataclass(frozen=True)
class Qos:
    """What a job promises: the freshness α of its answers, and the time ρ until they are there."""

    freshness: float | None = None
    deadline_ms: int | None = None


NO_QOS = Qos()
CHANGED = "urn:bestbefore:changed"
"""The predicate of triples whose object is the key of a changed unit."""

UNLIMITED = 2**31 - 1
"""The budget of a job that states what it wants, and not what it spends."""


@dataclass(frozen=True)
class ServiceSettings:
    """A SERVICE of the query: who answers it within which limits, its policy and its local view.

    `start` refreshes more than the budget may be spent to fill the view. Refreshes are made `ahead`
    of the evaluation that they are for, if wanted. Answers that show equal rows `once` do not count
    the mappings of a join key. `ledger` is the folder of
    the ledger that keeps the limits, None for the job's checkpoint. The stream of `changes` names
    units that have changed.
    """

    name: str
    plan: ServicePlan
    window: NamedWindow
    client: ClientKind
    budget: int
    policy: Policy
    view: ViewSettings
    seed: int = 0
    start: int = 0
    ahead: bool = False
    once: bool = False
    shown: bool = True
    qos: Qos = NO_QOS
    limits: Limits = NO_LIMITS
    ledger: str | None = None
    changes: StreamSettings | None = None

    @property
    def address(self) -> str:
        """What the service is known by: all that ask the same address share its limits."""
        return self.plan.iri if isinstance(self.client, PluggedService) else self.client.address

    @property
    def identity(self) -> str:
        """What its rows are of: the address and, of a lookup, what its keys and columns are."""
        return (
            self.address if self.client.meaning is None else f"{self.address} {self.client.meaning}"
        )

    @property
    def units_per_request(self) -> int:
        """How many units one request asks for at most; for all that is known of a plug-in, one."""
        return 1 if isinstance(self.client, PluggedService) else self.client.units_per_request

    @property
    def join_key(self) -> tuple[str, ...]:
        """The names of the variables that WINDOW and SERVICE share."""
        return tuple(variable.name for variable in self.plan.join_key)

    @property
    def threshold(self) -> Threshold | None:
        """The FILTER that Filter rankers look at: the first on a variable of the SERVICE."""
        return self.plan.thresholds[0] if self.plan.thresholds else None

    @property
    def fetches_missing(self) -> bool:
        """Whether what the view lacks is fetched at all."""
        return self.view.fill or self.policy.fetches_missing

    @property
    def fills_first(self) -> bool:
        """Whether what the view lacks goes first, whatever the proposer says.

        With a capacity it is the proposer's matter, if it fetches what is missing at all.
        """
        bounded = self.view.capacity is not None
        return self.view.fill and not (bounded and self.policy.fetches_missing)

    @property
    def refresh_key(self) -> tuple[str, ...]:
        """The names of the variables that name a unit."""
        return self.view.refresh_key or self.join_key


@dataclass(frozen=True)
class Job:
    """One continuous query with its streams, services, sink and checkpoint.

    With a `shared_budget` its services spend that much together, where it helps most.
    """

    query: ContinuousQuery
    plan: QueryPlan
    streams: tuple[StreamSettings, ...]
    services: tuple[ServiceSettings, ...]
    sink: SinkSettings
    checkpoint: str
    graphs: Mapping[str, Path] = field(default_factory=dict)
    report: ReportSetting = field(default_factory=ReportSetting)
    trigger: str = AVAILABLE_NOW
    heartbeat_ms: int | None = None
    t0_ms: int | None = None
    full_windows_only: bool = False
    shared_budget: int | None = None

    @property
    def sources(self) -> tuple[StreamSettings, ...]:
        """All streams that are read: those of windows, and those that name changed units."""
        changes = (service.changes for service in self.services)
        return (*self.streams, *(stream for stream in changes if stream is not None))

    @property
    def is_live(self) -> bool:
        """Whether it waits for more of its streams, rather than ending with what is there."""
        return self.trigger not in FINITE

    @property
    def allowed_lateness_ms(self) -> int:
        """How long windows wait for stragglers: as long as the latest stream may be late."""
        return max(stream.allowed_lateness_ms for stream in self.streams)

    @property
    def clock_skew_ms(self) -> int:
        """How far ahead of the clock an element may be."""
        return max(stream.clock_skew_ms for stream in self.streams)

    @property
    def counts_elements(self) -> bool:
        """Whether its windows are of so many elements, rather than of so much time."""
        return any(isinstance(plan.window.extent, CountWindow) for plan in self.plan.windows)

    @property
    def needs_whole_windows(self) -> bool:
        """Whether elements count that no pattern looks at: by their number, or as content."""
        by_content = self.report.strategy in _BY_CONTENT
        return by_content or self.counts_elements or isinstance(self.query.form, Describe)

    @property
    def needed_elements(self) -> NeededElements:
        """The elements of each stream that a window can ever look at."""
        shapes: dict[str, tuple[Shape, ...]] = {stream.iri: () for stream in self.streams}
        for plan in self.plan.windows:
            found = (ANY,) if self.needs_whole_windows else tuple(map(shape_of, plan.needed))
            for iri in plan.window.streams:
                shapes[iri] = tuple(dict.fromkeys((*shapes[iri], *found)))
        return NeededElements(shapes)

    def streams_of_windows(self) -> tuple[tuple[str, ...], ...]:
        """The IRIs of the streams of each WINDOW clause."""
        return tuple(plan.window.streams for plan in self.plan.windows)


def listed(names: Iterable[str]) -> str:
    """The names of variables as a message lists them."""
    return ", ".join(f"?{name}" for name in names)
