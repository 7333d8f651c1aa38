"""Requests through an endpoint that misbehaves in every way, by the real client within limits.

The worlds are those of the property test: a job on a clock of its own, with crashes, restarts and
a wall clock that is set. Here the endpoint is worse, and there are many more of them.
"""

import shutil
import traceback
from contextlib import closing
from random import Random

from tests.property.test_limits_at_the_server import (
    PATIENCE_S,
    World,
    check_evaluations,
    drive,
)
from tests.property.test_request_limits import check_arrivals

from .hostile_endpoint import MOST_BYTES, MOST_ROWS, HostileEndpoint
from .watching import HangError, watched, where_of, within

STEPS, _WORLD_S = 60, 120
_PERIODS = {"per_minute": 40, "per_hour": 400, "per_day": 800, "per_month": 1_000}
_CHECKS = {
    "check_truth": "untrue",
    "check_arrivals": "limits",
    "check_evaluations": "limits",
    "check_counts": "limits",
}


def run(campaign):
    return campaign.shared(ask)


def ask(campaign):
    """Worlds until so many requests have come."""
    findings, rng = campaign.findings(), Random(campaign.seed)
    server, asked = HostileEndpoint(), 0
    with watched(findings):
        while asked < campaign.count:
            folder = campaign.folder / "world"
            try_world(findings, server, folder, rng.getrandbits(32))
            shutil.rmtree(folder)
            asked += len(server.arrivals)
            findings.tried(asked, campaign.count)
    server.close()
    return findings


def try_world(findings, server, folder, seed, *, drive=drive):
    """Let one job live for a while, and look at everything that the server saw of it."""
    rng = Random(seed)
    fill = rng.choice(["on-demand", "on-demand", "start"])
    try:
        with (
            within(_WORLD_S),
            closing(
                World(
                    server,
                    folder,
                    seed=seed,
                    limits=limits_of(rng),
                    service=service_of(rng),
                    fill=fill,
                )
            ) as world,
        ):
            drive(world, STEPS)
            check_world(world)
    except HangError as hang:
        findings.found("hangs", f"seed {seed}: {hang}")
    except AssertionError as error:
        findings.found(column_of(error), f"seed {seed}: {where_of(error)}")
    except Exception as error:
        findings.found("tracebacks", f"seed {seed}: {where_of(error)}")


def check_world(world):
    check_arrivals(world.limits, world.arrivals())
    check_evaluations(world)
    assert world.time.longest_s <= PATIENCE_S
    if world.running or world.open():
        world.check_counts()


def column_of(error):
    """What is wrong if a check fails, by the check's name; a view that differs is wrong."""
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    return next((column for name, column in _CHECKS.items() if name in names), "wrong")


def limits_of(rng):
    """Some limits as a job file has them; there is always a total, to have all requests counted."""
    limits = {"total": rng.choice([300, 1_000_000])}
    for name in rng.sample(list(_PERIODS), rng.choice([0, 0, 1, 2])):
        limits[name] = rng.randint(2, _PERIODS[name])
    if len(limits) > 1 and rng.random() < 0.3:
        limits["burst"] = rng.randint(2, 20)
    if rng.random() < 0.2:
        limits["requests_per_evaluation"] = rng.randint(3, 12)
    if rng.random() < 0.2:
        limits["units_per_evaluation"] = rng.randint(2, 6)
    if rng.random() < 0.2:
        limits |= {"cost_per_request": "0.03", "cost_per_day": "9.5"}
    return limits


def service_of(rng):
    return {
        "units_per_request": rng.choice([1, 1, 1, 3, 50]),
        "connections": rng.randint(1, 4),
        "attempts": rng.randint(1, 3),
        "method": rng.choice(["get", "post", "post-direct"]),
        "max_rows": MOST_ROWS,
        "max_response_bytes": MOST_BYTES,
        "circuit_failures": rng.choice([5, 1_000]),
    }
