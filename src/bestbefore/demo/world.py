"""The demo's world, a process of its own: an endpoint whose data keeps changing.

It starts a real oxigraph server, fills it with users and changes each of them at its own pace by
SPARQL UPDATE. Queries reach the server through a front that takes as long as a remote endpoint
would. It ends on SIGTERM, and by itself when the process that started it is gone. With
`running_world` the demo starts it, by a `WorldProcess` it speaks to it.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from aiohttp import web

from bestbefore.demo.oxigraph import Oxigraph, running_oxigraph
from bestbefore.demo.population import Change, User, changes, insertion, update, users
from bestbefore.errors import BestbeforeError, WorkError
from bestbefore.time import wall_clock_ms

_TICK_S = 0.04
_PARENT_CHECK_S = 0.5
_PATIENCE_S = 5.0
LOG_HEADER = "ts_ms,key,value\n"
# The world is on this machine: a proxy that the environment names has no business here.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class World:
    """The users, the server that knows them, and the task that changes them.

    A change under way is waited for: the server may still make one whose request was let go.
    """

    population: list[User]
    seed: int
    server: Oxigraph
    ended: asyncio.Event
    changing: asyncio.Task[None] | None = None
    under_way: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def reset(self, log: Path, *, span_ms: int) -> None:
        """Begin anew: first values, then the same changes again, each logged once it is made."""
        await self.rest()
        begun_ms = wall_clock_ms()
        await self.server.update(insertion(self.population))
        file = log.open("w", encoding="utf-8")
        file.write(LOG_HEADER)
        _write(file, begun_ms, {user.iri: user.followers for user in self.population})
        plan = changes(self.population, span_ms=span_ms, seed=self.seed)
        self.changing = asyncio.create_task(self._change(plan, file))
        self.changing.add_done_callback(self._changed)

    async def rest(self) -> None:
        """Stop changing things."""
        if self.changing is not None:
            async with self.under_way:
                self.changing.cancel()
            with suppress(asyncio.CancelledError):
                await self.changing

    async def _change(self, plan: list[Change], file: TextIO) -> None:
        started_ms, done = wall_clock_ms(), 0
        with file:
            while done < len(plan):
                now = wall_clock_ms() - started_ms
                end = bisect_right(plan, now, lo=done, key=attrgetter("offset_ms"))
                if due := {change.user.iri: change.followers for change in plan[done:end]}:
                    async with self.under_way:
                        await self.server.update(update(due))
                        _write(file, wall_clock_ms(), due)
                done = end
                await asyncio.sleep(_TICK_S)

    def _changed(self, task: asyncio.Task[None]) -> None:
        """A world that can no longer change is over: its truth would be wrong."""
        if not task.cancelled() and task.exception() is not None:
            self.ended.set()


def _write(file: TextIO, at_ms: int, values: dict[str, int]) -> None:
    file.writelines(f"{at_ms},{iri},{followers}\n" for iri, followers in values.items())
    file.flush()


def application(world: World, *, delay_s: float) -> web.Application:
    """The front: queries pass through after a delay, and the demo may reset the world."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        await asyncio.sleep(delay_s)
        passed = {name: request.headers[name] for name in ("Content-Type", "Accept")}
        server = world.server
        async with server.client.post(f"{server.address}/query", data=body, headers=passed) as got:
            kind = {"Content-Type": got.headers.get("Content-Type", "text/plain")}
            return web.Response(status=got.status, body=await got.read(), headers=kind)

    async def reset(request: web.Request) -> web.Response:
        wanted = await request.json()
        await world.reset(Path(wanted["log"]), span_ms=wanted["span_ms"])
        return web.Response(text="begun anew\n")

    front = web.Application()
    front.router.add_post("/sparql", answer)
    front.router.add_post("/reset", reset)
    return front


async def run_world(*, count: int, seed: int, delay_ms: int, parent: int) -> None:
    """Run the world until a signal comes, the parent is gone, or the server fails."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with running_oxigraph() as server:
        world = World(users(count, seed=seed), seed, server, ended)
        runner = web.AppRunner(application(world, delay_s=delay_ms / 1000), shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            _say(port=runner.addresses[0][1], oxigraph_port=server.port)
            await _until_ended(world, parent)
            await world.rest()
        finally:
            await runner.cleanup()


async def _until_ended(world: World, parent: int) -> None:
    while not world.ended.is_set() and os.getppid() == parent:
        with suppress(TimeoutError):
            await asyncio.wait_for(world.ended.wait(), _PARENT_CHECK_S)


def _say(**facts: str | int) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run the world as a process; its first line on stdout tells its ports, or what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bestbefore.demo.world")
    for name in ("--count", "--seed", "--delay-ms", "--parent"):
        parser.add_argument(name, type=int, required=True)
    try:
        asyncio.run(run_world(**vars(parser.parse_args())))
    except BestbeforeError as error:
        _say(error=str(error))
        return error.exit_code
    return 0


@dataclass(frozen=True, slots=True)
class WorldProcess:
    """A running world."""

    process: subprocess.Popen[str]
    port: int
    oxigraph_port: int

    @property
    def endpoint(self) -> str:
        """The SPARQL endpoint that answers as slowly as a remote one."""
        return f"http://127.0.0.1:{self.port}/sparql"

    def reset(self, log: Path, *, span_ms: int) -> None:
        """Let the world begin anew and log its changes of the next `span_ms` in a file."""
        body = json.dumps({"log": str(log.absolute()), "span_ms": span_ms}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/reset", body)
        try:
            _opener.open(request, timeout=_PATIENCE_S).close()
        except OSError as error:
            raise WorkError(f"the demo's endpoint could not be reset: {error}") from None

    def check(self) -> None:
        """Fail if the world has ended by itself."""
        if (code := self.process.poll()) is not None:
            raise WorkError(f"the demo's endpoint ended unexpectedly (exit code {code})")


@contextmanager
def running_world(*, users: int, seed: int, delay_ms: int) -> Iterator[WorldProcess]:
    """Start a world; with the block it ends, and so does its server.

    The world leads a process group of its own: Ctrl-C in the terminal reaches only the demo, and
    what the world has started can be ended with it even if it died before.
    """
    given = {"count": users, "seed": seed, "delay-ms": delay_ms, "parent": os.getpid()}
    command = [sys.executable, "-m", "bestbefore.demo.world"]
    command += [f"--{name}={value}" for name, value in given.items()]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield _greeted(process)
        finally:
            _end(process)


def _greeted(process: subprocess.Popen[str]) -> WorldProcess:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    line = process.stdout.readline()
    said: dict[str, Any] = json.loads(line or '{"error": "the demo\'s endpoint did not start"}')
    if "error" in said:
        raise WorkError(said["error"])
    return WorldProcess(process, said["port"], said["oxigraph_port"])


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
