"""The time of an election of 1,000 among 1,000,000 candidates, as multiples of one argpartition.

Every registered ranker is measured, in turn with an argpartition: the aim is at most five of them.
The candidates are the units of a window in a 1:1 join; the same with every hundredth unit waiting,
so that columns have to be cut; and in an M:N join with two edges per unit, against an argpartition
of as many numbers as edges. A second table shows how the time grows with the candidates.
"""

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.rankers import rankers
from bestbefore.maintenance.window_units import units_of_links
from bestbefore.view.links import link
from bestbefore.view.units import Units, new_units

CANDIDATES, BUDGET, AIM = 1_000_000, 1_000, 5
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOMENT = Moment(10_000_000, 600_000, 60_000)
NEEDED = {"RND.F": "RND.F(fdt=500)", "LRU.F": "LRU.F(fdt=500)", "WBM.F": "WBM.F(fdt=500)"}


class Oracle:
    """Truth at random: its cost is not that of an election."""

    def __init__(self, size: int) -> None:
        rng = np.random.default_rng(1)
        self._stale = rng.random(size) < 0.5
        self._change_ms = rng.integers(10_000_001, 20_000_000, size)

    def stale(self, units: np.ndarray) -> np.ndarray:
        """Half of them."""
        return self._stale[units]

    def next_change_ms(self, units: np.ndarray) -> np.ndarray:
        """Some later time."""
        return self._change_ms[units]


def main() -> None:
    """Measure and print both tables."""
    console = Console()
    console.print(multiples())
    console.print(growth())


def multiples() -> Table:
    """Multiples of an argpartition, by ranker and kind of window."""
    cases = {"1:1": a_view(CANDIDATES), "1:1, some wait": a_view(CANDIDATES), "M:N": linked()}
    cases["1:1, some wait"][0].retry_at[::100] = 1
    title = f"1,000 of 1,000,000: × argpartition, aim ≤ {AIM}"
    table = Table("ranker", "ms", *cases, title=title)
    for name in (NEEDED.get(name, name) for name in rankers):
        took = [times(election(name, *case), size_of(case[1])) for case in cases.values()]
        ratios = (f"{ours / base:.1f}{'' if ours <= AIM * base else ' !'}" for ours, base in took)
        table.add_row(name, f"{took[0][0] * 1e3:.1f}", *ratios)
    return table


def growth() -> Table:
    """Milliseconds per election by the number of candidates."""
    names = ("RND", "LRU", "WBM", "IBM-BGP", "LRU.F+", "IBM-Agg")
    table = Table("candidates", *names, title="ms per election of a thousandth")
    for size in SIZES:
        view = a_view(size)
        took = (seconds(election(name, *view, budget=size // 1_000)) for name in names)
        table.add_row(f"{size:,}", *(f"{each * 1e3:.3f}" for each in took))
    return table


def a_view(size: int) -> tuple[Units, WindowUnits]:
    """A view whose units are all needed by the window, half of them possibly stale."""
    rng = np.random.default_rng(0)
    units = new_units(np.arange(size), np.ones(size, dtype=np.int64), 1)
    units.refreshed_ms[:] = rng.integers(0, 10_000_000, size)
    units.best_before_ms[:] = rng.integers(5_000_000, 15_000_000, size)
    units.interval_ms[:] = rng.integers(60_000, 6_000_000, size)
    units.value[:] = rng.normal(1_000, 500, size)
    window = WindowUnits(np.arange(size), rng.integers(1, 11, size), rng.integers(1, 50, size))
    return units, window


def linked() -> tuple[Units, WindowUnits]:
    """The same view, each unit with two of half as many join keys."""
    rng = np.random.default_rng(3)
    units, _ = a_view(CANDIDATES)
    unit, keys = np.arange(CANDIDATES).repeat(2), CANDIDATES // 2
    links, _ = link(rng.integers(0, keys, len(unit)), unit, keys=keys)
    counts = rng.integers(1, 11, keys), rng.integers(1, 50, keys)
    return units, units_of_links(links, np.arange(keys), *counts)


def election(
    name: str, units: Units, window: WindowUnits, budget: int = BUDGET
) -> Callable[[], object]:
    """An election to be timed."""
    policy = resolve_policy(name)
    oracle = Oracle(len(units)) if name == "WBM*" else None
    situation = Situation(MOMENT, budget, threshold=1_000.0, oracle=oracle)
    rng = np.random.default_rng(2)
    return lambda: elect(policy, units, window, situation, rng=rng)


def size_of(window: WindowUnits) -> int:
    """The numbers that an election looks at: one per unit or, if there are more, per edge."""
    return len(window) if window.keys is None else len(window.keys.edge_key)


def times(work: Callable[[], object], size: int, repeats: int = 9) -> tuple[float, float]:
    """The least time of some work and of an argpartition of so many numbers, measured in turn."""
    numbers = np.random.default_rng(4).random(size)
    base = best = float("inf")
    for _ in range(repeats):
        base = min(base, seconds(lambda: np.argpartition(numbers, size - BUDGET), 1))
        best = min(best, seconds(work, 1))
    return best, base


def seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The least processor time of several: what else the machine does only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
