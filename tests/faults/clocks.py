"""A wall clock that is set back and forth: under limits, and during live runs with a heartbeat.

The server counts by a clock that nobody sets. In a live run every element is in each of its windows
or was counted as late or ahead of time, and every evaluation comes once.
"""

import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from random import Random
from time import monotonic

from bestbefore.engine import Engine
from bestbefore.errors import BestbeforeError
from bestbefore.job import load_job
from bestbefore.job.job import UNTIL_END
from bestbefore.time import wall_clock_ms
from tests.run_processes import answers, until
from tests.unit.service.conftest import ScriptedEndpoint
from tests.unwilling_endpoint import iri

from .hostile_endpoint import HostileEndpoint
from .mentioned_users import SLIDE_MS, T0, USERS, WIDTH_MS, mentions, write_job
from .requests import try_world
from .watching import HangError, watched, where_of, within

LIVE_EVERY, FILES, LONGEST_S = 20, 6, 120
SECOND, HOUR, DAY = 1_000, 3_600_000, 86_400_000
IN_EACH = WIDTH_MS // SLIDE_MS


def run(campaign):
    findings, rng = campaign.findings(), Random(campaign.seed)
    hostile, server = HostileEndpoint(), ScriptedEndpoint("followers")
    server.facts = {iri(user): [str(user)] for user in range(USERS)}
    with watched(findings):
        for number in range(1, campaign.count + 1):
            folder = campaign.folder / str(number)
            if number % LIVE_EVERY == 0 or number == campaign.count:
                folder.mkdir()
                time = ("data", "arrival")[number // LIVE_EVERY % 2]
                _try_live(findings, folder, server, campaign.spark(), rng, time)
            else:
                try_world(findings, hostile, folder, rng.getrandbits(32), drive=drive)
            shutil.rmtree(folder, ignore_errors=True)
            findings.tried(number, campaign.count)
    hostile.close()
    server.close()
    return findings


def drive(world, steps):
    """Like the drive of the property test, but the clock is set all the time."""
    rng = world.rng
    for _ in range(steps):
        match rng.choices(["evaluate", "wait", "set", "restart"], [8, 4, 8, 1])[0]:
            case "evaluate":
                world.evaluate()
            case "wait":
                world.time.wait(rng.choice([rng.randint(0, 5_000), rng.randint(0, 120_000)]))
            case "set":
                farthest = rng.choice([SECOND, 60 * SECOND, HOUR, 40 * DAY])
                world.time.set_ms += rng.randint(-farthest, farthest)
            case "restart":
                world.close(back_ms=rng.choice([0, rng.randint(0, DAY)]))


class SetClock:
    """A clock that goes on as time does, from any moment, and is set meanwhile."""

    def __init__(self, now_ms):
        self.now_ms, self.set_ms, self.begun = now_ms, 0, monotonic()

    def __call__(self):
        return self.now_ms + self.set_ms + round((monotonic() - self.begun) * 1000)


def _try_live(findings, folder, server, spark, rng, time):
    try:
        with within(LONGEST_S):
            _live(findings, folder, server, spark, rng, time)
    except HangError as hang:
        findings.found("hangs", f"{folder.name}: {hang}")
    except (BestbeforeError, Exception) as error:
        findings.found("tracebacks", f"{folder.name}: {where_of(error)}")


def _live(findings, folder, server, spark, rng, time):
    stream = mentions(rng.getrandbits(16), FILES)
    (folder / "stream").mkdir()
    job = write_job(
        folder,
        server.url,
        refreshes=3,
        query=[("trigger", "200ms"), ("heartbeat", "1s")],
        stream=[("time", time)],
    )
    clock = SetClock(wall_clock_ms() if time == "arrival" else T0 + SLIDE_MS)
    with Engine(spark, clock).start(load_job(job)) as running:
        for number in range(FILES):
            stream.write_file(folder / "stream", number)
            until(lambda number=number: running.state.source_batch >= number, LONGEST_S)
            clock.set_ms = rng.choice([0, -HOUR, HOUR, -10 * SECOND, 10 * SECOND])
            beats = monotonic() + rng.choice([0.2, 1.5])
            until(lambda beats=beats: monotonic() > beats)
    clock.set_ms = 0
    ended = Engine(spark, clock).start(replace(load_job(job), trigger=UNTIL_END))
    ended.wait(LONGEST_S)
    _check(
        findings, f"run {folder.name} with the time of {time}", answers(job), stream, ended.state
    )


def _check(findings, about, found, stream, state):
    times = Counter(answer["evaluation"] for answer in found)
    if repeated := [number for number, count in times.items() if count > 1]:
        findings.found("repeated", f"{about}: {repeated}", times=len(repeated))
    if gaps := set(range(min(times), max(times) + 1)) - set(times):
        findings.found("lost", f"{about}: evaluations {sorted(gaps)}", times=len(gaps))
    windows = defaultdict(set)
    for answer in found:
        for row in answer["rows"]:
            windows[row["post"]["value"]].add(answer["evaluation"])
    for post, numbers in windows.items():
        if len(numbers) != IN_EACH or max(numbers) - min(numbers) != IN_EACH - 1:
            findings.found("wrong", f"{about}: {post} is in the windows {sorted(numbers)}")
    unseen = {post for _, _, post in stream.events} - set(windows)
    if len(unseen) != state.late + state.quarantined:
        findings.found(
            "lost",
            f"{about}: {len(unseen)} elements are in no window, {state.late} were late and "
            f"{state.quarantined} quarantined",
        )
