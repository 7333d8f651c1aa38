"""Advances: how far streams have come without an element that says so, written before it counts.

A heartbeat and the end of a finite run move the watermark. What follows from that is a transaction
between two batches; after a crash it comes first, and moves the watermark by just as much.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bestbefore.storage import Storage

_FILE = "advance.json"


@dataclass(frozen=True, slots=True)
class Advances:
    """The last advance of a checkpoint."""

    storage: Storage

    def begin(self, batch: int, latest: Mapping[str, int]) -> None:
        """Note the times that streams have come to, by their IRIs, and the batch that it makes."""
        content = json.dumps({"batch": batch, "latest": dict(latest)}).encode()
        self.storage.write(_FILE, content)

    def unfinished(self, batch: int) -> Mapping[str, int] | None:
        """The advance that was to follow the last committed batch, if one had begun."""
        content = self.storage.read(_FILE)
        fields = json.loads(content) if content else None
        return fields["latest"] if fields and fields["batch"] == batch + 1 else None
