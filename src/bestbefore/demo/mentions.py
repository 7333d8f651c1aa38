"""The demo's stream: mentions of users, as RDF in JSON lines, file by file into a folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import numpy as np
from numpy.typing import NDArray

from bestbefore.demo.population import VOCABULARY
from bestbefore.time import Clock, wall_clock_ms

MENTIONED_IN = f"{VOCABULARY}isMentionedIn"
_ZIPF = 0.5
# A user is in the news for some seconds, and then again after a while.
_NEWS_MS, _CYCLE_MS = 8_000, 40_000
_SLOT_MS = 250
_EVERY_MS = 250
# Just after the whole quarter of a second, so that a window's last elements are in the file.
_PHASE_MS = 20


@dataclass(frozen=True)
class Mentions:
    """The generated stream: who is mentioned when, in milliseconds before or after the start."""

    offset_ms: NDArray[np.int64]
    user: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.user)

    def lines(self, first: int, last: int, *, start_ms: int) -> str:
        """The elements from `first` up to, not including, `last` as JSON lines."""
        times = (self.offset_ms[first:last] + start_ms).tolist()
        chosen = zip(range(first, last), times, self.user[first:last].tolist(), strict=True)
        return "".join(_line(post, ts_ms, user) for post, ts_ms, user in chosen)

    def before(self, offset_ms: int) -> int:
        """How many elements lie before a moment."""
        return int(np.searchsorted(self.offset_ms, offset_ms))


def _line(post: int, ts_ms: int, user: int) -> str:
    triple = f"<{VOCABULARY}user/{user}> <{MENTIONED_IN}> <{VOCABULARY}post/{post}> ."
    return json.dumps({"ts": ts_ms, "data": triple}) + "\n"


def mentions(*, users: int, per_second: int, from_ms: int, to_ms: int, seed: int) -> Mentions:
    """A stream in which users come into the news, are mentioned a lot, and are forgotten again.

    A longer stream begins with the shorter one: each slot of time is drawn by itself.
    """
    rng = np.random.default_rng([seed, 3])
    popularity = rng.permutation(np.arange(1, users + 1) ** -_ZIPF)
    news_from_ms = rng.integers(0, _CYCLE_MS, users)
    count = per_second * _SLOT_MS // 1000
    offsets, mentioned = [], []
    for number, slot_ms in enumerate(range(from_ms, to_ms, _SLOT_MS)):
        rng = np.random.default_rng([seed, 4, number])
        in_news = (slot_ms - news_from_ms) % _CYCLE_MS < _NEWS_MS
        weight = np.where(in_news, popularity, 0.0) if in_news.any() else popularity
        offsets.append(np.sort(rng.integers(1, _SLOT_MS, count, endpoint=True)) + slot_ms)
        mentioned.append(rng.choice(users, count, p=weight / weight.sum()) + 1)
    return Mentions(np.concatenate(offsets), np.concatenate(mentioned))


class MentionWriter(Thread):
    """The live stream: what has happened since the last file becomes the next one.

    As a context it goes on as long as the block. A file is written under a hidden name and then
    moved, so that no reader sees half of it.
    """

    def __init__(
        self, stream: Mentions, folder: Path, *, start_ms: int, clock: Clock = wall_clock_ms
    ) -> None:
        super().__init__(name="mentions", daemon=True)
        self._stream, self._folder, self._start_ms, self._clock = stream, folder, start_ms, clock
        self._stopped = Event()

    def run(self) -> None:
        """Write until the stream or the block is over."""
        written, number = 0, 0
        while written < len(self._stream) and not self._stopped.is_set():
            due = self._stream.before(self._clock() - self._start_ms)
            if due > written:
                self._write(self._stream.lines(written, due, start_ms=self._start_ms), number)
                written, number = due, number + 1
            self._stopped.wait((_EVERY_MS - (self._clock() - _PHASE_MS) % _EVERY_MS) / 1000)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.join()

    def _write(self, lines: str, number: int) -> None:
        hidden = self._folder / f".{number:06d}.writing"
        hidden.write_text(lines, encoding="utf-8")
        hidden.rename(self._folder / f"{number:06d}.jsonl")
