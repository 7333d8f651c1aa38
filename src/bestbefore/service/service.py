"""What the rest of bestbefore asks of a remote service, and what it gets back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bestbefore.rdf.terms import Key, Row

ServiceState = Literal["ok", "degraded", "failed", "unreachable", "open", "waiting"]
"""How a fetch found the service.

`ok`: every unit that can be asked for was answered. `degraded`: some failed. `failed`: all did.
`unreachable`: all did, and no request had a reply. `open`: the circuit is open, so
nothing is sent until it has cooled down. `waiting`: the service asked not to be called for a while.
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """All mappings of the SERVICE pattern, and what they cost.

    `invalid` counts rows that were left out, as they hold what is no RDF term.
    """

    rows: tuple[Row, ...]
    requests: int
    seconds: float
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of one fetch: every key asked is either in `rows` or in `failed`.

    A key with an empty tuple in `rows` is gone: the service was reached and no longer has it.
    `unsent` are those in `failed` for which no request or no time was left: nothing is wrong with
    them.
    `unasked` counts rows that the service sent for keys nobody asked for, `invalid` those that hold
    what is no RDF term; both are dropped. `requests` counts all that were sent, `request_seconds`
    has the times of those that brought results. `not_modified` of them were answered by saying that
    nothing has changed, so that the rows are those of the time before.
    """

    rows: Mapping[Key, tuple[Row, ...]]
    failed: Mapping[Key, str] = field(default_factory=dict)
    requests: int = 0
    seconds: float = 0.0
    unasked: int = 0
    invalid: int = 0
    state: ServiceState = "ok"
    request_seconds: tuple[float, ...] = ()
    unsent: frozenset[Key] = frozenset()
    not_modified: int = 0

    @property
    def failures(self) -> tuple[str, ...]:
        """The distinct reasons in `failed`, in the order they were met."""
        return tuple(dict.fromkeys(self.failed.values()))


class Service(Protocol):
    """A remote service as the maintainer sees it; every method may be called from any thread."""

    def load(self, *, requests_allowed: int | None = None) -> Loaded:
        """Return all mappings of the pattern, complete, or raise `ServiceError`.

        At most `requests_allowed` requests are sent; it is given where the job has limits.
        """
        ...

    def fetch(
        self,
        keys: Sequence[Key],
        *,
        requests_allowed: int | None = None,
        deadline_s: float | None = None,
    ) -> Fetched:
        """Return the current rows of the units, with at most `requests_allowed` requests sent.

        Trouble with the service never raises: the units it touched are in `failed`. After
        `deadline_s` what has come is returned, and the rest has failed.
        """
        ...

    def close(self) -> None:
        """Give back connections and threads; further calls fail, closing again does nothing."""
        ...
