"""The engine's state after a batch: small, versioned, written once per batch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bestbefore.errors import StateError
from bestbefore.spark.buffer import Segment
from bestbefore.storage import Storage

FORMAT = 3


@dataclass(frozen=True)
class Anchor:
    """The last element that no window to come needs, where windows are of so many elements."""

    number: int = 0
    time_ms: int = 0
    s: str = ""
    p: str = ""
    o: str = ""


ALL_ELEMENTS = "true"


@dataclass(frozen=True)
class ViewState:
    """The durable form of a service's view, and what flexible allocation has saved for it."""

    snapshot: str = ""
    snapshot_batch: int = -1
    saved: int = 0


@dataclass(frozen=True)
class State:
    """Where the query stands: what the next batch goes on from.

    `needed` is the condition on the elements that the buffer keeps; `answered` names the rows of
    the last answer, which ISTREAM and DSTREAM compare with.
    """

    query: str
    batch: int = -1
    t0_ms: tuple[int, ...] | None = None
    begun_ms: int | None = None
    first_evaluation: int = 1
    next_evaluation: int = 1
    latest: Mapping[str, int] = field(default_factory=dict)
    segments: tuple[Segment, ...] = ()
    needed: str = ALL_ELEMENTS
    views: Mapping[str, ViewState] = field(default_factory=dict)
    anchor: Anchor = field(default_factory=Anchor)
    answered: str = ""
    elements: int = 0
    late: int = 0
    quarantined: int = 0
    requests: int = 0
    refreshes: int = 0
    reported: tuple[int, int, int] = (0, 0, 0)

    @property
    def taken_in(self) -> tuple[int, int, int]:
        """All elements, late ones and quarantined lines so far."""
        return self.elements, self.late, self.quarantined

    @property
    def latest_ms(self) -> int | None:
        """The time of the latest element of the stream that is furthest behind."""
        return min(self.latest.values(), default=None)

    def view(self, service: str) -> ViewState:
        """The state of a service's view."""
        return self.views.get(service, ViewState())


@dataclass(frozen=True, slots=True)
class Commits:
    """The states of the latest batches; writing one is what commits a batch."""

    storage: Storage

    def latest(self, query: str) -> State:
        """The state of the last committed batch, or a new one; of another query, an error."""
        names = self.storage.names("commits")
        content = self.storage.read(f"commits/{names[-1]}") if names else None
        if content is None:
            return State(query)
        fields = json.loads(content)
        if (found := fields.pop("format")) != FORMAT:
            way_out = "upgrade bestbefore" if found > FORMAT else "finish it with an older version"
            raise StateError(
                f"the checkpoint {self.storage.root} has format {found}, this version reads "
                f"{FORMAT}: {way_out}, or use another checkpoint.path"
            )
        state = _read(fields)
        if state.query != query:
            raise StateError(
                f"the checkpoint {self.storage.root} belongs to another query: "
                "use another checkpoint.path, or remove that folder to start anew"
            )
        return state

    def commit(self, state: State) -> None:
        """Make a batch final; the one before is kept, older ones are dropped."""
        content = json.dumps({"format": FORMAT, **asdict(state)}).encode()
        self.storage.write(_name(state.batch), content)
        self.storage.delete(_name(state.batch - 2))


def _read(fields: dict[str, Any]) -> State:
    t0_ms = fields.pop("t0_ms")
    views = {name: ViewState(**each) for name, each in fields.pop("views").items()}
    return State(
        t0_ms=None if t0_ms is None else tuple(t0_ms),
        segments=tuple(Segment(**each) for each in fields.pop("segments")),
        reported=tuple(fields.pop("reported")),
        views=views,
        anchor=Anchor(**fields.pop("anchor")),
        **fields,
    )


def _name(batch: int) -> str:
    return f"commits/batch-{batch:012d}.json"
