"""A real SPARQL server as a child process: oxigraph, in memory, on a free loopback port."""

import asyncio
import shutil
import socket
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import aiohttp

from bestbefore.errors import WorkError
from bestbefore.time import monotonic_s

_PATIENCE_S = 15.0
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Oxigraph:
    """A running server and the HTTP client that speaks to it."""

    port: int
    process: Process
    client: aiohttp.ClientSession

    @property
    def address(self) -> str:
        """The root of its HTTP interface."""
        return f"http://127.0.0.1:{self.port}"

    async def update(self, text: str) -> None:
        """Run a SPARQL UPDATE and wait until the server has confirmed it."""
        kind = {"Content-Type": "application/sparql-update"}
        async with self.client.post(f"{self.address}/update", data=text, headers=kind) as reply:
            if reply.status >= 300:
                raise WorkError(f"oxigraph refused an update: {await reply.text()}")


@asynccontextmanager
async def running_oxigraph() -> AsyncIterator[Oxigraph]:
    """Start a server and wait until it answers; it is killed at the end, whatever happened."""
    executable = find_oxigraph()
    with tempfile.TemporaryFile() as messages:
        async with aiohttp.ClientSession() as client:
            for _ in range(_ATTEMPTS):
                server = await _start(executable, client, messages)
                try:
                    # Without an answer, somebody may have taken the port: another one, then.
                    if await _answers(server):
                        yield server
                        return
                finally:
                    with suppress(ProcessLookupError):
                        server.process.kill()
                    await server.process.wait()
        messages.seek(0)
        said = " / ".join(messages.read().decode(errors="replace").split("\n")[-4:]).strip(" /")
    raise WorkError(f"oxigraph ({executable}) did not start: {said or 'it says nothing'}")


def find_oxigraph() -> str:
    """The server's executable: beside this Python, or on the PATH."""
    beside = Path(sys.executable).parent / "oxigraph"
    found = str(beside) if beside.exists() else shutil.which("oxigraph")
    if found is None:
        raise WorkError("the oxigraph server is not installed; pip install 'bestbefore[demo]'")
    return found


async def _start(executable: str, client: aiohttp.ClientSession, messages: BinaryIO) -> Oxigraph:
    port = _free_port()
    command = (executable, "serve", "--bind", f"127.0.0.1:{port}")
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=messages, stderr=messages
        )
    except OSError as error:
        raise WorkError(f"oxigraph did not start: {error}") from None
    return Oxigraph(port, process, client)


async def _answers(server: Oxigraph) -> bool:
    """Wait for the first answer; False if the server ends or takes too long."""
    deadline = monotonic_s() + _PATIENCE_S
    while monotonic_s() < deadline and server.process.returncode is None:
        with suppress(aiohttp.ClientError):
            async with server.client.get(f"{server.address}/query"):
                return server.process.returncode is None
        await asyncio.sleep(0.02)
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
