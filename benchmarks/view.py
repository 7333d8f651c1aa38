"""What the control plane does per evaluation, by the size of the view and of the window.

Measured is all between job A's table and the slices for job B, with what makes it durable: key
statistics, election, fetch, ledger and journal, slices, settling. Each evaluation is a batch of its
own, the service answers at once, and times are processor time. They should follow the window's
keys, not the view's size. Every view lives in a process of its own, whose memory is that of the
driver without Spark.
"""

import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bestbefore.arrays import Integers
from bestbefore.checkpoint import load_snapshot, save_snapshot
from bestbefore.checkpoint.state import State
from bestbefore.engine.asking import Asking
from bestbefore.engine.key_statistics import split_statistics
from bestbefore.engine.served_view import ServedView, open_served
from bestbefore.job import Job, read_job
from bestbefore.maintenance import event_clock
from bestbefore.rdf.terms import Key, Row
from bestbefore.service import Fetched, Loaded
from bestbefore.spark.columns import MAPPINGS, RANGE, REMAINING
from bestbefore.spark.window_mappings import SERVICE, key_column
from bestbefore.storage import LocalStorage
from bestbefore.time import wall_clock_ms
from bestbefore.windows import Instants, SlidingWindow, Timeline

SIZES, WINDOWS = (10_000, 100_000, 1_000_000), (1_000, 10_000, 100_000)
BUDGET, EVALUATIONS = 50, 20
WINDOW = SlidingWindow(600_000, 60_000, 0)
EX = "http://example.org/"


@dataclass(frozen=True)
class Kind:
    """A policy with what it needs of job and stream.

    `strangers` is the share of a window's join keys that the view does not know; a `full` view has
    no room for more units; `linked` units have two join keys each, which they share with others.
    """

    policy: str
    change_interval: str = "1h"
    strangers: float = 0.0
    full: bool = False
    linked: bool = False


KINDS = {
    "WSJ-WBM": Kind("WSJ-WBM"),
    "WSJ-WBM, learned": Kind("WSJ-WBM", "learned"),
    "CWSJ-WBM": Kind("CWSJ-WBM", strangers=0.1),
    "IBM-BGP, M:N": Kind("IBM-BGP", linked=True),
    "MP(CWSJ,WBM,FRP) ¹": Kind("MP(CWSJ,WBM,FRP)", strangers=0.1, full=True),
    "GNR-LRU ¹": Kind("GNR-LRU"),
}
NOTE = """learned: change intervals; CWSJ: a tenth of the keys are unknown; MP: the view is full
¹ by its definition looks at all units of the view: whom to evict, or whom to refresh"""


@dataclass(frozen=True)
class Figures:
    """What a process found out about a view: ms by window, memory, and the time of a snapshot."""

    ms: Mapping[int, float]
    bytes_per_unit: float
    peak_mib: float
    save_s: float
    load_s: float


def main() -> None:
    """Measure every view in a process of its own, and print both tables."""
    console = Console()
    console.print(by_window())
    console.print(by_kind())
    console.print(NOTE)


def by_window() -> Table:
    """Milliseconds per evaluation by the sizes of view and window, and what the view takes."""
    table = Table(
        "units",
        *(f"{window:,}" for window in WINDOWS),
        *("B/unit", "peak MiB", "save s", "load s"),
        title=f"WSJ-WBM, budget {BUDGET}: ms by keys of the window; aim: as in any row, ≤ 2048 MiB",
    )
    for size in SIZES:
        found = in_a_process("WSJ-WBM", size, WINDOWS)
        table.add_row(f"{size:,}", *_cells(found, WINDOWS), f"{found.load_s:.1f}")
    return table


def _cells(found: Figures, windows: Sequence[int]) -> list[str]:
    times = [f"{found.ms[window]:.2f}" for window in windows if window in found.ms]
    padding = [""] * (len(windows) - len(times))
    memory = [f"{found.bytes_per_unit:,.0f}", f"{found.peak_mib:,.0f}"]
    return [*times, *padding, *memory, f"{found.save_s:.1f}"]


def by_kind() -> Table:
    """Milliseconds per evaluation of a small window, by the view's size, for other policies."""
    title = f"{WINDOWS[0]:,} keys: ms by units of the view; memory of the largest"
    sizes = [f"{size:,}" for size in SIZES]
    table = Table("policy", *sizes, "B/unit", "peak MiB", "save s", title=title)
    for name in KINDS:
        found = [in_a_process(name, size, WINDOWS[:1]) for size in SIZES]
        times = [f"{each.ms[WINDOWS[0]]:.2f}" for each in found[:-1]]
        table.add_row(name, *times, *_cells(found[-1], WINDOWS[:1]))
    return table


def in_a_process(kind: str, size: int, windows: Sequence[int]) -> Figures:
    """The figures of a view, from a process that holds nothing else."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(figures, (kind, size, [each for each in windows if each <= size]))


def figures(name: str, size: int, windows: Sequence[int]) -> Figures:
    """Load a view, maintain it for some windows of each size, write and read a snapshot of it."""
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        # What is loaded with the first view is not this one's.
        Run(kind, 100, Path(folder) / "first").evaluate(10)
        before = resident()
        run = Run(kind, size, Path(folder))
        held = resident() - before
        ms = {window: run.ms_per_evaluation(window) for window in windows}
        storage = LocalStorage(folder)
        save_s = seconds(lambda: save_snapshot(run.served.view, storage, "again"))
        run.close()
        load_s = seconds(lambda: load_snapshot(storage, "again"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Figures(ms, held / size, peak, save_s, load_s)


class Run:
    """A served view and the batches that it goes through, one evaluation each."""

    def __init__(self, kind: Kind, size: int, folder: Path) -> None:
        self.kind, self.size, self.rng = kind, size, np.random.default_rng(1)
        self.job, self.number = a_job(kind), 0
        self.state = State("q", begun_ms=WINDOW.closing(1))
        self.served = self._open(folder)
        self.state = replace(self.state, views={"bkg": self.served.opened})

    def _open(self, folder: Path) -> ServedView:
        service = Answering(self.size, linked=self.kind.linked)
        served = open_served(
            self.job.services[0],
            service,
            LocalStorage(str(folder)),
            self.state,
            clock=wall_clock_ms,
        )
        served.view.units.best_before_ms[:] = self._times(before=10, after=60)
        served.view.units.refreshed_ms[:] = self._times(before=60, after=0)
        if served.view.units.rates is not None:
            # It takes its memory once units are refreshed; here it has, as after a long time.
            served.view.units.rates.likelihood[:] = 1
        if self.kind.full:
            view = replace(served.job.view, capacity=self.size)
            served.job = replace(served.job, view=view)
        return served

    def _times(self, *, before: int, after: int) -> Integers:
        """A time for each unit, from some windows before the first evaluation to some after it."""
        return self.rng.integers(-before, after + 1, self.size) * WINDOW.width_ms

    def close(self) -> None:
        """Let go of the view."""
        del self.served

    def ms_per_evaluation(self, keys: int) -> float:
        """The median of some evaluations of windows with so many keys, after the first."""
        return median([self.evaluate(keys) for _ in range(EVALUATIONS)][1:])

    def evaluate(self, keys: int) -> float:
        """Milliseconds of one evaluation that is a batch of its own."""
        self.number += 1
        table = self.statistics(keys)
        return 1e3 * seconds(lambda: self._batch(self.number, table))

    def _batch(self, number: int, table: pa.Table) -> None:
        before = self.state.view("bkg")
        (statistics,) = split_statistics(table, self.job.plan).services
        view = self.served.begin(number, before)
        asking = Asking(
            self.served.job, self.served.view, Timeline(Instants((WINDOW,))), statistics
        )
        view.step([(asking, number)], event_clock(wall_clock_ms, 0))
        asking.table()
        after = self.served.settle(number, view)
        self.state = replace(self.state, batch=number, views={"bkg": after})
        self.served.committed(number + 1)

    def statistics(self, keys: int) -> pa.Table:
        """What job A collects of a window: each key once, every fifth with a second L."""
        known = int(keys * (1 - self.kind.strangers))
        strangers = [iri(f"s{self.number}-{each}") for each in range(keys - known)]
        chosen = self.rng.choice(self.size, known, replace=False).tolist()
        name = "k" if self.kind.linked else "u"
        names = [iri(f"{name}{each}") for each in chosen] + strangers
        names += names[::5]
        second = np.arange(len(names)) >= keys
        return pa.table(
            {
                SERVICE: pa.array(np.zeros(len(names), np.int32)),
                **dict.fromkeys(RANGE, pa.array(np.full(len(names), self.number))),
                REMAINING: pa.array(np.where(second, 2, 7)),
                MAPPINGS: pa.array(self.rng.integers(1, 5, len(names))),
                key_column(0): pa.array(names, pa.string()),
            }
        )


@dataclass
class Answering:
    """A service with `size` units that answers at once, every second time with another value."""

    size: int
    linked: bool = False
    asked: int = 0

    def load(self) -> Loaded:
        """All rows."""
        names = (iri(f"u{number}") for number in range(self.size))
        return Loaded(tuple(row for name in names for row in self._rows((name,))), 1, 0.0)

    def fetch(self, keys: Sequence[Key], *, requests_allowed: int | None = None) -> Fetched:  # noqa: ARG002
        """The rows of units, also of strangers."""
        self.asked += 1
        return Fetched({key: self._rows(key) for key in keys}, requests=1)

    def _rows(self, key: Key) -> tuple[Row, ...]:
        (unit,), value = key, f'"{self.asked // 2}"'
        if not self.linked:
            return ((unit, value),)
        number = int(unit.removeprefix(f"<{EX}u").removesuffix(">"))
        return tuple((iri(f"k{(number + step) % self.size}"), unit, value) for step in (0, 1))

    def close(self) -> None:
        """Nothing to give back."""


def a_job(kind: Kind) -> Job:
    """A job with one service, whose join key is its refresh key or, if linked, is not."""
    service = "?user :owns ?unit . ?unit :price ?v" if kind.linked else "?user :hasFollowers ?v"
    return read_job(
        {
            "query": {
                "text": f"PREFIX : <{EX}>\nREGISTER RSTREAM :out AS SELECT ?user\n"
                "FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]\n"
                f"WHERE {{ WINDOW :w {{ ?user :by ?post }} SERVICE :bkg {{ {service} }} }}"
            },
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": {}},
            "budget": {"refreshes": BUDGET},
            "policy": {"name": kind.policy},
            "view": {"fill": "start", "change_interval": kind.change_interval}
            | ({"refresh_key": ["unit"]} if kind.linked else {}),
        }
    )


def iri(name: str) -> str:
    """An IRI as the view keeps it."""
    return f"<{EX}{name}>"


def resident() -> int:
    """The bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def seconds(work: Callable[[], object]) -> float:
    """The processor time of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
