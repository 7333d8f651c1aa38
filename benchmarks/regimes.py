"""Regimes: change rates that rise tenfold halfway, and a service where nothing ever changes."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from benchmarks.columns import LEARNED, PROCESSES, SEEDS, TWITTER, markdown
from bestbefore.arrays import Booleans, Numbers
from bestbefore.experiments.runs import Task
from bestbefore.experiments.simulation import prepare
from bestbefore.generators import make_traces
from bestbefore.simulator.result import Series
from bestbefore.traces import BackgroundTrace, Traces

Maker = Callable[[int], Traces]

BUDGETS = (3, 5, 10)
DURATION_MS = 36_000_000
SLOW_MS, FAST_MS, NEVER_MS = (300_000, 3_600_000), (30_000, 360_000), (10**15, 10**15)
AFTER = ((0, 15), (15, 45), (45, 90), (90, 150), (150, 299))
WEIGHT = np.full(10, 0.1)


def regimes() -> Iterable[str]:
    """Both regimes, `EFG` told nothing."""
    yield "## A third of the units changes ten times as often, from halfway on\n"
    yield "`poisson changes=poisson` for ten hours, 600 evaluations; `EFG`, told nothing. What it"
    yield "gives after the change is held against what it gives where these units changed as"
    yield "often from the beginning, with the same arrivals and the same changes since: its new"
    yield "steady level. Told is the ratio of the two by evaluations after the change, ± the"
    yield "standard error over data sets, and the lowest over ten evaluations of all data sets."
    yield "The error is the mean distance of estimated from true freshness.\n"
    head = ["γ", "freshness before", "its new level", *(f"ratio, {a + 1}–{b}" for a, b in AFTER)]
    errors = [f"error {when}" for when in ("before", "30 evaluations after", "at the end")]
    yield markdown([*head, "lowest ratio", *errors], map(_change_line, BUDGETS))
    yield "## A service where nothing changes\n"
    yield "What `EFG`, told nothing, refreshes per evaluation, and what freshness it estimates;"
    yield "the true one is 1. What is wrong with less than 1 % gets a tenth of the budget at"
    yield "most.\n"
    spans = ((0, 10), (10, 30), (30, 100), (100, 300), (300, 599))
    makers = (("400 units", _never), ("40 units, needed ten times as often", _never_of_few))
    lines = [
        [f"{title}, γ = {budget}", *_still_cells(make, budget, spans)]
        for title, make in makers
        for budget in BUDGETS
    ]
    yield markdown(["", *(f"evaluations {a + 1}–{b}" for a, b in spans)], lines)


def _change_line(budget: int) -> list[str]:
    runs, steady = (_run_all(make, budget) for make in (_faster_from_halfway, _faster))
    freshness, level = (np.array([run.freshness for run in of]) for of in (runs, steady))
    error = np.mean([np.abs(run.estimated - run.freshness) for run in runs], axis=0)
    half, quarter = freshness.shape[1] // 2, freshness.shape[1] // 4
    before, end = slice(quarter, half), slice(-quarter, None)
    ratios = [
        _ratio(freshness[:, half + a : half + b], level[:, half + a : half + b]) for a, b in AFTER
    ]
    now, then = (
        np.convolve(of.mean(axis=0)[half:], WEIGHT, mode="valid") for of in (freshness, level)
    )
    levels = (freshness[:, before].mean(), level[:, half:].mean())
    last = (
        (now / then).min(),
        error[before].mean(),
        error[half : half + 30].mean(),
        error[end].mean(),
    )
    return [str(budget), *map("{:.3f}".format, levels), *ratios, *map("{:.3f}".format, last)]


def _ratio(ours: Numbers, theirs: Numbers) -> str:
    """The ratio of means over all evaluations, and its standard error over the data sets."""
    paired, level = (ours - theirs).mean(axis=1), theirs.mean()
    spread = paired.std(ddof=1) / np.sqrt(len(paired))
    return f"{1 + paired.mean() / level:.3f} ±{spread / level:.3f}"


def _still_cells(make: Maker, budget: int, spans: Iterable[tuple[int, int]]) -> list[str]:
    runs = _run_all(make, budget)
    refreshes, estimated = _mean(runs, "refreshes"), _mean(runs, "estimated")
    return [f"{refreshes[a:b].mean():.2f}, {estimated[a:b].mean():.3f}" for a, b in spans]


def _mean(runs: Sequence[Series], column: str) -> Numbers:
    return np.asarray(np.mean([getattr(run, column) for run in runs], axis=0))


def _run_all(make: Maker, budget: int) -> list[Series]:
    with ProcessPoolExecutor(PROCESSES) as pool:
        return list(pool.map(_run, [make] * SEEDS, [budget] * SEEDS, range(SEEDS)))


def _run(make: Maker, budget: int, seed: int) -> Series:
    simulation = prepare(make(seed), intervals=LEARNED, **TWITTER)
    return simulation.run_task(Task("EFG", budget, seed))


def _changing(seed: int, interval_ms: tuple[int, int], **parameters: int) -> Traces:
    low_ms, high_ms = interval_ms
    return make_traces(
        "poisson",
        seed,
        changes="poisson",
        duration_ms=DURATION_MS,
        interval_low_ms=low_ms,
        interval_high_ms=high_ms,
        **parameters,
    )


def _never(seed: int) -> Traces:
    return _changing(seed, NEVER_MS)


def _never_of_few(seed: int) -> Traces:
    return _changing(seed, NEVER_MS, keys=40, arrival_low_ms=60_000, arrival_high_ms=180_000)


def _faster(seed: int, *, from_ms: int = 0) -> Traces:
    """The same stream and units, of which every third goes over to another background."""
    slow, fast = _changing(seed, SLOW_MS), _changing(seed, FAST_MS)
    thirds = sorted(set(slow.background.key.tolist()))[::3]
    kept = ~_later(slow.background, thirds, from_ms)
    taken = _later(fast.background, thirds, from_ms)
    columns = (
        np.concatenate(
            [getattr(slow.background, name)[kept], getattr(fast.background, name)[taken]]
        )
        for name in ("ts_ms", "key", "value")
    )
    return replace(slow, background=BackgroundTrace(*columns))


def _faster_from_halfway(seed: int) -> Traces:
    return _faster(seed, from_ms=DURATION_MS // 2)


def _later(background: BackgroundTrace, keys: Sequence[str], from_ms: int) -> Booleans:
    """Which rows are of these keys and not of before a time."""
    return np.isin(background.key.astype(str), keys) & (background.ts_ms >= from_ms)
