"""What the operating system refuses ends a run in one line, and the next run goes on after it."""

import json
import subprocess
from contextlib import suppress

import pytest

from bestbefore.engine import Engine
from bestbefore.errors import WorkError
from bestbefore.job import read_job

from .conftest import EX

QUERY = f"""PREFIX : <{EX}>
REGISTER RSTREAM :out AS SELECT ?user FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]
WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }} }}"""


@pytest.fixture
def disk(tmp_path):
    """A folder on a small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a small disk needs the right to mount one: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def run(bench, disk):
    """A run of a job that follows its stream, and what is on the small disk of what it writes."""

    def job(where, trigger):
        paths = {name: str(bench.folder / name) for name in ("answers", "quality", "checkpoint")}
        if where in paths:
            paths[where] = str(disk / where)
        elif where == "offsets":
            offsets = bench.folder / "checkpoint" / "spark" / "offsets"
            offsets.parent.mkdir(parents=True, exist_ok=True)
            if not offsets.is_symlink():
                (disk / "offsets").mkdir()
                offsets.symlink_to(disk / "offsets")
        tables = {
            "query": {"text": QUERY, "trigger": trigger},
            "streams": {"s": {"path": str(bench.folder / "stream")}},
            "sink": {"path": paths["answers"], "quality": paths["quality"]},
            "checkpoint": {"path": paths["checkpoint"]},
        }
        return read_job(tables)

    def start(where, trigger="100ms"):
        return Engine(bench.spark).start(job(where, trigger), on_quality=bench.reports.append)

    return start


def fill(disk):
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 1024)


def first_answer(bench, running):
    while not bench.reports:
        assert not running.wait(0.1)


@pytest.mark.parametrize("where", ["answers", "quality", "checkpoint", "offsets"])
def test_a_full_disk(bench, disk, run, where):
    bench.mention((1_000, 1), (6_000, 2))
    running = run(where)
    first_answer(bench, running)
    fill(disk)
    bench.mention((11_000, 3), (16_000, 4))
    with pytest.raises(WorkError) as caught:
        running.wait(60)
    line = str(caught.value)
    assert "No space left on device: " in line
    if where != "offsets":
        assert str(disk) in line
    assert line.endswith("make room there, then the same command goes on after the last batch")
    (disk / "filler").unlink()
    assert run(where, "until-end").wait(60)
    folder = disk if where == "answers" else bench.folder
    found = [
        json.loads(line)["evaluation"]
        for file in sorted((folder / "answers").glob("*/*.json"))
        for line in file.read_text().splitlines()
    ]
    assert found == sorted(set(found)) == list(range(1, len(found) + 1))
    assert [record.evaluation for record in bench.reports] == found
    assert len(found) > 3


def test_what_is_taken_away_or_closed_while_a_run_goes(bench, disk, run):
    """Each ends the run, and is undone before the next."""
    answers, stream = disk / "answers", bench.folder / "stream"

    def close():
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    def reopen():
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)

    def replace_by_file():
        answers.rename(disk / "kept")
        answers.write_text("no folder")

    def put_back():
        answers.unlink()
        (disk / "kept").rename(answers)

    def take_stream():
        stream.rename(bench.folder / "taken")

    def return_stream():
        (bench.folder / "taken").rename(stream)

    cases = [
        (close, reopen, f"Read-only file system: {answers}/"),
        (replace_by_file, put_back, f"Not a directory: {answers}/"),
        (take_stream, return_stream, f"no such folder: {stream}; "),
    ]
    for number, (disturb, undo, said) in enumerate(cases):
        at = number * 20_000
        bench.mention((at + 1_000, 1), (at + 6_000, 2))
        running = run("answers")
        running.query.processAllAvailable()
        disturb()
        if disturb is not take_stream:
            bench.mention((at + 11_000, 3), (at + 16_000, 4))
        with pytest.raises(WorkError) as caught:
            running.wait(60)
        assert said in str(caught.value)
        assert "the same command goes on" in str(caught.value)
        undo()
    assert run("answers", "until-end").wait(60)
    found = [
        json.loads(line)["evaluation"]
        for file in sorted(answers.glob("*/*.json"))
        for line in file.read_text().splitlines()
    ]
    assert found == sorted(set(found)) == list(range(1, len(found) + 1))
