"""The engine and the simulator, given the same trace, do the same."""

import numpy as np
import pytest

from bestbefore.experiments.runs import Task
from bestbefore.experiments.simulation import prepare
from bestbefore.traces import BackgroundTrace, StreamTrace, Traces
from tests.spark.conftest import EX, TableService, query

USERS, BUDGET, SEED, SLIDE_MS = 12, 2, 7, 5_000
INTERVALS_MS = {f"u{user}": 3_000 + 1_000 * user for user in range(USERS)}


class TraceService(TableService):
    """A service whose data follow a background trace; it is asked once per evaluation."""

    def __init__(self, background, times):
        self.background, self.times = background, iter(times)
        self.asked, self.down, self.followers = [], "", self.values(0)

    def values(self, t_ms):
        rows = zip(self.background.ts_ms, self.background.key, self.background.value, strict=True)
        return {f"<{EX}{key}>": value for ts, key, value in rows if ts <= t_ms}

    def fetch(self, keys, *, requests_allowed=None):
        self.followers = self.values(next(self.times))
        return super().fetch(keys, requests_allowed=requests_allowed)


@pytest.fixture(scope="module")
def traces():
    rng = np.random.default_rng(5)
    ts = np.sort(rng.choice(np.arange(1, 60_000), 90, replace=False))
    stream = StreamTrace(ts, np.array([f"u{user}" for user in rng.integers(0, USERS, 90)], object))
    changes = sorted((int(t), f"u{rng.integers(USERS)}") for t in rng.integers(1, 60_000, 60))
    rows = [(0, f"u{user}") for user in range(USERS)] + changes
    times, keys = zip(*rows, strict=True)
    values = np.array([str(number) for number in range(len(rows))], object)
    return Traces(stream, BackgroundTrace(np.array(times), np.array(keys, object), values))


def simulated(traces, policy, condition):
    simulation = prepare(
        traces,
        width=2 * SLIDE_MS,
        slide=SLIDE_MS,
        intervals=INTERVALS_MS,
        condition=condition,
    )
    (series,) = simulation.series([Task(policy, BUDGET, SEED)])
    return simulation.scenario, series


def run_engine(bench, traces, policy, condition, service):
    mentions = zip(traces.stream.ts_ms.tolist(), traces.stream.key, strict=True)
    bench.mention(*((ts, int(key[1:])) for ts, key in mentions))
    lines = [f"{EX}{user},{interval // 1_000}\n" for user, interval in INTERVALS_MS.items()]
    (bench.folder / "intervals.csv").write_text("key,interval_s\n" + "".join(lines))
    text = query(
        "SELECT DISTINCT ?user ?followers",
        rest=f"FILTER(?followers {condition})" if condition else "",
    )
    job = bench.job(
        text,
        budget={"refreshes": BUDGET},
        policy={"name": policy, "seed": SEED},
        view={"interval_file": "intervals.csv"},
    )
    bench.run(job, service)
    return sorted(bench.reports, key=lambda each: each.evaluation)


@pytest.mark.parametrize(
    ("policy", "condition"),
    [
        ("WSJ-WBM(fill=true)", None),
        ("WSJ-LRU", None),
        ("GNR-RND", None),
        ("FBA(LRU)", None),
        ("LRU.F+", ">30"),
    ],
)
def test_the_same_elections_answers_and_estimates(bench, traces, policy, condition):
    scenario, series = simulated(traces, policy, condition)
    times = [scenario.window.closing(each) for each in scenario.evaluations]
    service = TraceService(traces.background, np.array(times)[series.refreshes > 0].tolist())
    records = run_engine(bench, traces, policy, condition, service)

    assert [each.evaluation for each in records] == list(scenario.evaluations)
    assert [each.candidates for each in records] == series.candidates.tolist()
    assert [each.elected for each in records] == series.refreshes.tolist()
    assert [each.saved for each in records] == series.saved.tolist()
    assert [each.answers for each in records] == (series.correct + series.wrong).tolist()
    estimates = [np.nan if each is None else each for each in
                 (each.estimated_freshness for each in records)]  # fmt: skip
    assert estimates == pytest.approx(series.estimated.tolist(), abs=1e-6, nan_ok=True)
    rows = bench.rows()
    for evaluation, t_ms, correct in zip(scenario.evaluations, times, series.correct, strict=True):
        truth = service.values(t_ms)
        if condition is None:
            right = [truth[f"<{user}>"] == value for user, value in rows[evaluation]]
        else:
            right = [int(truth[f"<{user}>"]) > 30 for user, _ in rows[evaluation]]
        assert sum(right) == correct
