"""How long the requests of late took."""

from collections import deque
from dataclasses import dataclass
from math import ceil
from threading import Lock

_REMEMBERED = 100


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """The seconds that the last requests took which brought results; None before the first."""

    requests: int
    median_s: float | None
    p95_s: float | None


class Stopwatch:
    """The times of the last requests; safe to be read from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)

    def record(self, seconds: float) -> None:
        """Take note of a request that brought results."""
        with self._lock:
            self._seconds.append(seconds)

    def times(self) -> RequestTimes:
        """What the requests of late took."""
        with self._lock:
            seconds = sorted(self._seconds)
        if not seconds:
            return RequestTimes(0, None, None)
        return RequestTimes(len(seconds), _quantile(seconds, 0.5), _quantile(seconds, 0.95))


def _quantile(ascending: list[float], share: float) -> float:
    return ascending[ceil(share * len(ascending)) - 1]
