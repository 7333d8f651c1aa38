"""A service's view without Spark: windows are counted here, the service is a table."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pytest

from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import State
from bestbefore.engine.found_state import Found
from bestbefore.engine.served_view import open_served
from bestbefore.job import read_job
from bestbefore.maintenance import EventClock, event_clock
from bestbefore.storage import LocalStorage
from bestbefore.windows import Instants, SlidingWindow, Timeline
from tests.laboratory import loaded
from tests.limited_service import Clocks, open_ledger
from tests.maintained import maintained
from tests.outcomes import told
from tests.row_service import RowService

EX = "http://example.org/"
WINDOW = SlidingWindow(10_000, 5_000, 0)
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def query(service="?user :hasFollowers ?followers", rest=""):
    return (
        f"PREFIX : <{EX}>\nREGISTER RSTREAM :out AS SELECT ?user\n"
        "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]\n"
        f"WHERE {{ WINDOW :w {{ ?user :by ?post }} SERVICE :bkg {{ {service} }} {rest} }}"
    )


BATCHES = [[1, 2], [3], [4, 5, 6], [7], [8, 9, 10, 11]]


def random_events(seed, *, users=12, until=60_000):
    """A stream in which few users are mentioned often and many rarely."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(1, until, 80))
    return [(int(time), user(int(rng.zipf(1.5)) % users)) for time in times]


def CLOCK():
    return 10**12


class Crash(Exception):
    """The end of the process, as far as the engine can tell."""


class CrashingStorage(LocalStorage):
    """Storage that ends the process before its n-th write to some folder."""

    def __init__(self, root, *, folder="", at=0):
        super().__init__(root)
        self.folder, self.left = folder, at

    def write(self, name, content):
        if self.left and name.startswith(self.folder):
            self.left -= 1
            if not self.left:
                raise Crash(name)
        super().write(name, content)


@dataclass
class Rig:
    """A service of a job with its view, as the engine keeps it, for streams of (time, join key)."""

    job: object
    service: object
    folder: object
    state: State = field(
        default_factory=lambda: State("q", t0_ms=(0,), first_evaluation=1, next_evaluation=1)
    )
    outcomes: list = field(default_factory=list)
    raw: list = field(default_factory=list)
    clock: EventClock = field(default_factory=lambda: event_clock(CLOCK, 0))
    wall: object = CLOCK
    clocks: Clocks = field(default_factory=Clocks)
    together_s: float | None = None

    def run(self, events, *, batches, storage=None):
        """Start anew from the checkpoint and answer the batches of evaluations that are left."""
        begun = replace(self.state, begun_ms=WINDOW.closing(1))
        storage, requests = storage or LocalStorage(str(self.folder)), None
        if self.job.limits.lasting:
            requests = open_ledger(storage, self.job.limits, self.clocks)
        self.served = open_served(
            self.job, self.service, storage, Found(begun), clock=self.wall, requests=requests
        )
        self.state = replace(self.state, views={"bkg": self.served.opened})
        self.history = History(storage, self.state)
        for number, evaluations in enumerate(batches):
            if number > self.state.batch:
                self._batch(number, evaluations, events)
        return self

    def _batch(self, number, evaluations, events):
        if evaluations[0] == 1:
            self.view.begin(WINDOW.closing(1), slide_ms=WINDOW.slide_ms)
        before = self.state.view("bkg")
        view, asking = maintained(
            self.served,
            number,
            evaluations,
            counted(events, WINDOW, evaluations, self.job.join_key),
            timeline=Timeline(Instants((WINDOW,))),
            state=before,
            clock=self.clock,
            together_s=self.together_s,
        )
        self.slices, outcomes = asking.table(), asking.outcomes
        self.raw += outcomes
        # Numbers are void once the batch is settled.
        self.outcomes += [told(outcome, self.view.keys) for outcome in outcomes]
        after = self.served.settle(number, view)
        state = replace(self.state, batch=number, views={"bkg": after})
        self.history.commit(replace(state, next_evaluation=evaluations[-1] + 1))
        self.state = self.history.latest
        self.served.committed(self.state.next_evaluation)

    @property
    def view(self):
        return self.served.view

    def held(self):
        return {key for key, held in zip(self.view.keys, self.view.units.held, strict=True) if held}


def counted(events, window, evaluations, key):
    """What Spark's job A finds: per window, join key and L, the number of mappings."""
    counts = Counter()
    for number in evaluations:
        opening, closing = window.bounds(number)
        for time, *values in events:
            if opening < time <= closing:
                left = math.ceil((time + window.width_ms - closing) / window.slide_ms)
                counts[(number, *values, left)] += 1
    rows = [(*each, count) for each, count in counts.items()]
    columns = list(zip(*rows, strict=True)) or [[] for _ in range(3 + len(key))]
    names = ["from_evaluation", *(f"?{name}" for name in key), "remaining", "mappings"]
    kinds = [pa.int64(), *(pa.string() for _ in key), pa.int64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays([*arrays, arrays[0]], names=[*names, "to_evaluation"])


def user(number):
    return f"<{EX}u{number}>"


def integer(number):
    return f'"{number}"{INTEGER}'


@pytest.fixture
def rig(tmp_path):
    """Make a rig for a policy over a service with the followers of some users."""

    def make(
        policy, *, rows=None, key=(0,), text=None, budget=2, start=0, folder="checkpoint", **more
    ):
        service = {"limits": more.pop("limits", {}), **more.pop("service", {})}
        tables = {
            "query": {"text": text or query()},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": service},
            "budget": {
                "start": start,
                "ahead": more.pop("ahead", False),
                **({} if budget is None else {"refreshes": budget}),
            },
            "policy": {"name": policy},
            "qos": more.pop("qos", {}),
            "view": loaded(more),
        }
        rows = [(user(n), integer(100 * n)) for n in range(8)] if rows is None else rows
        return Rig(read_job(tables).services[0], RowService(rows, key), tmp_path / folder)

    return make
