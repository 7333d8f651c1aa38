"""Two runs that want the same: one checkpoint, or one folder of answers. One of them is refused."""

import subprocess
import sys
from dataclasses import replace

from bestbefore.engine import Engine
from bestbefore.errors import BestbeforeError, StateError
from bestbefore.job import load_job
from bestbefore.job.job import UNTIL_END
from tests.run_processes import answers, start, until
from tests.unit.service.conftest import ScriptedEndpoint
from tests.unwilling_endpoint import iri

from .mentioned_users import USERS, check_answers, mentions, write_job
from .watching import HangError, changes, is_trace, where_of, within, written

FILES, PROCESSES, LONGEST_S, COMMANDS_EVERY = 3, 4, 120, 10
# All of them wait for a line, so that they begin at the same time; who has the lock keeps it.
RACE = """
import sys
from bestbefore.checkpoint.ownership import lock_checkpoint
from bestbefore.errors import StateError
sys.stdin.readline()
try:
    with lock_checkpoint(sys.argv[1]):
        print("mine", flush=True)
        sys.stdin.readline()
except StateError:
    print("refused", flush=True)
"""


def run(campaign):
    findings, server = campaign.findings(), ScriptedEndpoint("followers")
    server.facts = {iri(user): [str(user)] for user in range(USERS)}
    for number in range(1, campaign.count + 1):
        folder = campaign.folder / str(number)
        folder.mkdir()
        try:
            with within(LONGEST_S):
                if number % COMMANDS_EVERY == 0:
                    _commands(findings, folder, server)
                elif number % 2:
                    _race(findings, folder)
                else:
                    _engines(findings, folder, server, campaign.spark())
        except HangError as hang:
            findings.found("hangs", f"{folder.name}: {hang}")
        except Exception as error:
            findings.found("tracebacks", f"{folder.name}: {where_of(error)}")
        findings.tried(number, campaign.count)
    server.close()
    return findings


def _race(findings, folder):
    """Processes that take the same checkpoint at the same moment."""
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for process in racing:
        process.stdin.write("\n")
        process.stdin.flush()
    said = sorted(process.stdout.readline() for process in racing)
    for process in racing:
        process.communicate()
    if said != ["mine\n"] + ["refused\n"] * (PROCESSES - 1):
        findings.found("wrong", f"{folder.name}: of a race for a checkpoint: {said}")


def _engines(findings, folder, server, spark):
    """A second engine on the checkpoint, and another job on the folder of answers."""
    job, stream = _job(folder, server)
    live = replace(load_job(job), trigger="1s")
    with Engine(spark).start(live) as running:
        until(lambda: running.state.source_batch == FILES - 1, LONGEST_S)
        until(lambda: running.query.status["message"].startswith("Waiting"))
        before = written(folder)
        other = replace(live, checkpoint=str(folder / "other"))
        for rival in (live, other):
            _refused(findings, folder, lambda rival=rival: Engine(spark).start(rival))
        new = [name for name in changes(folder, before) if name != "other/run.json"]
        if new:
            findings.found("wrong", f"{folder.name}: who was refused has touched {new}")
    Engine(spark).start(replace(live, trigger=UNTIL_END)).wait(LONGEST_S)
    _check(findings, job, stream)


def _refused(findings, folder, start_rival):
    try:
        start_rival().stop()
    except StateError as refusal:
        if "\n" in str(refusal):
            findings.found("tracebacks", f"{folder.name}: not one line: {refusal}")
    except BestbeforeError as error:
        findings.found("tracebacks", f"{folder.name}: {where_of(error)}")
    else:
        findings.found("wrong", f"{folder.name}: two engines ran at the same time")


def _commands(findings, folder, server):
    """The same command twice at the same time: both end well, or one is told of the other."""
    job, stream = _job(folder, server)
    processes = [start(job, "--until-end") for _ in range(2)]
    try:
        for process in processes:
            _, errors = process.communicate()
            if is_trace(errors) or (process.returncode and "is in use by process" not in errors):
                findings.found("tracebacks", f"{folder.name}: {errors.strip().splitlines()[-1:]}")
    finally:
        for process in processes:
            process.kill()
    _check(findings, job, stream)


def _job(folder, server):
    stream = mentions(7, FILES)
    stream.write(folder / "stream")
    return write_job(folder, server.url, refreshes=3), stream


def _check(findings, job, stream):
    def ever(user):
        return {(user.rpartition("/")[2],)}

    check_answers(findings, job.parent.name, answers(job), stream.windows(), ever)
