"""The same trace for engine and simulator, and what each evaluation's maintenance did in both."""

import sys
from dataclasses import dataclass

import numpy as np

from bestbefore.experiments.runs import Task
from bestbefore.experiments.simulation import prepare
from bestbefore.maintenance import maintain
from bestbefore.service import Fetched, Loaded
from bestbefore.simulator.run import TraceView
from bestbefore.traces import BackgroundTrace, Links, StreamTrace, Traces
from tests.outcomes import told

EX = "http://example.org/"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
USERS, BUDGET, SEED, SLIDE_MS = 12, 2, 7, 5_000
# As they are sorted, so that a view which gets to know them numbers them as the simulator does.
NAMES = sorted((f"u{user}" for user in range(USERS)), key=lambda name: f"<{EX}{name}>")
INTERVALS_MS = {f"u{user}": 3_000 + 1_000 * user for user in range(USERS)}


@dataclass(frozen=True)
class Case:
    """A policy with what it needs of query and view."""

    policy: str
    condition: str | None = None
    capacity: int | None = None
    linked: bool = False
    learned: bool = False
    aggregate: str | None = None

    def __str__(self):
        more = (self.condition, self.capacity, self.linked and "M:N", self.learned and "learned")
        more += (self.aggregate,)
        return " ".join([self.policy, *(str(part) for part in more if part)])


def make_traces(*, linked=False):
    """Ninety elements in a minute, and sixty changes; where linked, of units of several keys."""
    rng = np.random.default_rng(5)
    ts = np.sort(rng.choice(np.arange(1, 60_000), 90, replace=False))
    mentioned = [f"u{user}" for user in rng.integers(0, USERS, 90)]
    changes = sorted((int(t), f"u{rng.integers(USERS)}") for t in rng.integers(1, 60_000, 60))
    times, keys = zip(*[(0, name) for name in NAMES], *changes, strict=True)
    values = np.array([str(number) for number in range(len(times))], object)
    background = BackgroundTrace(np.array(times), np.array(keys, object), values)
    # Each element is a mapping of its own.
    posts = np.array([f"p{time}" for time in ts], object)
    if not linked:
        return Traces(StreamTrace(ts, np.array(mentioned, object), posts), background)
    keys = np.array([name.replace("u", "k") for name in mentioned], object)
    stream = StreamTrace(ts, keys, posts)
    owned = sorted({(int(unit), int(key)) for unit in range(USERS)
                    for key in rng.integers(0, USERS, 3)})  # fmt: skip
    names = [(f"k{key}", f"u{unit}") for unit, key in owned]
    names.sort(key=lambda link: NAMES.index(link[1]))
    join_key, unit = (np.array(side, object) for side in zip(*names, strict=True))
    return Traces(stream, background, Links(join_key, unit))


class TraceService:
    """A service whose data follow a background trace; it is asked once per evaluation."""

    def __init__(self, traces, times):
        self.background, self.times, self.links = traces.background, iter(times), traces.links

    def values(self, t_ms):
        """The value of each unit at a time."""
        rows = zip(self.background.ts_ms, self.background.key, self.background.value, strict=True)
        return {key: value for ts, key, value in rows if ts <= t_ms}

    def rows(self, t_ms):
        """The rows of each unit at a time."""
        values = {key: f'"{value}"{INTEGER}' for key, value in self.values(t_ms).items()}
        if self.links is None:
            return {name: ((iri(name), value),) for name, value in values.items()}
        found = dict.fromkeys(values, ())
        for key, unit in zip(self.links.join_key, self.links.unit, strict=True):
            found[unit] += ((iri(key), iri(unit), values[unit]),)
        return found

    def load(self):
        return Loaded(tuple(row for rows in self.rows(0).values() for row in rows), 1, 0.0)

    def fetch(self, keys, *, requests_allowed=None):
        rows = self.rows(next(self.times))
        return Fetched({key: rows[name_of(key)] for key in keys}, requests=len(keys))

    def close(self):
        pass


def iri(name):
    return f"<{EX}{name}>"


def name_of(key):
    return key[0].removeprefix(f"<{EX}").removesuffix(">")


def write_intervals(path):
    lines = [f"{EX}{unit},{interval}ms\n" for unit, interval in INTERVALS_MS.items()]
    path.write_text("key,interval\n" + "".join(lines))


def simulated(case, traces, monkeypatch):
    """The simulation's scenario, its series, and what each evaluation did."""
    simulation = prepare(
        traces,
        width=2 * SLIDE_MS,
        slide=SLIDE_MS,
        intervals="learned" if case.learned else INTERVALS_MS,
        condition=case.condition,
        cache_size=case.capacity,
        aggregate=case.aggregate,
    )
    names = simulation.scenario.units
    done = record(monkeypatch, "bestbefore.simulator.run", lambda view: names)
    # The simulator knows what is fresh; here it must tell the sets as the engine can.
    monkeypatch.setattr(TraceView, "fresh", lambda view, units, t_ms: view.units.fresh(units, t_ms))
    monkeypatch.setattr(TraceView, "sizes", counted)
    (series,) = simulation.series([Task(case.policy, BUDGET, SEED)])
    return simulation.scenario, series, done


def counted(view, t_ms):
    """How many units are held, and how many of these are fresh, each looked at."""
    fresh = view.units.fresh(np.arange(len(view.units)), t_ms)
    return int(view.units.held.sum()), int(fresh.sum())


def record(monkeypatch, module, names_of):
    """Have every maintenance step that a module runs told, units by their names."""
    done = []

    def recording(policy, view, *rest, **more):
        outcome = maintain(policy, view, *rest, **more)
        found = told(outcome, names_of(view))
        found["fresh"] = dict(zip(found["window"], found["fresh"], strict=True))
        done.append(found)
        return outcome

    monkeypatch.setattr(sys.modules[module], "maintain", recording)
    return done


def record_engine(monkeypatch):
    """Have every maintenance step of the engine told."""
    return record(monkeypatch, "bestbefore.engine.served_view",
                  lambda view: [name_of(key) for key in view.keys])  # fmt: skip


def times_asked(scenario, series):
    """The times of the evaluations that ask the service."""
    times = np.array([scenario.window.closing(number) for number in scenario.evaluations])
    return times[series.refreshes > 0].tolist()
