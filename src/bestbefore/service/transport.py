"""One HTTP exchange with an endpoint: a message there, rows or another reply back."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace

import aiohttp
from yarl import URL

from bestbefore.service.allow_list import AllowedAddresses, read_networks
from bestbefore.service.call import Question
from bestbefore.service.decoding import open_decoding
from bestbefore.service.message import Message
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.pacing import Turn
from bestbefore.service.reply import Reply
from bestbefore.service.results import Rows
from bestbefore.service.settings import ClientSettings
from bestbefore.time import monotonic_s

# Small enough to be read within milliseconds, whatever it holds.
_CHUNK_BYTES = 16 * 1024
_ERROR_BYTES = 4 * 1024


class Transport:
    """The pool of connections to one endpoint; lives on one event loop.

    A body is read as it comes: what is held is a piece of it and its rows, and neither its length
    unpacked nor the time that reading it takes can exceed the limits.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None

    async def exchange(self, message: Message, question: Question, turn: Turn) -> Rows | Reply:
        """The rows of a 200 reply, or a reply with another status; else `NoAnswerError`."""
        try:
            return await self._request(message, question, turn)
        except TimeoutError:
            raise _lost(f"no complete reply within {question.timeout_s:g} s") from None
        except aiohttp.ClientPayloadError:
            raise _lost("the connection broke in the middle of the reply") from None
        except aiohttp.ClientSSLError as error:
            raise NoAnswerError(_named("no secure connection", error), unreached=True) from None
        except (aiohttp.ClientConnectionError, OSError) as error:
            raise _lost(_named("no connection", error)) from None
        except aiohttp.ClientError as error:
            raise NoAnswerError(_named("no HTTP reply", error)) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _request(self, message: Message, question: Question, turn: Turn) -> Rows | Reply:
        until = monotonic_s() + question.timeout_s
        async with self._opened().request(
            message.method,
            URL(message.url, encoded=message.exact),
            data=message.body,
            headers=message.headers,
            timeout=aiohttp.ClientTimeout(total=question.timeout_s),
            # Data must never decide which host is called.
            allow_redirects=False,
            trace_request_ctx=turn,
            middlewares=(_Once(),),
        ) as response:
            try:
                return await self._read(response, message, until)
            except BaseException:
                response.close()
                raise

    async def _read(
        self, response: aiohttp.ClientResponse, message: Message, until: float
    ) -> Rows | Reply:
        headers = {name.lower(): value for name, value in response.headers.items()}
        if response.status != 200:
            return Reply(response.status, headers, await self._beginning(response))
        reader = message.reader(headers)
        length = 0
        async for piece in _pieces(response):
            length += len(piece)
            if length > self._settings.max_response_bytes:
                raise NoAnswerError(
                    f"the reply is longer than max_response_bytes ="
                    f" {self._settings.max_response_bytes}; ask for less at once or raise it"
                )
            reader.feed(piece)
            # Pieces that are there already are read without a look at the loop's timers.
            if monotonic_s() > until:
                raise TimeoutError
            await asyncio.sleep(0)
        return reader.close()

    async def _beginning(self, response: aiohttp.ClientResponse) -> bytes:
        """The beginning of what a service says of an error, without what it repeats of secrets."""
        body = b""
        try:
            async for piece in _pieces(response):
                body += piece
                if len(body) >= _ERROR_BYTES:
                    break
        except NoAnswerError:
            body = b""
        return self._settings.redact(body[:_ERROR_BYTES].decode("utf-8", "replace")).encode()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            networks = read_networks(self._settings.allow_addresses)
            connector = aiohttp.TCPConnector(
                limit=self._settings.connections,
                resolver=AllowedAddresses(aiohttp.ThreadedResolver(), networks),
            )
            self._session = aiohttp.ClientSession(
                headers=self._settings.request_headers,
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trace_configs=[_trace_of_turns()] if self._settings.requests_per_second else [],
            )
        return self._session


class _Once:
    """What lets one HTTP request leave: aiohttp sends a GET again if its connection breaks."""

    def __init__(self) -> None:
        self._sent = False

    async def __call__(
        self, request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if self._sent:
            raise aiohttp.ServerDisconnectedError
        self._sent = True
        return await send(request)


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body unpacked, in pieces of bounded size."""
    decoding = open_decoding(response.headers.get("Content-Encoding", ""))
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        for piece in decoding.pieces(chunk):
            yield piece
    decoding.close()


def _trace_of_turns() -> aiohttp.TraceConfig:
    """What tells a turn that its request has arrived: the reply has begun to come."""

    async def use(_: object, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.use()

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(use)
    return trace


def _lost(reason: str) -> NoAnswerError:
    return NoAnswerError(reason, passing=True, unreached=True)


def _named(what: str, error: Exception) -> str:
    return f"{what}: {str(error) or type(error).__name__}"
