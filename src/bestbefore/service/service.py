"""What the rest of bestbefore asks of a remote service, and what it gets back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bestbefore.rdf.terms import Key, Row


@dataclass(frozen=True, slots=True)
class Loaded:
    """All mappings of the SERVICE pattern, and what they cost."""

    rows: tuple[Row, ...]
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of one fetch: every key asked is either in `rows` or in `failed`.

    A key with an empty tuple in `rows` is gone: the service was reached and no longer has it.
    `unsent` are those in `failed` for which no request was left: nothing is wrong with them.
    `unasked` counts rows that the service sent for keys nobody asked for; they are dropped.
    """

    rows: Mapping[Key, tuple[Row, ...]]
    failed: Mapping[Key, str] = field(default_factory=dict)
    requests: int = 0
    seconds: float = 0.0
    unasked: int = 0
    unsent: frozenset[Key] = frozenset()

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

    def fetch(self, keys: Sequence[Key], *, requests_allowed: int | None = None) -> Fetched:
        """Return the current rows of the units, with at most `requests_allowed` requests sent.

        Trouble with the service never raises: the units it touched are in `failed`.
        """
        ...

    def close(self) -> None:
        """Give back connections and threads; further calls fail, closing again does nothing."""
        ...
