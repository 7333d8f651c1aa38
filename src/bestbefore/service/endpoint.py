"""The HTTP side of one SPARQL endpoint: connections, limits, retries."""

import asyncio
from dataclasses import dataclass
from random import Random

import aiohttp

from bestbefore.service.backoff import Gate, Sleep, backoff_s, retry_after_s
from bestbefore.service.limits import ClientSettings
from bestbefore.service.reply import NoAnswerError, Reply, check_status
from bestbefore.time import Clock

_CHUNK_BYTES = 64 * 1024
_ERROR_BYTES = 4 * 1024
_GIVE_UP_AFTER = 3


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
            raise NoAnswerError(f"no request was left of the {self.allowed} allowed")

    def take(self) -> None:
        """Count one request that is about to be sent, or raise `NoAnswerError`."""
        self.check()
        self.sent += 1


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
