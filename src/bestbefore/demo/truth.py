"""The truth about an answer: the world's log of changes tells which of its rows are fresh."""

import json
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bestbefore.time import monotonic_s

AnswerRow = tuple[str, str]
"""The user and the number of followers, as an answer states them."""

_POLL_S = 0.02


@dataclass
class ChangeLog:
    """The values of all users over time, read from a log that is still being written."""

    path: Path
    latest_ms: int = 0
    _offset: int = 0
    _times: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def catch_up(self, until_ms: int, *, patience_s: float) -> None:
        """Read on until the log has passed a moment, or for `patience_s`."""
        deadline = monotonic_s() + patience_s
        self.read()
        while self.latest_ms <= until_ms and monotonic_s() < deadline:
            time.sleep(_POLL_S)
            self.read()

    def read(self) -> None:
        """Take in the whole lines that were added."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.decode().splitlines():
            at, key, value = line.split(",")
            if at.isdigit():
                self.latest_ms = int(at)
                self._times[key].append(int(at))
                self._values[key].append(value)

    def value(self, key: str, at_ms: int) -> str | None:
        """The value of a user at a moment; None before its first."""
        changes = bisect_right(self._times.get(key, ()), at_ms)
        return self._values[key][changes - 1] if changes else None

    def freshness(self, rows: Iterable[AnswerRow], at_ms: int) -> float | None:
        """X/(X+Y): the share of rows that state the value of that moment; None without rows."""
        fresh = [self.value(user, at_ms) == followers for user, followers in rows]
        return sum(fresh) / len(fresh) if fresh else None


def read_answer(folder: Path, *, batch: int, evaluation: int) -> list[AnswerRow]:
    """The rows of an evaluation as the engine wrote them."""
    for file in sorted(folder.glob(f"batch*{batch:012d}/*.json")):
        for line in file.read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            if answer["evaluation"] == evaluation:
                return [(row["user"]["value"], row["followers"]["value"]) for row in answer["rows"]]
    return []
