"""The world as a process of its own, with a real oxigraph server."""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest

from bestbefore.demo import oxigraph
from bestbefore.demo.population import changes, users
from bestbefore.demo.truth import ChangeLog
from bestbefore.demo.world import World, running_world
from bestbefore.errors import WorkError

PARENT = """
import time
from bestbefore.demo.world import running_world
with running_world(users=10, seed=1, delay_ms=0) as world:
    print(world.process.pid, world.oxigraph_port, flush=True)
    time.sleep(60)
"""
FOLLOWERS = "SELECT ?u ?f { ?u <http://example.org/demo/hasFollowers> ?f }"


@pytest.fixture
def server_installed():
    try:
        oxigraph.find_oxigraph()
    except WorkError as error:
        pytest.skip(str(error))


def followers(endpoint):
    body = urllib.parse.urlencode({"query": FOLLOWERS}).encode()
    accept = {"Accept": "application/sparql-results+json"}
    with urllib.request.urlopen(urllib.request.Request(endpoint, body, accept)) as reply:
        rows = json.load(reply)["results"]["bindings"]
    return {row["u"]["value"]: row["f"]["value"] for row in rows}


def is_listening(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, *, seconds=15):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


@pytest.mark.usefixtures("server_installed")
def test_the_world_changes_is_logged_and_begins_anew(tmp_path):
    with running_world(users=400, seed=7, delay_ms=30) as world:
        world.reset(tmp_path / "first.csv", span_ms=60_000)
        before = time.monotonic()
        first = followers(world.endpoint)
        assert time.monotonic() - before >= 0.03
        assert len(first) == 400
        log = ChangeLog(tmp_path / "first.csv")
        wait_until(lambda: (log.read(), sum(map(len, log._times.values())) > 420)[1])
        assert followers(world.endpoint) != first

        world.reset(tmp_path / "second.csv", span_ms=0)
        still = followers(world.endpoint)
        second = ChangeLog(tmp_path / "second.csv")
        second.read()
        assert second.freshness(still.items(), second.latest_ms) == 1.0
        start = {iri: log._values[iri][0] for iri in log._values}
        assert still == start, "the world begins with the same values again"
    assert not is_listening(world.port)
    assert not is_listening(world.oxigraph_port)


class SlowServer:
    """A server that makes every change, also one whose request was let go."""

    def __init__(self):
        self.made, self.changing = [], asyncio.Event()

    async def update(self, text):
        begins = text in (self.made[:1] or [text])
        made = asyncio.create_task(self._make(text, 0 if begins else 0.05))
        if not begins:
            self.changing.set()
        await asyncio.shield(made)

    async def _make(self, text, seconds):
        await asyncio.sleep(seconds)
        self.made.append(text)


def test_a_change_under_way_is_made_before_the_world_begins_anew(tmp_path):
    async def begin_anew_meanwhile():
        server = SlowServer()
        world = World(users(400, seed=7), seed=7, server=server, ended=asyncio.Event())
        await world.reset(tmp_path / "first.csv", span_ms=60_000)
        await server.changing.wait()
        await world.reset(tmp_path / "second.csv", span_ms=0)
        await asyncio.sleep(0.1)
        return server.made

    first, _, last = asyncio.run(begin_anew_meanwhile())
    assert last == first, "nothing of the world before comes after the first values of the next"


@pytest.mark.usefixtures("server_installed")
def test_the_log_tells_what_the_endpoint_says(tmp_path):
    """When nothing changes any more, the last logged values are the endpoint's."""
    population = users(50, seed=3)
    plan = changes(population, span_ms=1_000, seed=3)
    expected = {user.iri: str(user.followers) for user in population}
    expected |= {change.user.iri: str(change.followers) for change in plan}
    with running_world(users=50, seed=3, delay_ms=0) as world:
        world.reset(tmp_path / "log.csv", span_ms=1_000)
        wait_until(lambda: followers(world.endpoint) == expected)
        log = ChangeLog(tmp_path / "log.csv")
        wait_until(lambda: (log.read(), log.freshness(expected.items(), log.latest_ms))[1] == 1.0)
        assert sum(map(len, log._times.values())) > 50


@pytest.mark.usefixtures("server_installed")
def test_the_world_ends_when_nobody_is_there_any_more():
    """A parent that is killed cannot end its world: the world notices by itself."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    pid, port = map(int, parent.stdout.readline().split())
    assert is_listening(port)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not is_listening(port))
    wait_until(lambda: not is_alive(pid))


def test_a_server_that_does_not_start_is_one_clear_line(tmp_path, monkeypatch):
    broken = tmp_path / "oxigraph"
    broken.write_text("#!/bin/sh\necho 'no room left' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(oxigraph, "find_oxigraph", lambda: str(broken))

    async def start():
        async with oxigraph.running_oxigraph():
            pass

    with pytest.raises(WorkError, match="did not start: no room left"):
        asyncio.run(start())


def test_a_missing_server_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkError, match="pip install"):
        oxigraph.find_oxigraph()
