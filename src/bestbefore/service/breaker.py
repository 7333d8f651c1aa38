"""The circuit breaker: a service that is down is left alone, and tried with single requests."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from bestbefore.service.no_answer import NoAnswerError
from bestbefore.time import Clock

CircuitState = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class CircuitBreaker:
    """What is known of a service's health from its last requests; lives on one event loop.

    After `failures` failed requests in a row the circuit is open and nothing is sent. When it has
    cooled down, one request goes through as a probe, and whoever else comes waits for its outcome:
    if it succeeds the circuit is closed, if not it stays open for twice as long, up to `longest_s`.
    """

    failures: int
    cool_down_s: float
    longest_s: float
    clock: Clock
    _in_a_row: int = 0
    _wait_s: float = 0.0
    _open_until_ms: int | None = None
    _last: str = ""
    _probe: asyncio.Event | None = field(default=None, repr=False)

    @property
    def state(self) -> CircuitState:
        """Whether requests go through, none does, or a single one may."""
        if self._open_until_ms is None:
            return "closed"
        return "open" if self.clock() < self._open_until_ms else "half-open"

    @property
    def is_open(self) -> bool:
        """Whether the service is known to be down."""
        return self._open_until_ms is not None

    async def admit(self) -> bool:
        """Return when a request may be sent, True if it is the probe; or raise `NoAnswerError`."""
        while self._probe is not None:
            await self._probe.wait()
        if self._open_until_ms is None:
            return False
        self.check()
        self._probe = asyncio.Event()
        return True

    def check(self) -> None:
        """Raise `NoAnswerError` while the circuit is open and has not cooled down."""
        if self._open_until_ms is not None and (wait := self._open_until_ms - self.clock()) > 0:
            raise NoAnswerError(
                f"nothing was sent, because the last {self._in_a_row} requests failed; the service"
                f" is tried again in {wait / 1000:.1f} s (last reason: {self._last})"
            )

    def succeed(self, *, probe: bool) -> None:
        """Take note of a request that the service answered, however it did."""
        self._in_a_row, self._wait_s, self._open_until_ms = 0, 0.0, None
        self._settle(probe=probe)

    def fail(self, reason: str, *, probe: bool) -> None:
        """Take note of a request that the service did not answer, or only to say it is in trouble.

        Requests that were sent before the circuit opened say nothing new when they fail.
        """
        if probe or self._open_until_ms is None:
            self._in_a_row, self._last = self._in_a_row + 1, reason
            if self._in_a_row >= self.failures:
                self._wait_s = min(self._wait_s * 2 or self.cool_down_s, self.longest_s)
                self._open_until_ms = self.clock() + round(self._wait_s * 1000)
        self._settle(probe=probe)

    def forget(self, *, probe: bool) -> None:
        """Take note that a request was never sent."""
        self._settle(probe=probe)

    def _settle(self, *, probe: bool) -> None:
        if probe and self._probe is not None:
            self._probe.set()
            self._probe = None
