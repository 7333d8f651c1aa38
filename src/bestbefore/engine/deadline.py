"""The deadline ρ of an answer: how many refreshes fit, and when those under way are cut off."""

from collections import deque
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from bestbefore.job import ServiceSettings
from bestbefore.maintenance import EventClock
from bestbefore.service import Fetched
from bestbefore.service.kinds import PluggedService

_REMEMBERED, _SLOW = 100, 0.95


@dataclass
class RequestPace:
    """How long the last requests took."""

    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def note(self, fetched: Fetched) -> None:
        """Take in the times of a fetch; all at once where the service tells no more."""
        if fetched.request_seconds:
            self._seconds.extend(fetched.request_seconds)
        elif fetched.rows:
            self._seconds.append(fetched.seconds)

    def seconds_for(self, units: int, job: ServiceSettings) -> float:
        """How long it takes to fetch units, even by slow requests; 0 if nothing is known."""
        if not self._seconds:
            return 0.0
        requests = ceil(units / job.units_per_request)
        return ceil(requests / _connections(job)) * self._slow_s()

    def fitting(self, left_s: float, job: ServiceSettings) -> int | None:
        """The units that can be fetched in a time, even by slow requests; None if unknown."""
        if not self._seconds:
            return None
        rounds = max(0, int(left_s / self._slow_s()))
        return rounds * _connections(job) * job.units_per_request

    def _slow_s(self) -> float:
        return max(float(np.quantile(self._seconds, _SLOW)), 1e-4)


def _connections(job: ServiceSettings) -> int:
    return 1 if isinstance(job.client, PluggedService) else job.client.connections


@dataclass(frozen=True)
class Deadline:
    """The time that an evaluation has for its requests, None if nobody waits for it.

    In a live stream ρ counts from the close of the window, in a replay from the batch's begin. A
    live stream has a window every slide, so that requests which leave no time for the rest of an
    evaluation within a slide would make all that follow late.
    """

    deadline_ms: int | None
    clock: EventClock
    t_ms: int
    slide_ms: int

    def left_s(self) -> float | None:
        """The seconds that are left now, less what writing the answer will take."""
        if self.deadline_ms is None:
            return None
        left_ms = self.deadline_ms - self.clock.spent_ms(self.t_ms) - self.clock.writing_ms
        if self.clock.live:
            left_ms = min(left_ms, self.slide_ms - self.clock.busy_ms)
        return max(0.0, left_ms / 1000)
