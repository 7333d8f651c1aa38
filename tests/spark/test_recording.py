"""Recorded traces: a simulation on them sees the windows that the engine saw, with their values."""

import random
from dataclasses import dataclass, field

import pytest

from bestbefore.engine import Engine
from bestbefore.engine.recording import Recorder, polling_job
from bestbefore.engine.sinks import Nowhere
from bestbefore.simulator import make_scenario
from bestbefore.traces import read_traces

from .conftest import EX, TableService, query

USERS = 9


@dataclass
class Watched(Recorder):
    """A recorder that keeps what the engine's evaluations needed, by closing time."""

    windows: dict = field(default_factory=dict)

    def record(self, spark, buffer, due, *, view, outcomes):
        for outcome in outcomes:
            self.windows[outcome.t_ms] = contents(outcome.window, [key[0] for key in view.keys])
        super().record(spark, buffer, due, view=view, outcomes=outcomes)


def contents(window, names):
    """What a window needs: per unit, its pairs of L and count."""
    pairs = window.pairs
    if pairs is None:
        every = zip(window.unit, window.remaining, window.mappings, strict=True)
    else:
        every = zip(window.unit[pairs.position], pairs.remaining, pairs.count, strict=True)
    found = {}
    for unit, remaining, count in every:
        counts = found.setdefault(names[unit], {})
        counts[int(remaining)] = counts.get(int(remaining), 0) + int(count)
    return found


def recorded(bench, service, job, folder):
    recorder = Watched(polling_job(job), folder)
    folder.mkdir()
    running = Engine(bench.spark).start(
        polling_job(job), services={"bkg": service}, sink=Nowhere(), recorder=recorder
    )
    running.wait(120)
    recorder.close()
    return recorder


@pytest.mark.parametrize(
    ("width", "slide", "two"),
    [("PT10S", "PT5S", False), ("PT7S", "PT3S", True), ("PT2S", "PT4S", False)],
)
def test_a_simulation_sees_the_windows_that_the_engine_saw(bench, width, slide, two, tmp_path):
    rng = random.Random(width)
    lines = []
    for ts in sorted(rng.sample(range(1_001, 40_000), 110)):
        # Few enough to come again, as a whole.
        number = rng.randrange(40)
        user, post = f"<{EX}u{number % USERS}>", f"<{EX}p{number}>"
        more = f"\n{post} <{EX}in> <{EX}l{number % 2}> ." if two else ""
        lines.append((ts, f"{user} <{EX}isMentionedIn> {post} .{more}"))
    for first in range(0, len(lines), 30):
        bench.feed(lines[first : first + 30])
    pattern = "?user :isMentionedIn ?post" + (" . ?post :in ?list" if two else "")
    job = bench.job(query(width=width, slide=slide, window=pattern))
    service = TableService({f"<{EX}u{number}>": number for number in range(USERS)})
    recorder = recorded(bench, service, job, tmp_path / "traces")
    traces = read_traces(tmp_path / "traces/stream.csv", tmp_path / "traces/background.csv")
    window, told = job.services[0].window, []
    scenario = make_scenario(
        traces, width_ms=window.width_ms, slide_ms=window.slide_ms, notice=told.append
    )
    simulated = {
        scenario.window.closing(number): contents(needed, scenario.units)
        for number, needed in zip(scenario.evaluations, scenario.contents, strict=True)
    }
    seen = recorder.windows
    assert simulated == {at: seen[at] for at in simulated}
    # An element that lies in no window does not end the last one.
    gaps = window.slide_ms > window.width_ms
    assert len(seen) - len(simulated) in ((0, 1) if gaps else (0,))
    assert told == []
