"""The time of an election of 1,000 among 1,000,000 candidates, as multiples of one argpartition.

Every ranker that scores is measured, on the same candidates in the same run. A second table shows
how the time grows with the number of candidates.
"""

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.rankers import rankers, scores
from bestbefore.view.units import Units, new_units

CANDIDATES, BUDGET = 1_000_000, 1_000
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
    units, window = a_view(CANDIDATES)
    ages = (MOMENT.t_ms - units.refreshed_ms).astype(np.float64)
    base = seconds(lambda: np.argpartition(ages, CANDIDATES - BUDGET))
    table = Table("ranker", "ms", "× argpartition", title="1,000 of 1,000,000 candidates")
    table.add_row("numpy.argpartition", f"{base * 1e3:.1f}", "1.0")
    for name in scoring_rankers():
        took = seconds(election(name, units, window))
        table.add_row(name, f"{took * 1e3:.1f}", f"{took / base:.1f}")
    console = Console()
    console.print(table)
    console.print(growth())


def scoring_rankers() -> list[str]:
    """The names of all rankers that score, with parameters where they need some."""
    names = [NEEDED.get(name, name) for name in rankers]
    return [name for name in names if scores(resolve_policy(name).ranker)]


def growth() -> Table:
    """Milliseconds per election by the number of candidates."""
    names = ("RND", "LRU", "WBM", "IBM-BGP", "LRU.F+")
    table = Table("candidates", *names, title="ms per election of a thousandth")
    for size in SIZES:
        units, window = a_view(size)
        took = (seconds(election(name, units, window, budget=size // 1_000)) for name in names)
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


def election(
    name: str, units: Units, window: WindowUnits, budget: int = BUDGET
) -> Callable[[], object]:
    """An election to be timed."""
    policy = resolve_policy(name)
    oracle = Oracle(len(units)) if name == "WBM*" else None
    situation = Situation(MOMENT, budget, threshold=1_000.0, oracle=oracle)
    rng = np.random.default_rng(2)
    return lambda: elect(policy, units, window, situation, rng=rng)


def seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The least time of several: the machine's noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


if __name__ == "__main__":
    main()
