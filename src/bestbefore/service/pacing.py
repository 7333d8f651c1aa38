"""The pace of requests: never more in any second than a provider allows."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from threading import Lock
from weakref import WeakValueDictionary

from bestbefore.service.gate import Sleep
from bestbefore.time import Clock

_MARGIN_MS = 20
# A request that was given up is expected to arrive within so long, if it ever does.
_LOST_MS = 1_000
# A turn is out while a connection is made, and may come back on another thread.
_GLANCE_S = 0.002


class Pacer:
    """So many turns in any sliding second, or one in so many seconds if the rate is below one.

    It is at the other end that requests are counted, and they do not arrive as evenly as they
    leave. So a turn comes back a second after the reply to its request has begun to come, when the
    request has arrived for sure. A process before this one may have sent just before it ended, so
    all turns count as used at the start. Clients on any thread may share one.
    """

    def __init__(self, per_second: float | None, clock: Clock, sleep: Sleep) -> None:
        self._clock, self._sleep = clock, sleep
        second_ms = 1000 / min(per_second or 1, 1)
        self._period_ms = second_ms + _MARGIN_MS
        self._unlimited = per_second is None
        self._last_used_ms = [float(clock())] * int(max(per_second or 1, 1))
        heapify(self._last_used_ms)
        self._lock = Lock()

    async def turn(self) -> "Turn":
        """Wait for a turn."""
        if self._unlimited:
            return Turn(None, 0.0)
        while True:
            with self._lock:
                wait_ms = self._wait_ms()
                if wait_ms is not None and wait_ms <= 0:
                    return Turn(self, heappop(self._last_used_ms))
            if wait_ms is None:
                await asyncio.sleep(_GLANCE_S)
            else:
                await self._sleep(wait_ms / 1000)

    def used(self, *, later_ms: float = 0.0) -> None:
        """Take a turn back that was used just now, or may yet be for so long."""
        self.take_back(self._clock() + later_ms)

    def take_back(self, last_used_ms: float) -> None:
        """Take a turn back that was last used at a moment."""
        with self._lock:
            heappush(self._last_used_ms, last_used_ms)

    def _wait_ms(self) -> float | None:
        """How long the next turn takes; None if all of them are out."""
        if not self._last_used_ms:
            return None
        return self._last_used_ms[0] + self._period_ms - self._clock()


_PACERS: WeakValueDictionary[Hashable, Pacer] = WeakValueDictionary()
_PACERS_LOCK = Lock()


def shared_pacer(address: str, per_second: float | None, clock: Clock, sleep: Sleep) -> Pacer:
    """The pacer of an address, one for all clients of this process that ask it at that rate."""
    with _PACERS_LOCK:
        pacer = _PACERS.get((address, per_second, clock, sleep))
        if pacer is None:
            pacer = Pacer(per_second, clock, sleep)
            _PACERS[address, per_second, clock, sleep] = pacer
        return pacer


@dataclass(slots=True)
class Turn:
    """The right to send one request; it is used or given back once, whatever is called later."""

    _pacer: Pacer | None
    _last_used_ms: float
    _over: bool = field(default=False)

    def use(self) -> None:
        """Say that the request has arrived by this moment."""
        if self._pacer is not None and not self._over:
            self._pacer.used()
        self._over = True

    def lose(self) -> None:
        """Say that the request was given up, if nothing was said of it before."""
        if self._pacer is not None and not self._over:
            self._pacer.used(later_ms=_LOST_MS)
        self._over = True

    def give_back(self) -> None:
        """Say that nothing is going to be sent."""
        if self._pacer is not None and not self._over:
            self._pacer.take_back(self._last_used_ms)
        self._over = True
