"""`kill -9` at random moments of real runs, with an endpoint that changes, budgets and limits.

Runs of a few seconds, two at a time: each is killed over and over, at any moment after its first
batch began, and started again until it ends. Then all that it wrote, and all that the server saw,
must be as if nobody had killed anything.
"""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

from bestbefore.limits import Limits
from tests.property.test_request_limits import check_arrivals
from tests.run_processes import answers, processes_of, start, until
from tests.unwilling_endpoint import UnwillingEndpoint

from .findings import merged
from .mentioned_users import USERS, check_answers, mentions, write_job
from .watching import is_trace

LANES, FILES, LONGEST_LIFE_S, PATIENCE_S = 2, 14, 4.0, 120
# Enough for one kill.
FEW_FILES = 6
BUDGET, LIMITS = 4, {"per_minute": 35, "total": 60}
TROUBLE = {"answer": 20, "slow": 6, "status": 1, "drop": 1, "cut": 1, "html": 1}


def run(campaign):
    shares = [(campaign.count + lane) // LANES for lane in range(LANES)]
    with ThreadPoolExecutor(LANES) as lanes:
        return merged(lanes.map(lambda lane: live(campaign, lane, shares[lane]), range(LANES)))


def live(campaign, lane, kills):
    """Runs one after the other until there were so many kills; the last one also ends."""
    findings, rng = campaign.findings(), Random(f"{campaign.seed} {lane}")
    server, number = UnwillingEndpoint(), 0
    while findings.trials < kills:
        folder = campaign.folder / f"{lane}-{number}"
        folder.mkdir()
        run_of = KilledRun(folder, server, rng.getrandbits(32), FILES if kills > 1 else FEW_FILES)
        if run_of.kill_until(findings, rng, kills):
            run_of.check(findings)
        number += 1
    server.close()
    return findings


class KilledRun:
    """A run that is killed and started again, and what must hold when it has ended."""

    def __init__(self, folder, server, seed, files):
        self.folder, self.server, self.about = folder, server, f"run {folder.name}"
        self.stream = mentions(seed, files)
        self.stream.write(folder / "stream")
        # The batch that is being processed is what the server notes of an arrival.
        server.begin(seed, users=USERS, now_ms=self.batch, trouble=TROUBLE)
        self.job = write_job(
            folder,
            server.url,
            refreshes=BUDGET,
            service=[("units_per_request", 1), ("attempts", 1)],
            limits=LIMITS.items(),
        )

    def batch(self):
        """The number of the first batch that is not committed."""
        names = [file.stem for file in (self.folder / "checkpoint/commits").glob("batch-*.json")]
        return max((int(name[-12:]) for name in names), default=-1) + 1

    def kill_until(self, findings, rng, kills):
        """Kill and start again until the run ends; whether it did."""
        while True:
            begun, process = time.time(), start(self.job, "--until-end")
            wait_s = rng.uniform(0, LONGEST_LIFE_S)
            if findings.trials < kills and self._began(process, begun):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(wait_s)
            if process.poll() is None and findings.trials < kills:
                self._kill(findings, process, rng.choice(["python", "python", "jvm", "both"]))
                findings.tried(findings.trials + 1, kills)
            else:
                return self._ended(findings, process)

    def _began(self, process, since):
        """Wait until the first batch of a process has begun; False if it ended before."""
        with suppress(AssertionError):
            until(lambda: process.poll() is not None or self._touched(since), PATIENCE_S)
        return process.poll() is None

    def _touched(self, since):
        folders = ("buffer", "services", "commits", "limits")
        files = (
            file for name in folders for file in (self.folder / "checkpoint" / name).rglob("*")
        )
        with suppress(FileNotFoundError):
            return any(file.stat().st_mtime > since for file in files)
        return True

    def _kill(self, findings, process, what):
        jvms = [number for number in processes_of(self.job) if _is_jvm(number)]
        if what != "jvm":
            process.kill()
        if what != "python":
            for number in jvms:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        self._ended(findings, process, killed=True)
        try:
            until(lambda: not processes_of(self.job), PATIENCE_S)
        except AssertionError:
            findings.found("hangs", f"{self.about}: a process outlived the kill of {what}")
            for number in processes_of(self.job):
                os.kill(number, signal.SIGKILL)

    def _ended(self, findings, process, *, killed=False):
        """Wait for the end, and look at what it said; whether it was a good one."""
        try:
            _, errors = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            findings.found("hangs", f"{self.about}: a run did not end")
            return False
        if is_trace(errors):
            findings.found("tracebacks", f"{self.about}: … {errors.strip().splitlines()[-1]}")
        if process.returncode and not killed:
            findings.found("lost", f"{self.about} failed: {errors.strip().splitlines()[-1:]}")
        return process.returncode == 0

    def check(self, findings):
        """Compare with what must be: answers, records, and what the server has seen."""
        self.server.settle()
        windows = self.stream.windows()
        ever = {user: states for (name, user), states in self._ever() if name == "followers"}
        check_answers(findings, self.about, answers(self.job), windows, lambda user: ever[user])
        records = [
            json.loads(line)
            for file in sorted(self.folder.glob("quality/*.jsonl"))
            for line in file.read_text().splitlines()
        ]
        if [record["evaluation"] for record in records] != sorted(windows):
            findings.found("lost", f"{self.about}: not one quality record per evaluation")
        due = Counter(record["batch"] for record in records)
        for batch, asked in Counter(one.at_ms for one in self.server.arrivals).items():
            if asked > BUDGET * due[batch]:
                findings.found("limits", f"{self.about}: batch {batch} asked for {asked} units")
        try:
            check_arrivals(Limits(**LIMITS), [one.at_s * 1000 for one in self.server.arrivals])
        except AssertionError as error:
            findings.found("limits", f"{self.about}: {error}")

    def _ever(self):
        return ((unit, self.server.ever(*unit)) for unit in self.server.known)


def _is_jvm(number):
    with suppress(OSError):
        return b"java" in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[0]
    return False
