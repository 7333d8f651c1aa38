"""The demo's handle on its world: start the process, reset the world, end the process."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestbefore.errors import WorkError

_PATIENCE_S = 5.0
# The world is on this machine: a proxy that the environment names has no business here.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


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
        kind = {"Content-Type": "application/json"}
        url = f"http://127.0.0.1:{self.port}/reset"
        request = urllib.request.Request(url, body, kind)
        try:
            _opener.open(request, timeout=_PATIENCE_S).close()
        except (OSError, urllib.error.URLError) as error:
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
    given = {"users": users, "seed": seed, "delay-ms": delay_ms, "parent": os.getpid()}
    command = [sys.executable, "-m", "bestbefore.demo.world"]
    command += [f"--{name}={value}" for name, value in given.items()]
    process = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
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
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
