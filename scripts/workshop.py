"""Where the tests of mutants run: forks, each with a copy of the source of its own."""

import contextlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from compileall import compile_dir
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import TypeVar

import hypothesis
import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bestbefore"
BROKEN = 70  # the status of a fork that came to no result
LONGEST_S = 600.0  # that a fork may take, whatever happens

T = TypeVar("T")


class Recorder:
    """A plug-in of pytest that notes how long each test takes and which marks it passes.

    What a fixture does that several tests share counts for every test of the file.
    """

    def __init__(self) -> None:
        self.passed: set[int] = sys.__dict__.setdefault("passed_marks", set())
        self.tests: dict[str, tuple[float, list[int]]] = {}
        self.shared_s, self.shared = 0.0, set[int]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the marks of one test."""
        self.passed.clear()
        start, before_s = time.perf_counter(), self.shared_s
        result = yield
        seconds = time.perf_counter() - start - (self.shared_s - before_s)
        self.tests[item.nodeid] = seconds, sorted(self.passed)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        """Note the marks of a fixture that more than one test has."""
        before, start = set(self.passed), time.perf_counter()
        result = yield
        if fixturedef.scope != "function":
            self.shared |= self.passed - before
            self.shared_s += time.perf_counter() - start
        return result

    def write(self, path: Path) -> None:
        """Write what was noted as JSON."""
        noted = {"shared": [self.shared_s, sorted(self.shared)], "tests": self.tests}
        path.write_text(json.dumps(noted), encoding="utf-8")


class Selection:
    """A plug-in of pytest that runs some tests in their order; who takes far too long has failed.

    Chance is the same for every mutant, and a counterexample need not be small.
    """

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits

    def pytest_collection(self) -> None:
        """Set how examples are made, before the test modules are imported."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutants", derandomize=True, deadline=None, database=None, phases=phases
        )
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was selected."""
        order = {test: place for place, test in enumerate(self.limits)}
        items[:] = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )
        for item in items:
            item.add_marker(pytest.mark.timeout(self.limits[item.nodeid]))


@dataclass(frozen=True)
class Workshop:
    """A folder with a copy of the source, where one fork at a time works."""

    folder: Path

    def build(self) -> None:
        """Copy the source, with byte code that knows the text that it was made of."""
        source = self.folder / "src"
        shutil.copytree(SOURCE, source / "bestbefore", ignore=shutil.ignore_patterns("__pycache__"))
        compile_dir(source, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    def write(self, file: str, text: str) -> None:
        """Replace a file of the source."""
        (self.folder / "src" / "bestbefore" / file).write_text(text, encoding="utf-8")

    def log(self) -> str:
        """What the last fork said."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def fork(self, work: Callable[["Workshop"], int]) -> int:
        """Begin some work in a fork that sees this copy of the source; its process id."""
        pid = os.fork()
        if pid:
            return pid
        status = BROKEN
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            log = os.open(self.folder / "log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(log, 1)
            os.dup2(log, 2)
            paths = [str(self.folder / "src"), str(ROOT)]
            sys.path[:0] = paths
            os.environ["PYTHONPATH"] = os.pathsep.join(paths)
            status = work(self)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def pytest(self, files: Iterable[str], plugin: object, *options: str) -> int:
        """Run the tests of some files."""
        quiet = ("-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={self.folder / 'tmp'}")
        return int(pytest.main([*quiet, *options, *files], plugins=[plugin]))


Work = Callable[[Workshop], int]


def in_forks(
    tasks: Iterable[tuple[T, Work]], workshops: list[Workshop]
) -> Iterator[tuple[T, Workshop, int]]:
    """Each task with the workshop it was done in and its status, as they end."""
    waiting, free = iter(tasks), list(workshops)
    running: dict[int, tuple[T, Workshop, float]] = {}
    try:
        while True:
            while free and (task := next(waiting, None)) is not None:
                place = free.pop()
                running[place.fork(task[1])] = task[0], place, time.monotonic()
            if not running:
                return
            for pid, (name, place, start) in list(running.items()):
                if time.monotonic() - start > LONGEST_S:
                    os.kill(pid, signal.SIGKILL)
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    _end(pid)
                    del running[pid]
                    yield name, place, os.waitstatus_to_exitcode(status)
                    free.append(place)
            time.sleep(0.01)
    finally:
        for pid in running:
            _end(pid)


def _end(pid: int) -> None:
    """End a fork, and what its tests have started and not ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
