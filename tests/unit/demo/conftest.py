"""Runs of the demo as they might have gone, without Spark."""

import pytest

from bestbefore.demo.contenders import contenders
from bestbefore.demo.live_run import Evaluation, Run
from bestbefore.engine.quality import Quality

START_MS = 1_700_000_000_000


def evaluation(second, *, truth, estimate, requests, budget, latency_ms):
    at = START_MS + second * 1000
    quality = Quality(
        evaluation=second,
        at=at,
        window=(at - 6000, at),
        policy="any",
        answers=50,
        estimated_freshness=estimate,
        completeness=1.0,
        candidates=80,
        budget=budget,
        elected=requests,
        refreshed=requests,
        changed=0,
        failed=0,
        requests=requests,
        service_status="ok",
        service_s=requests * 0.005,
        answered_ms=at + latency_ms,
        batch=second,
        batch_evaluations=1,
        batch_s=1.0,
    )
    return Evaluation(quality, float(second), truth)


@pytest.fixture
def cast():
    return contenders(users=400, budget=16)


@pytest.fixture
def make_run():
    def make(contender, truths, *, estimates=None, requests=0, latency_ms=1500):
        found = [
            evaluation(
                second,
                truth=truth,
                estimate=estimate,
                requests=requests,
                budget=contender.budget,
                latency_ms=latency_ms,
            )
            for second, (truth, estimate) in enumerate(
                zip(truths, estimates or truths, strict=True), start=1
            )
        ]
        return Run(contender, tuple(found), elements=10_000)

    return make


@pytest.fixture
def runs(cast, make_run):
    never, best, everything = cast
    return [
        make_run(
            never,
            [0.78, 0.70, 0.62, 0.57, 0.53, 0.47, 0.44, 0.40, 0.38, 0.36],
            estimates=[1.0, 0.9, 0.81, 0.74, 0.68, 0.63, 0.58, 0.54, 0.51, 0.48],
        ),
        make_run(
            best,
            [0.80, 0.75, 0.77, 0.78, 0.80, 0.79, 0.83, 0.78, 0.76, 0.79],
            estimates=[1.0, 0.94, 0.9, 0.88, 0.87, 0.86, 0.86, 0.85, 0.86, 0.86],
            requests=16,
        ),
        make_run(
            everything,
            [0.95, 0.93, 0.94, 0.96, 0.91, 0.93, 0.92, 0.95, 0.94, 0.90],
            estimates=[1.0] * 10,
            requests=77,
            latency_ms=3200,
        ),
    ]
