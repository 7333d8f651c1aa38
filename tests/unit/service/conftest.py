"""A scripted SPARQL endpoint on 127.0.0.1, and a clock that tests move."""

import asyncio
import json
import re
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from bestbefore.query import parse_sparql
from bestbefore.query.algebra import services_of
from bestbefore.service import ClientSettings, ServiceClient, ServicePattern

Behaviour = Callable[[web.Request], Awaitable[web.StreamResponse]]


def asked(text, variables=("user", "count"), key=("user",)):
    """The SERVICE pattern that a text means."""
    _, pattern, _ = parse_sparql(f"SELECT * WHERE {{ SERVICE <http://e/s> {{ {text} }} }}")
    return ServicePattern(services_of(pattern)[0].pattern, variables, key)


FOLLOWERS = asked("?user <http://e/followers> ?count .")


def user(number):
    return f"http://e/u/{number}"


def key(number):
    return (f"<{user(number)}>",)


def row(number, value):
    return (f"<{user(number)}>", f'"{value}"')


def result(rows, *, variables=("user", "count")):
    """A SPARQL JSON result; a string starting with http is an IRI, None is unbound."""

    def term(value):
        return {"type": "uri" if value.startswith("http") else "literal", "value": value}

    bindings = [
        {name: term(value) for name, value in zip(variables, row, strict=True) if value is not None}
        for row in rows
    ]
    return {"head": {"vars": list(variables)}, "results": {"bindings": bindings}}


async def query_of(request):
    """The query of a request, by any of the three ways of the SPARQL protocol."""
    if request.method == "GET":
        return request.query.get("query", "")
    if request.content_type == "application/sparql-query":
        return await request.text()
    return (await request.post())["query"]


class ScriptedEndpoint:
    """An endpoint that does what `script` says, request by request, and then answers `facts`.

    `value` is the variable that it binds beside the user.
    """

    def __init__(self, value="count"):
        self.value = value
        self.facts: dict[str, list[str]] = {}
        self.script: deque[Behaviour] = deque()
        self.hold_s = 0.0
        self.reset()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = self._do(self._start())
        self.url = f"http://127.0.0.1:{self.port}/sparql"

    def reset(self):
        self.facts, self.hold_s = {}, 0.0
        self.script.clear()
        self.queries, self.requests = [], []
        self.connections, self.active, self.peak = set(), 0, 0

    def close(self):
        self._do(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def status(self, code, *, body="", **headers):
        async def behave(_request):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.Response(status=code, text=body, headers=named)

        return behave

    def raw(self, body, *, content_type="application/sparql-results+json", **headers):
        async def behave(_request):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            data = body if isinstance(body, bytes) else body.encode()
            return web.Response(body=data, content_type=content_type, headers=named)

        return behave

    def rows(self, rows, *, variables=None, **headers):
        variables = variables or ("user", self.value)
        return self.raw(json.dumps(result(rows, variables=variables)), **headers)

    async def hang(self, _request):
        await asyncio.Event().wait()

    async def break_off(self, request):
        response = web.StreamResponse(headers={"Content-Length": "100000"})
        response.content_type = "application/sparql-results+json"
        await response.prepare(request)
        await response.write(b'{"head": {"vars": ["user", "count"]}, "results": {"bindi')
        request.transport.abort()
        return response

    def trickle(self, pieces, *, pause_s=0.0, again=1):
        """A reply in pieces, each after a pause; the last ones over and over."""

        async def behave(request):
            response = web.StreamResponse()
            response.content_type = "application/sparql-results+json"
            await response.prepare(request)
            for piece in [*pieces[:-1], *pieces[-1:] * again]:
                await response.write(piece)
                await asyncio.sleep(pause_s)
            return response

        return behave

    async def refuse_connection(self, request):
        request.transport.abort()
        return web.Response()

    async def _start(self):
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self._runner.addresses[0][1]

    async def _serve(self, request):
        query = await query_of(request)
        self.queries.append(query)
        self.requests.append(request)
        self.connections.add(request.transport.get_extra_info("peername"))
        self.active += 1
        self.peak = max(self.peak, self.active)
        try:
            if self.hold_s:
                await asyncio.sleep(self.hold_s)
            behave = self.script.popleft() if self.script else self._answer(query)
            return await behave(request)
        finally:
            self.active -= 1

    def _answer(self, query):
        named = re.findall(r"<(http://e/u/[^>]*)>", query)
        if "VALUES" in query or not named:
            users = [user for user in self.facts if not named or user in named]
            return self.rows([(user, value) for user in users for value in self.facts[user]])
        values = self.facts.get(named[0], [])
        return self.rows([(value,) for value in values], variables=(self.value,))

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


class MovedTime:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now_ms = 1_700_000_000_000
        self.slept: list[float] = []

    def clock(self):
        return self.now_ms

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now_ms += round(seconds * 1000)
        await asyncio.sleep(0)


@pytest.fixture(scope="session")
def one_endpoint():
    server = ScriptedEndpoint()
    yield server
    server.close()


@pytest.fixture
def endpoint(one_endpoint):
    one_endpoint.reset()
    return one_endpoint


@pytest.fixture
def moved_time():
    return MovedTime()


@pytest.fixture
def followers():
    return FOLLOWERS


@pytest.fixture
def client_of(endpoint, moved_time):
    """Make clients of the scripted endpoint; they are closed at the end."""
    clients = []

    def make(*, pattern=FOLLOWERS, **settings):
        settings = {"endpoint": endpoint.url, **settings}
        client = ServiceClient(
            ClientSettings(**settings),
            pattern,
            clock=moved_time.clock,
            steady_clock=moved_time.clock,
            sleep=moved_time.sleep,
        )
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
