"""The HTTP side of one SPARQL endpoint: connections, limits, and when to ask again."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import Random

import aiohttp

from bestbefore.service.reply import NoAnswerError, Reply, check_status
from bestbefore.service.settings import ClientSettings
from bestbefore.time import Clock, format_instant

Sleep = Callable[[float], Awaitable[None]]

_CHUNK_BYTES = 64 * 1024
_ERROR_BYTES = 4 * 1024
_GIVE_UP_AFTER = 3
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0
# Farther than this is a mistake of the service, and beyond what a date can hold.
_FARTHEST_S = 366 * 86_400


@dataclass(slots=True)
class Call:
    """The requests of one load or fetch: how many were sent, and how many may be.

    After a few queries in a row without a usable answer the rest of the call is not sent: it would
    wait for as many timeouts and count as abuse with services that ban by errors.
    """

    allowed: int | None = None
    sent: int = 0
    lost_in_a_row: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether no request may be sent any more."""
        return self.allowed is not None and self.sent >= self.allowed

    def check(self) -> None:
        """Raise `NoAnswerError` if nothing may be sent any more."""
        if self.lost_in_a_row >= _GIVE_UP_AFTER:
            raise NoAnswerError(f"{_GIVE_UP_AFTER} queries in a row failed, so no more were sent")
        if self.exhausted:
            reason = f"no request was left of the {self.allowed} allowed"
            raise NoAnswerError(reason, unsent=True)

    def take(self) -> None:
        """Count one request that is about to be sent, or raise `NoAnswerError`."""
        self.check()
        self.sent += 1


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
    before that moment is turned away at once.
    """

    patience_s: float
    clock: Clock
    sleep: Sleep
    wait_until_ms: int = 0
    closed_until_ms: int = 0

    def hold(self, seconds: float) -> None:
        """Keep the service from being called for `seconds` from now."""
        until = self.clock() + round(seconds * 1000)
        if seconds > self.patience_s:
            self.closed_until_ms = max(self.closed_until_ms, until)
        else:
            self.wait_until_ms = max(self.wait_until_ms, until)

    def check_open(self) -> None:
        """Raise `NoAnswerError` while the gate is closed."""
        if self.clock() < self.closed_until_ms:
            moment = format_instant(self.closed_until_ms)
            raise NoAnswerError(f"the service asked not to be called before {moment}")

    async def admit(self) -> None:
        """Return when the service may be called, or raise `NoAnswerError`."""
        self.check_open()
        while (wait_ms := self.wait_until_ms - self.clock()) > 0:
            await self.sleep(wait_ms / 1000)
            self.check_open()


class Endpoint:
    """One endpoint behind one pool of connections; lives on one event loop."""

    def __init__(
        self, settings: ClientSettings, *, clock: Clock, sleep: Sleep, jitter: Random
    ) -> None:
        self._settings = settings
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._gate = Gate(settings.max_retry_after_s, clock, sleep)
        self._slots = asyncio.Semaphore(settings.connections)
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, query: str, call: Call, *, timeout_s: float) -> Reply:
        """Return the 200 reply to a query, trying again while trouble may pass."""
        attempt = 1
        # A query that backs off keeps its slot, so that a service in trouble is asked less.
        async with self._slots:
            while True:
                try:
                    return await self._send(query, call, timeout_s=timeout_s)
                except NoAnswerError as trouble:
                    if not trouble.passing:
                        raise
                    if attempt == self._settings.attempts or call.exhausted:
                        raise NoAnswerError(_after(trouble, attempt)) from None
                self._gate.check_open()
                await self._sleep(backoff_s(attempt, self._jitter))
                attempt += 1

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _send(self, query: str, call: Call, *, timeout_s: float) -> Reply:
        call.check()
        await self._gate.admit()
        call.take()
        reply = await self._exchange(query, timeout_s)
        if reply.status >= 400:
            wait_s = retry_after_s(reply.headers.get("retry-after"), now_ms=self._clock())
            self._gate.hold(wait_s or 0.0)
        check_status(reply)
        return reply

    async def _exchange(self, query: str, timeout_s: float) -> Reply:
        try:
            return await self._post(query, timeout_s)
        except TimeoutError:
            raise NoAnswerError(f"no complete reply within {timeout_s:g} s", passing=True) from None
        except aiohttp.ClientPayloadError:
            raise NoAnswerError(
                "the connection broke in the middle of the reply", passing=True
            ) from None
        except aiohttp.ClientSSLError as error:
            raise NoAnswerError(_named("no secure connection", error)) from None
        except (aiohttp.ClientConnectionError, OSError) as error:
            raise NoAnswerError(_named("no connection", error), passing=True) from None
        except aiohttp.ClientError as error:
            raise NoAnswerError(_named("no HTTP reply", error)) from None

    async def _post(self, query: str, timeout_s: float) -> Reply:
        async with self._opened().post(
            self._settings.url,
            data={"query": query},
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            # Data must never decide which host is called.
            allow_redirects=False,
        ) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, headers, await self._read(response))

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if response.status != 200:
            return await response.content.read(_ERROR_BYTES)
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            body += chunk
            if len(body) > self._settings.max_response_bytes:
                response.close()
                raise NoAnswerError(
                    f"the reply is longer than max_response_bytes ="
                    f" {self._settings.max_response_bytes}; ask for less at once or raise it"
                )
        return bytes(body)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._settings.request_headers,
                connector=aiohttp.TCPConnector(limit=self._settings.connections),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


def _named(what: str, error: Exception) -> str:
    return f"{what}: {str(error) or type(error).__name__}"


def _after(trouble: NoAnswerError, attempts: int) -> str:
    return f"{trouble} (after {attempts} attempts)" if attempts > 1 else str(trouble)
