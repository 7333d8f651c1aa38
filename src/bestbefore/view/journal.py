"""The journal: what each evaluation fetched, so that a repeated batch need not ask again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from bestbefore.rdf.terms import Key, Row
from bestbefore.storage import Storage


@dataclass(frozen=True)
class Refreshed:
    """The outcome of one evaluation's refreshes.

    `rows` holds the new rows of every unit that the service answered for (none if it is gone),
    `failed` the reason for every other unit that was asked. `evicted` left the view to make room
    for those; `used` are the units that the window needs and the view then holds, noted where a
    capacity makes it matter.
    """

    evaluation: int
    t_ms: int
    rows: Mapping[Key, tuple[Row, ...]] = field(default_factory=dict)
    intervals_ms: Mapping[Key, int] = field(default_factory=dict)
    failed: Mapping[Key, str] = field(default_factory=dict)
    evicted: tuple[Key, ...] = ()
    used: tuple[Key, ...] = ()
    candidates: int = 0
    elected: int = 0
    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Journal:
    """The refreshes of each batch, one file per evaluation, until a snapshot covers them."""

    storage: Storage

    def write(self, batch: int, refreshed: Refreshed) -> None:
        """Make the outcome of an evaluation durable."""
        name = f"{_folder(batch)}/{_file(refreshed.evaluation)}"
        self.storage.write(name, _to_json(refreshed))

    def read(self, batch: int, evaluation: int) -> Refreshed | None:
        """What an earlier attempt at this batch fetched for an evaluation, if it got so far."""
        content = self.storage.read(f"{_folder(batch)}/{_file(evaluation)}")
        return _from_json(content) if content else None

    def of_batch(self, batch: int) -> list[Refreshed]:
        """The outcomes of a batch in the order of its evaluations."""
        folder = _folder(batch)
        files = (self.storage.read(f"{folder}/{name}") for name in self.storage.names(folder))
        return [_from_json(content) for content in files if content]

    def batches(self) -> list[int]:
        """The batches that the journal holds, oldest first."""
        return [int(name.removeprefix("batch-")) for name in self.storage.names("journal")]

    def forget(self, batch: int) -> None:
        """Drop a batch that a snapshot covers."""
        self.storage.delete(_folder(batch))


def _folder(batch: int) -> str:
    return f"journal/batch-{batch:012d}"


def _file(evaluation: int) -> str:
    return f"evaluation-{evaluation:012d}.json"


def _to_json(refreshed: Refreshed) -> bytes:
    return json.dumps(
        {
            **vars(refreshed),
            "rows": [[key, rows] for key, rows in refreshed.rows.items()],
            "intervals_ms": [[key, value] for key, value in refreshed.intervals_ms.items()],
            "failed": [[key, reason] for key, reason in refreshed.failed.items()],
        }
    ).encode()


def _from_json(content: bytes) -> Refreshed:
    fields = json.loads(content)
    return Refreshed(
        **{
            **fields,
            "rows": {tuple(key): tuple(map(tuple, rows)) for key, rows in fields["rows"]},
            "intervals_ms": {tuple(key): value for key, value in fields["intervals_ms"]},
            "failed": {tuple(key): reason for key, reason in fields["failed"]},
            "evicted": tuple(map(tuple, fields["evicted"])),
            "used": tuple(map(tuple, fields["used"])),
        }
    )
