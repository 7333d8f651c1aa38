"""`bestbefore demo` as a newcomer runs it: to its end, and with Ctrl-C in the middle."""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from bestbefore.demo.oxigraph import find_oxigraph
from bestbefore.errors import WorkError

MAIN = "from bestbefore.cli.main import main; main()"
MARK = "BESTBEFORE_DEMO_TEST"
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc"),
    pytest.mark.usefixtures("demo_installed"),
]


@pytest.fixture(scope="module")
def demo_installed():
    pytest.importorskip("matplotlib")
    try:
        find_oxigraph()
    except WorkError as error:
        pytest.skip(str(error))


class Demo:
    """A running demo whose processes, down to the last one, carry a mark in their environment."""

    def __init__(self, out):
        self.mark = f"{MARK}={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.stderr = out.parent / "stderr.txt"
        with self.stderr.open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", MAIN, "demo", "--seconds", "6", "--out", str(out)],
                env={**os.environ, name: value},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                # As from a terminal: a process group that Ctrl-C reaches as a whole.
                start_new_session=True,
            )

    def processes(self):
        """The command lines of the processes that are still there."""
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark.encode() in environment.read_bytes():
                    found.append(environment.with_name("cmdline").read_bytes())
            except OSError:
                continue
        return found

    def says(self, text):
        return text in self.stderr.read_text()


@pytest.fixture
def demo(tmp_path):
    demo = Demo(tmp_path / "out")
    yield demo
    if demo.process.poll() is None:
        os.killpg(demo.process.pid, signal.SIGKILL)
    demo.process.communicate()


def wait_until(condition, *, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


def table(stdout):
    """The figures: freshness, estimate, completeness, requests each, two times."""
    rows = re.findall(r"^ *(WST|EFG|WSJ-RND)  *([a-z ]+?)  +(\d.*)$", stdout, re.MULTILINE)
    return {
        policy: [float(each.replace(",", "")) for each in re.findall(r"[\d.,]+", figures)]
        for policy, _, figures in rows
    }


def test_the_demo_compares_three_policies_and_leaves_nothing_behind(demo, tmp_path):
    stdout, _ = demo.process.communicate(timeout=180)
    stderr = demo.stderr.read_text()
    assert demo.process.returncode == 0, stderr
    assert demo.processes() == []

    figures = table(stdout)
    assert list(figures) == ["WST", "EFG", "WSJ-RND"], stdout
    (never, *_), (best, *_), (everything, *_) = figures.values()
    assert never < everything
    assert all(0 <= each <= 100 for each in (never, best, everything))
    # Who never refreshes still asks for users whom it has not met before.
    requests = [row[3] for row in figures.values()]
    assert requests[0] < requests[1] < requests[2]
    assert all(row[2] > 90 for row in figures.values())
    assert "EFG gave answers" in stdout

    assert "SELECT DISTINCT ?user ?followers" in stderr
    assert len(re.findall(r"^ +\+\d s .*█.* s$", stderr, re.MULTILINE)) == 18
    assert "Traceback" not in stderr
    assert "WARN" not in stderr
    out = tmp_path / "out"
    assert (out / "freshness.png").read_bytes().startswith(PNG)
    for folder in ("never-refresh", "best-first", "everything"):
        assert (out / folder / "job.toml").is_file()
        assert list((out / folder / "answers").glob("*/*.json"))
    events = sum(len(file.read_text().splitlines()) for file in out.glob("*/stream/*.jsonl"))
    assert events >= 20_000


def test_after_ctrl_c_every_process_is_gone(demo):
    wait_until(lambda: demo.says("1/3"), seconds=90)
    assert len(demo.processes()) >= 4, "the demo, its world, oxigraph and a JVM"
    os.killpg(demo.process.pid, signal.SIGINT)
    demo.process.communicate(timeout=30)
    assert demo.processes() == []
    assert demo.process.returncode in (0, 130)
    assert demo.says("ending Spark and the endpoint")
    assert not demo.says("Traceback")
