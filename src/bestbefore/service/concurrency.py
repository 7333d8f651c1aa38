"""How many requests a service gets at a time: fewer when it slows down, more when it keeps up."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

_FAR_ABOVE = 4.0
# A service this quick is not slowing down, whatever its quickest reply took.
_QUICK_S = 0.25
_REMEMBERED = 100


@dataclass(slots=True)
class AdaptiveLimit:
    """Additive increase, multiplicative decrease between 1 and `most`, as TCP does it.

    A success adds one request per round of them; a refusal, a timeout or a reply that took far
    longer than the quickest of late halves. What was sent before the limit was halved is a sign
    of the same congestion and does not halve it again.

    Chiu and Jain, Analysis of the Increase and Decrease Algorithms for Congestion Avoidance (1989).
    """

    most: int
    _limit: float = 0.0
    _round: int = 0
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def __post_init__(self) -> None:
        self._limit = float(self.most)

    @property
    def now(self) -> int:
        """How many requests may be out at the same time."""
        return int(self._limit)

    @property
    def round(self) -> int:
        """How often the limit has been halved; a request remembers it from when it was sent."""
        return self._round

    def answered(self, seconds: float, *, sent_in: int) -> None:
        """Take note of a reply and the time it took."""
        quickest = min(self._seconds, default=seconds)
        self._seconds.append(seconds)
        if seconds > max(_FAR_ABOVE * quickest, _QUICK_S):
            self.overloaded(sent_in=sent_in)
        else:
            self._limit = min(self._limit + 1 / self._limit, float(self.most))

    def overloaded(self, *, sent_in: int) -> None:
        """Take note of a request that the service had no room for."""
        if sent_in == self._round:
            self._limit, self._round = max(1.0, self._limit / 2), self._round + 1


class Slots:
    """The places of requests that are out, as many as the limit has at the moment."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        while self._taken >= self._limit.now:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        self._taken += 1

    async def __aexit__(self, *_: object) -> None:
        self._taken -= 1
        self._wake()

    def _wake(self) -> None:
        free = self._limit.now - self._taken
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
