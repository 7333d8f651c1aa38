"""Damage to checkpoints: a run that goes on says so in one line, or answers as if nothing was.

Checkpoints of three moments are damaged: of a run that was stopped between two batches, of one that
ended in the middle of a batch, and of one that ended while it let its streams end.
"""

import shutil
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from random import Random
from unittest.mock import patch

from bestbefore.engine import Engine
from bestbefore.errors import BestbeforeError, DamagedState, StateError
from bestbefore.job import load_job
from bestbefore.job.job import UNTIL_END
from tests.run_processes import answers, start
from tests.unit.service.conftest import ScriptedEndpoint
from tests.unwilling_endpoint import iri

from .corrupting import OWNER_FILE, damage
from .mentioned_users import T0, USERS, check_answers, mentions, write_job
from .watching import HangError, changes, is_trace, where_of, within, written

MOMENTS = ("stopped", "in a batch", "at the end")
FILES, FIRST_FILES, OLDER_FILES = 7, 5, 4
CLI_EVERY, LONGEST_S = 50, 90


def run(campaign):
    findings, rng = campaign.findings(), Random(campaign.seed)
    server = ScriptedEndpoint("followers")
    moments = {}
    for number in range(campaign.count):
        name = rng.choice(MOMENTS)
        if name not in moments:
            moments[name] = Moment(campaign, server, name)
        moment = moments[name]
        moment.restore()
        done = damage(rng, moment.folder, moment.older)
        about = f"{moment.name}, {done}"
        if number % CLI_EVERY == CLI_EVERY - 1:
            _try_command(findings, moment, about)
        else:
            _try(findings, moment, done, about)
        findings.tried(number + 1, campaign.count)
    server.close()
    return findings


class Moment:
    """A run that ended at some moment, kept to be restored, and the answers of its continuation."""

    def __init__(self, campaign, server, name):
        self.name, self.server, self.spark = name, server, campaign.spark
        root = campaign.folder / name.replace(" ", "-")
        # What is written has absolute paths in it, so that every trial is at the same place.
        self.folder, self.kept, self.older = (root / one for one in ("run", "kept", "older"))
        self.folder.mkdir(parents=True)
        self.stream = mentions(campaign.seed, FILES)
        limits = [("total", 1_000_000)]
        self.job_file = write_job(self.folder, server.url, refreshes=3, limits=limits)
        (self.folder / "stream").mkdir()
        with patch("bestbefore.engine.served_view._SNAPSHOT_EVERY", 3):
            self._prepare()
        self.restore()
        self.go_on()
        self.expected = _by_number(answers(self.job_file))
        assert sorted(self.expected) == sorted(self.stream.windows())
        told = {row.get("followers", {}).get("value", "")[-6:] for one in self.expected.values()
                for row in one["rows"]}  # fmt: skip
        assert "before" in told

    def _prepare(self):
        self._feed(range(OLDER_FILES))
        self._answer_with("before")
        self._start(self._job("available-now"))
        shutil.copytree(self.folder, self.older)
        self._feed(range(OLDER_FILES, FIRST_FILES))
        self._start(self._job("available-now"))
        if self.name != "stopped":
            self._crash()
        shutil.copytree(self.folder, self.kept)

    def _crash(self):
        """End just before a commit: of a batch, or of what follows the last one."""
        self._feed(range(FIRST_FILES, FILES if self.name == "at the end" else FIRST_FILES + 1))
        before = self._start(self._job("available-now")) if self.name == "at the end" else None

        def full(*_):
            raise OSError("no space left")

        with (
            patch("bestbefore.checkpoint.relied_on.Commits.commit", full),
            suppress(BestbeforeError),
        ):
            self._start(self._job(UNTIL_END))
            raise AssertionError(f"nothing was left to do after {before}")

    def restore(self):
        """Put everything where it was; the service has other data by now."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)
        self._feed(range(FIRST_FILES, FILES))
        self._answer_with("after")

    def go_on(self):
        """Go on until the streams have ended, as the same command would."""
        return self._start(self._job(UNTIL_END))

    def _job(self, trigger):
        return replace(load_job(self.job_file), trigger=trigger)

    def _start(self, job):
        running = Engine(self.spark(), clock=lambda: T0 + 10**9).start(job)
        assert running.wait(LONGEST_S)
        return running.state

    def _feed(self, numbers):
        for number in numbers:
            self.stream.write_file(self.folder / "stream", number)

    def _answer_with(self, when):
        self.server.facts = {iri(user): [f"{user} {when}"] for user in range(USERS)}


def _try(findings, moment, done, about):
    before = written(moment.folder)
    try:
        with within(LONGEST_S):
            moment.go_on()
    except (DamagedState, StateError) as refusal:
        _check_refusal(findings, moment, about, str(refusal))
        if written(moment.folder) != before:
            findings.found(
                "wrong", f"{about}: refused, but {changes(moment.folder, before)} were written"
            )
    except HangError as hang:
        findings.found("hangs", f"{about}: {hang}")
        _stop_all(moment.spark())
    except Exception as error:
        findings.found("tracebacks", f"{about}: {where_of(error)}")
        _stop_all(moment.spark())
    else:
        found = answers(moment.job_file)
        if done.is_deletion:
            # Of a batch that was not committed, what is missing may not have been written yet.
            check_answers(findings, about, found, moment.stream.windows(), ever)
        else:
            _compare(findings, about, moment.expected, found)


def _check_refusal(findings, moment, about, said):
    """One line that names a file or folder: the damaged one, or one that must agree with it."""
    said = said.replace(str(moment.folder), "")
    checkpoint = moment.kept / "checkpoint"
    names = {str(file.relative_to(checkpoint)) for file in checkpoint.rglob("*")} | {OWNER_FILE}
    if "\n" in said or not any(name in said for name in names):
        findings.found("tracebacks", f"{about}: {said!r} is not a line that names the file")


def _compare(findings, about, expected, found):
    times = Counter(answer["evaluation"] for answer in found)
    if lost := sorted(set(expected) - set(times)):
        findings.found("lost", f"{about}: evaluations {lost}", times=len(lost))
    if repeated := sorted(number for number, count in times.items() if count > 1):
        findings.found("repeated", f"{about}: evaluations {repeated}", times=len(repeated))
    by_number = _by_number(found)
    if wrong := sorted(n for n in by_number if by_number[n] != expected.get(n)):
        findings.found("wrong", f"{about}: evaluations {wrong}", times=len(wrong))


def _by_number(found):
    """Answers by evaluation, their rows in an order of their own."""
    return {
        answer["evaluation"]: {**answer, "rows": sorted(answer["rows"], key=repr)}
        for answer in found
    }


def _try_command(findings, moment, about):
    """The same by the command: it ends well, or with one line and nothing else."""
    before = written(moment.folder)
    process = start(moment.job_file, "--until-end", "--quiet", "--log-level", "error")
    try:
        _, errors = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        findings.found("hangs", f"{about}: the command did not end")
        return
    if is_trace(errors) or (process.returncode and len(errors.strip().splitlines()) != 1):
        findings.found("tracebacks", f"{about}, by the command: {errors[-300:]!r}")
    elif process.returncode:
        if written(moment.folder) != before:
            findings.found(
                "wrong", f"{about}: refused, but {changes(moment.folder, before)} were written"
            )
    else:
        windows = moment.stream.windows()
        check_answers(findings, about, answers(moment.job_file), windows, ever)


def ever(user):
    """What was ever true of a user: something before the run was stopped, and something after."""
    number = user.rpartition("/")[2]
    return {(f"{number} before",), (f"{number} after",)}


def _stop_all(spark):
    for query in spark.streams.active:
        with suppress(Exception):
            query.stop()
