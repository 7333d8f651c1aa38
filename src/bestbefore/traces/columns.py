"""Traces as NumPy columns, ordered by time."""

from collections.abc import Mapping
from dataclasses import dataclass

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import InputError

# Stands between the values of a stream's further columns; CSV files hardly ever contain it.
SEPARATOR = "\x1f"


@dataclass(frozen=True, eq=False)
class StreamTrace:
    """The elements of a stream: when they come and their join key.

    `event` holds the further columns, joined by `SEPARATOR`; None where there are none.
    """

    ts_ms: Integers
    key: Texts
    event: Texts | None = None

    def __post_init__(self) -> None:
        _check_lengths(self)

    def __len__(self) -> int:
        return len(self.ts_ms)


@dataclass(frozen=True, eq=False)
class BackgroundTrace:
    """What the service would answer: a key has a value until its next row.

    The value "" means that the service has no row for the key from then on.
    """

    ts_ms: Integers
    key: Texts
    value: Texts

    def __post_init__(self) -> None:
        _check_lengths(self)

    def __len__(self) -> int:
        return len(self.ts_ms)


@dataclass(frozen=True, eq=False)
class Links:
    """The bipartite graph of an M:N join: which unit serves which join key."""

    join_key: Texts
    unit: Texts

    def __post_init__(self) -> None:
        _check_lengths(self)

    def __len__(self) -> int:
        return len(self.join_key)


@dataclass(frozen=True, eq=False)
class Traces:
    """A recorded run: the stream, the background data and, for an M:N join, the links.

    `interval_ms` maps a unit to its expected change interval, where the maker knows it.
    """

    stream: StreamTrace
    background: BackgroundTrace
    links: Links | None = None
    interval_ms: Mapping[str, int] | None = None


def _check_lengths(trace: StreamTrace | BackgroundTrace | Links) -> None:
    lengths = {name: len(column) for name, column in vars(trace).items() if column is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {rows}" for name, rows in lengths.items())
        raise InputError(f"the columns of a trace need the same number of rows: {found}")
