"""`make mutants`: do the tests that need no JVM notice when the source is wrong?

Mutants are drawn with a seed and written into a copy of the source, one after the other, and the
tests that execute the changed statement run until one fails. A mutant that all of them let pass has
survived; those of which that is right, for they answer as the source does, are listed with the
reason in tests/equivalent_mutants.toml. Tests run in forks of a process that has imported what is
slow to import. Which tests execute what is found once and kept until source or tests change.
"""

import argparse
import hashlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mutations import Mutant, marked, mutants
from workshop import BROKEN, ROOT, SOURCE, Recorder, Selection, Work, Workshop, in_forks

TESTS = ROOT / "tests"
EQUIVALENT = TESTS / "equivalent_mutants.toml"
KEPT = ROOT / "out" / "mutants" / "reach.json"
PACKAGES = ("checkpoint", "limits", "maintenance", "service", "simulator", "view", "windows")
# What only an experiment notices, after half a minute, wants a quicker test.
TEST_FOLDERS = ("unit", "golden", "property", "contract")
SLOW_IMPORTS = ("aiohttp.web", "numpy.random", "pandas", "pyarrow", "pyoxigraph", "typer")
LINES = 10_000  # more than a file has
ENOUGH_S = 30.0  # of tests for one mutant, as they take without it


@dataclass(frozen=True)
class Test:
    """What is known of a test: its seconds, those of what its file shares, and the marks."""

    name: str
    seconds: float
    shared_s: float
    marks: frozenset[int]

    @property
    def file(self) -> str:
        """The file that it is in."""
        return self.name.split("::", 1)[0]


@dataclass(frozen=True)
class Verdict:
    """What the tests say of a mutant."""

    mutant: Mutant
    survived: bool
    tests: int
    killer: str


def source_files() -> list[str]:
    """The files that can be mutated, sorted."""
    paths = (path for package in PACKAGES for path in (SOURCE / package).rglob("*.py"))
    return sorted(path.relative_to(SOURCE).as_posix() for path in paths)


def find_tests(workshops: list[Workshop]) -> list[Test]:
    """The tests with the marks that they pass, recorded as far as it was not done before."""
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    digests = {digest: file for file, digest in _digests().items()}
    found = {digest: known[digest] for digest in digests if digest in known}
    tasks = [(digest, _recording(file)) for digest, file in digests.items() if digest not in found]
    if tasks:
        _say(f"Running the tests of {len(tasks)} files once, to know what each executes …")
        _write(workshops, marks=True)
    for digest, place, status in in_forks(tasks, workshops):
        if status not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            sys.exit(f"{place.log()}\n{digests[digest]} fails without any mutant")
        found[digest] = json.loads((place.folder / "noted.json").read_text(encoding="utf-8"))
    if tasks:
        _write(workshops, marks=False)
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps(found), encoding="utf-8")
    return [
        Test(name, seconds, noted["shared"][0], frozenset(marks).union(noted["shared"][1]))
        for noted in found.values()
        for name, (seconds, marks) in noted["tests"].items()
    ]


def _write(workshops: list[Workshop], *, marks: bool) -> None:
    """Write the source anew, with or without marks."""
    for number, file in enumerate(source_files()):
        text = (SOURCE / file).read_text(encoding="utf-8")
        for place in workshops:
            place.write(file, marked(text, number * LINES) if marks else text)


def _digests() -> dict[str, str]:
    """The test files, each with what identifies it, the source and what the tests share."""
    paths = sorted(path for folder in TEST_FOLDERS for path in (TESTS / folder).rglob("test_*.py"))
    rest = [path for path in sorted(TESTS.rglob("*.py")) if not path.name.startswith("test_")]
    common = hashlib.sha256()
    for path in [*sorted(SOURCE.rglob("*.py")), *rest]:
        common.update(path.read_bytes())
    return {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(
            common.digest() + path.relative_to(ROOT).as_posix().encode() + path.read_bytes()
        ).hexdigest()
        for path in paths
    }


def _recording(file: str) -> Work:
    def record(place: Workshop) -> int:
        recorder = Recorder()
        status = place.pytest([file], recorder)
        recorder.write(place.folder / "noted.json")
        return status

    return record


def draw(found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of the mutants, of each file its share.

    The order in which they are drawn depends on nothing but their names, so that a change of the
    source elsewhere leaves most of the draw as it was.
    """

    def turn(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(found, key=turn):
        by_file[mutant.file].append(mutant)
    # The k-th of a file with n is due when (k + 1/2)/n of the draw is made.
    due = [
        ((place + 0.5) / len(of_file), turn(mutant), mutant)
        for of_file in by_file.values()
        for place, mutant in enumerate(of_file)
    ]
    chosen = sorted(due, key=lambda entry: entry[:2])[:count]
    return sorted(
        (mutant for *_, mutant in chosen), key=lambda mutant: (mutant.file, mutant.number)
    )


def select(mutant: Mutant, tests: list[Test]) -> list[Test]:
    """The tests that can notice a mutant: those that mirror its package, then the fastest.

    What is executed at import can be noticed by all tests that execute something of the file, or
    else of its package.
    """
    files = source_files()
    package, place = mutant.file.split("/", 1)[0], files.index(mutant.file)
    if mutant.statement is not None:
        able = [test for test in tests if place * LINES + mutant.statement in test.marks]
    else:
        near = {number for number, file in enumerate(files) if file.startswith(f"{package}/")}
        able = _executing({place}, tests) or _executing(near, tests)
    mirror = f"tests/unit/{package}/"
    able.sort(key=lambda test: (not test.name.startswith(mirror), test.seconds + test.shared_s))
    total, shared, selected = 0.0, dict[str, float](), []
    for test in able:
        total, shared[test.file] = total + test.seconds, test.shared_s
        if total + sum(shared.values()) > ENOUGH_S:
            break
        selected.append(test)
    return selected


def _executing(files: set[int], tests: list[Test]) -> list[Test]:
    return [test for test in tests if any(mark // LINES in files for mark in test.marks)]


def judge(drawn: list[Mutant], tests: list[Test], workshops: list[Workshop]) -> Iterator[Verdict]:
    """What the tests say of each."""
    selected = {mutant: select(mutant, tests) for mutant in drawn}
    tasks = [(mutant, _trial(mutant, able)) for mutant, able in selected.items() if able]
    for mutant in drawn:
        if not selected[mutant]:
            yield Verdict(mutant, survived=True, tests=0, killer="")
    for mutant, place, status in in_forks(tasks, workshops):
        place.write(mutant.file, (SOURCE / mutant.file).read_text(encoding="utf-8"))
        if status == BROKEN:
            sys.exit(f"{place.log()}\nno result: {mutant.name}")
        lines = place.log().splitlines()
        killer = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "ended")
        yield Verdict(mutant, survived=status == 0, tests=len(selected[mutant]), killer=killer)


def _trial(mutant: Mutant, tests: list[Test]) -> Work:
    def try_out(place: Workshop) -> int:
        text = (SOURCE / mutant.file).read_text(encoding="utf-8")
        place.write(mutant.file, mutant.source(text))
        limits = {test.name: 10 + 10 * (test.seconds + test.shared_s) for test in tests}
        files = dict.fromkeys(test.file for test in tests)
        return place.pytest(files, Selection(limits), "--exitfirst")

    return try_out


def compare(verdicts: list[Verdict], found: list[Mutant]) -> list[str]:
    """What is wrong: survivors that are not listed, and listed ones that are gone or killed."""
    listed = {entry["mutant"]: entry["reason"] for entry in _equivalent()}
    names = {mutant.name for mutant in found}
    files = {mutant.file for mutant in found}
    wrong = [
        f"survived ({verdict.tests} tests): line {verdict.mutant.number}\n    {verdict.mutant.name}"
        for verdict in verdicts
        if verdict.survived and verdict.mutant.name not in listed
    ]
    wrong += [
        f"listed as equivalent, but killed: {verdict.killer}\n    {verdict.mutant.name}"
        for verdict in verdicts
        if not verdict.survived and verdict.mutant.name in listed
    ]
    wrong += [
        f"listed as equivalent, but there is no such mutant:\n    {name}"
        for name in listed
        if name not in names and name.split(" | ")[0] in files
    ]
    return wrong


def _equivalent() -> list[dict[str, str]]:
    entries: list[dict[str, str]] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutants"]
    return entries


def table(verdicts: list[Verdict]) -> str:
    """Per package: mutants, killed, equivalent, survived."""
    listed = {entry["mutant"] for entry in _equivalent()}
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        kind = "killed"
        if verdict.survived:
            kind = "equivalent" if verdict.mutant.name in listed else "survived"
        for row in (verdict.mutant.file.split("/", 1)[0], "all"):
            rows[row].update(["mutants", kind])
    columns = ("mutants", "killed", "equivalent", "survived")
    lines = [f"{'':12}" + "".join(f"{column:>12}" for column in columns)]
    lines += [
        f"{row:12}" + "".join(f"{rows[row][column]:12}" for column in columns)
        for row in sorted(rows, key=lambda row: (row == "all", row))
    ]
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    """Draw, try out, and say what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="*", help="such as maintenance/allocation.py; all")
    parser.add_argument("--count", type=int, default=200, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true", help="say of each which test killed it")
    options = parser.parse_args()
    start = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no fork is left behind
    for module in SLOW_IMPORTS:
        importlib.import_module(module)
    found = [m for file in options.files or source_files() for m in mutants(SOURCE, SOURCE / file)]
    drawn = draw(found, options.count, options.seed)
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        workshops = [Workshop(Path(folder) / str(number)) for number in range(options.workers)]
        for place in workshops:
            place.build()
        tests = find_tests(workshops)
        _say(f"Trying out {len(drawn)} of {len(found)} mutants …")
        verdicts = []
        for verdict in judge(drawn, tests, workshops):
            verdicts.append(verdict)
            if options.verbose:
                said = "survived" if verdict.survived else verdict.killer
                _say(f"{said}\n    {verdict.mutant.name}")
    wrong = compare(verdicts, found)
    sys.stdout.write("\n".join([table(verdicts), "", *wrong, ""]))
    _say(f"{time.monotonic() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
