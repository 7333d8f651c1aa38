"""The control plane of a job without Spark: windows are counted here, the service is a table."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pytest

from bestbefore.engine.key_statistics import read_statistics
from bestbefore.engine.state import State
from bestbefore.engine.view_start import change_intervals, open_view
from bestbefore.engine.walk import Walk
from bestbefore.job import read_job
from bestbefore.maintenance import Ledger
from bestbefore.storage import LocalStorage
from bestbefore.view import Journal
from bestbefore.windows import Instants, SlidingWindow
from bestbefore.windows.timeline import Timeline
from tests.row_service import RowService

EX = "http://example.org/"
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
    """What a batch processor does to view and state, for streams of (time, join key)."""

    job: object
    service: object
    folder: object
    state: State = field(
        default_factory=lambda: State("q", t0_ms=(0,), first_evaluation=1, next_evaluation=1)
    )
    outcomes: list = field(default_factory=list)

    def run(self, events, *, batches, storage=None):
        """Start anew from the checkpoint and answer the batches of evaluations that are left."""
        storage = storage or LocalStorage(str(self.folder))
        intervals = change_intervals(self.job)
        window = SlidingWindow(10_000, 5_000, 0)
        view, opened = open_view(
            self.job,
            storage,
            self.service,
            self.state.view("bkg"),
            batch=self.state.batch,
            begun_ms=window.closing(1),
        )
        self.view, self.state = view, replace(self.state, views={"bkg": opened})
        timeline = Timeline(Instants((window,)))
        for number, evaluations in enumerate(batches):
            if number <= self.state.batch:
                continue
            if evaluations[0] == 1:
                view.begin(window.closing(1))
            learn = self.job.policy.fetches_missing
            table = counted(events, window, evaluations, self.job.join_key)
            statistics = read_statistics(table, self.job.join_key, view, learn=learn)
            walk = Walk(
                self.job, view, timeline, self.service, intervals, Ledger(storage), Journal(storage)
            )
            before = self.state.view("bkg")
            self.slices, outcomes = walk.through(
                number, evaluations, statistics, saved=before.saved
            )
            view.compact()
            after = replace(before, saved=outcomes[-1].saved)
            self.state = replace(self.state, batch=number, views={"bkg": after})
            self.outcomes += outcomes
        return self

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
    names = ["evaluation", *(f"?{name}" for name in key), "remaining", "mappings"]
    kinds = [pa.int64(), *(pa.string() for _ in key), pa.int64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def user(number):
    return f"<{EX}u{number}>"


def integer(number):
    return f'"{number}"{INTEGER}'


@pytest.fixture
def rig(tmp_path):
    """Make a rig for a policy over a service with the followers of some users."""

    def make(policy, *, rows=None, key=(0,), text=None, budget=2, folder="checkpoint", **view):
        tables = {
            "query": {"text": text or query()},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": {}},
            "budget": {"refreshes": budget},
            "policy": {"name": policy},
            "view": view,
        }
        rows = [(user(n), integer(100 * n)) for n in range(8)] if rows is None else rows
        return Rig(read_job(tables).services[0], RowService(rows, key), tmp_path / folder)

    return make
