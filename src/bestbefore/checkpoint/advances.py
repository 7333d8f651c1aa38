"""Advances: how far streams have come without an element that says so, written before it counts.

A heartbeat and the end of a finite run move the watermark. What follows from that is a transaction
between two batches; after a crash it comes first, and moves the watermark by just as much.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bestbefore.sealed import seal, unseal
from bestbefore.storage import Storage

ADVANCE_FILE = "advance.json"
Advance = Mapping[str, Mapping[str, int]]
"""The times that streams have come to, by their IRIs, for each query by its folder."""


@dataclass(frozen=True, slots=True)
class Advances:
    """The last advance of a checkpoint."""

    storage: Storage

    def begin(self, batch: int, latest: Advance) -> None:
        """Note the times that streams have come to, and the batch that it makes."""
        self.storage.write(ADVANCE_FILE, seal({"batch": batch, "latest": latest}))

    def unfinished(self, batch: int) -> Advance | None:
        """The advance that was to follow the last committed batch, if one had begun."""
        content = self.storage.read(ADVANCE_FILE)
        if content is None:
            return None
        fields = unseal(content, f"{self.storage.root}/{ADVANCE_FILE}")
        return fields["latest"] if fields["batch"] == batch + 1 else None
