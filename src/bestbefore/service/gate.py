"""When a service that is in trouble may be asked again: its own word, and waits that grow."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import Random

from bestbefore.service.no_answer import NoAnswerError
from bestbefore.time import Clock, format_instant

Sleep = Callable[[float], Awaitable[None]]

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0
# Farther than this is a mistake of the service, and beyond what a date can hold.
_FARTHEST_S = 366 * 86_400


def backoff_s(attempt: int, jitter: Random) -> float:
    """The wait after the attempt-th failure (from 1): doubling, capped, and up to half of it off.

    The random part keeps clients that failed together from coming back together.
    """
    whole = min(_FIRST_WAIT_S * 2.0 ** min(attempt - 1, 32), _LONGEST_WAIT_S)
    return whole * (1 - jitter.random() / 2)


def retry_after_s(value: str | None, *, now_ms: int) -> float | None:
    """The seconds that a Retry-After header asks for; `None` if it is missing or unreadable.

    >>> retry_after_s("120", now_ms=0), retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now_ms=0)
    (120.0, 60.0)
    """
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,15}", value.strip()):
        return min(float(value), _FARTHEST_S)
    try:
        moment = parsedate_to_datetime(value)
        # A date without a zone is GMT, as HTTP dates always are.
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(max(aware.timestamp() - now_ms / 1000, 0.0), _FARTHEST_S)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


@dataclass(slots=True)
class Gate:
    """The moments before which the service asked not to be called.

    A wait of at most `patience_s` is sat out; a longer one closes the gate, and whoever comes
    before that moment is turned away at once. Waits are measured with the `steady` clock: setting
    the other one, which messages go by, makes them neither longer nor shorter.
    """

    patience_s: float
    clock: Clock
    sleep: Sleep
    steady: Clock
    wait_until_ms: int = 0
    closed_until_ms: int = 0

    def hold(self, seconds: float) -> None:
        """Keep the service from being called for `seconds` from now."""
        until = self.steady() + round(seconds * 1000)
        if seconds > self.patience_s:
            self.closed_until_ms = max(self.closed_until_ms, until)
        else:
            self.wait_until_ms = max(self.wait_until_ms, until)

    @property
    def closed(self) -> bool:
        """Whether the service asked for a longer wait than anyone has patience for."""
        return self.steady() < self.closed_until_ms

    def check_open(self) -> None:
        """Raise `NoAnswerError` while the gate is closed."""
        if self.closed:
            moment = format_instant(self.clock() + self.closed_until_ms - self.steady())
            raise NoAnswerError(f"the service asked not to be called before {moment}")

    async def admit(self) -> None:
        """Return when the service may be called, or raise `NoAnswerError`."""
        self.check_open()
        while (wait_ms := self.wait_until_ms - self.steady()) > 0:
            await self.sleep(wait_ms / 1000)
            self.check_open()
