"""The time of an election of 1,000 among 1,000,000 candidates.

Every registered ranker is measured, in turn with an argpartition: the aim is at most five of them.
The candidates are the units of a window in a 1:1 join; the same with every hundredth unit waiting,
so that columns have to be cut; and in an M:N join with two edges per unit, against an argpartition
of as many numbers as edges. A second table holds EFG against WBM, in turn, by what is known of the
units: the aim is at most five times its time. A third shows how times grow with the candidates.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from bestbefore.maintenance import Moment, Situation, WindowUnits, elect, resolve_policy
from bestbefore.maintenance.rankers import rankers
from bestbefore.maintenance.window_units import units_of_links
from bestbefore.view import ChangeRates
from bestbefore.view.links import link
from bestbefore.view.units import Units, new_units

CANDIDATES, BUDGET, AIM = 1_000_000, 1_000, 5
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOMENT = Moment(10_000_000, 600_000, 60_000)
NEEDED = {
    "RND.F": "RND.F(fdt=500)",
    "LRU.F": "LRU.F(fdt=500)",
    "WBM.F": "WBM.F(fdt=500)",
    "TTL": "TTL(ttl=10m)",
}
POLLS = 6


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

    def scheduled(self, units: np.ndarray) -> np.ndarray:
        """Half of them."""
        return self._stale[units]


def main() -> None:
    """Measure and print the tables."""
    console = Console()
    console.print(multiples())
    console.print(against_wbm())
    console.print(growth())


def multiples() -> Table:
    """Multiples of an argpartition, by ranker and kind of window."""
    cases = {"1:1": a_view(CANDIDATES), "1:1, some wait": a_view(CANDIDATES), "M:N": linked()}
    cases["1:1, some wait"][0].retry_at[::100] = 1
    title = f"1,000 of 1,000,000: × argpartition, aim ≤ {AIM}"
    table, yardsticks = Table("ranker", "ms", *cases, title=title), list[float]()
    for name in (NEEDED.get(name, name) for name in rankers):
        took = [times(election(name, *case), size_of(case[1])) for case in cases.values()]
        ratios = (f"{ours / base:.1f}{'' if ours <= AIM * base else ' !'}" for ours, base in took)
        table.add_row(name, f"{took[0][0] * 1e3:.1f}", *ratios)
        yardsticks.append(took[0][1] * 1e3)
    table.caption = f"argpartition, 1:1: {median(yardsticks):.1f} ms"
    return table


def against_wbm() -> Table:
    """EFG's time as a multiple of WBM's, by what is known of the units and asked of them."""
    cases: dict[str, tuple[Units, WindowUnits, float | None]] = {
        "told intervals": (*a_view(CANDIDATES), None),
        "rates learned": (*learned(regular=False), None),
        "regular changes found": (*learned(regular=True), None),
        "rates learned, FILTER": (*learned(regular=False), 1_000.0),
    }
    title = f"1,000 of 1,000,000: EFG × WBM, medians, aim ≤ {AIM}"
    table = Table("EFG", "WBM ms", "EFG ms", "× WBM", title=title)
    for name, (units, window, threshold) in cases.items():
        both = [election(ranker, units, window, threshold=threshold) for ranker in ("WBM", "EFG")]
        turns = [[seconds(work, 1) for work in both] for _ in range(9)]
        wbm, efg = (1e3 * median(column) for column in zip(*turns, strict=True))
        table.add_row(name, f"{wbm:.1f}", f"{efg:.1f}", f"{efg / wbm:.1f}")
    return table


def growth() -> Table:
    """Milliseconds per election by the number of candidates."""
    names = ("RND", "LRU", "WBM", "EFG", "IBM-BGP", "LRU.F+", "IBM-Agg")
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


def learned(*, regular: bool, size: int = CANDIDATES) -> tuple[Units, WindowUnits]:
    """A view whose units were polled some times each, and change at random or regularly."""
    rng = np.random.default_rng(5)
    units, window = a_view(size)
    rates = ChangeRates(size, width_ms=MOMENT.width_ms, slide_ms=MOMENT.slide_ms)
    times_ms = np.sort(rng.integers(1, MOMENT.t_ms // MOMENT.slide_ms, (size, POLLS)), axis=1)
    times_ms *= MOMENT.slide_ms
    phase = rng.random(size)
    units.watched = MOMENT.t_ms // MOMENT.slide_ms
    units.set_needed(np.arange(size), rng.integers(1, units.watched, size).astype(np.float64))
    for before_ms, now_ms in zip(times_ms.T[:-1], times_ms.T[1:], strict=True):
        turns = np.stack([before_ms, now_ms]) / units.interval_ms
        if regular:
            changed = np.diff(np.floor(turns + phase), axis=0)[0] > 0
        else:
            changed = rng.random(size) < -np.expm1(-np.diff(turns, axis=0)[0])
        for part in np.array_split(np.flatnonzero(now_ms > before_ms), max(1, size // 10_000)):
            age_ms = (now_ms - before_ms)[part]
            rates.observe(part, units.hints(part), age_ms, changed[part])
    if rates.tells_regular != regular:
        raise RuntimeError("the polls tell otherwise than was meant")
    units.rates, units.refreshed_ms[:] = rates, times_ms[:, -1]
    units.moves[:], units.squares[:] = POLLS / 2, POLLS / 2 * rng.gamma(1.0, 50.0**2, size)
    units.rises[:] = units.falls[:] = POLLS / 4
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
    name: str,
    units: Units,
    window: WindowUnits,
    *,
    budget: int = BUDGET,
    threshold: float | None = 1_000.0,
) -> Callable[[], object]:
    """An election to be timed."""
    policy = resolve_policy(name)
    oracle = Oracle(len(units)) if name in {"WBM*", "BOUND"} else None
    situation = Situation(MOMENT, budget, threshold=threshold, oracle=oracle)
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
