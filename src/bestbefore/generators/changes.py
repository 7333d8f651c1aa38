"""Changes of background data: when a unit changes, at any time or by the minute, and to what."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bestbefore.arrays import Integers, Numbers, Texts
from bestbefore.generators.arrivals import MINUTE_MS
from bestbefore.generators.catalogue import check_rows
from bestbefore.traces import BackgroundTrace

ChangeKind = Literal["periodic", "poisson"]

_MEAN_STEP = 30.0


@dataclass(frozen=True, eq=False)
class Changes:
    """Which unit, by its number, changes when; ordered by unit and time, each time once."""

    unit: Integers
    ts_ms: Integers

    def __len__(self) -> int:
        return len(self.unit)


def draw_changes(
    kind: ChangeKind, interval_ms: Integers, *, duration_ms: int, rng: np.random.Generator
) -> Changes:
    """Changes of every unit in (0, duration] at its expected interval."""
    check_rows(float((duration_ms / interval_ms).sum()) + len(interval_ms), "changes")
    draw = periodic_changes if kind == "periodic" else poisson_changes
    return draw(interval_ms, duration_ms=duration_ms, rng=rng)


def periodic_changes(
    interval_ms: Integers, *, duration_ms: int, rng: np.random.Generator
) -> Changes:
    """A change after every interval, the first one anywhere in the unit's first interval."""
    phase_ms = rng.integers(1, interval_ms, endpoint=True)
    count = (duration_ms - phase_ms) // interval_ms + 1
    unit = np.repeat(np.arange(len(interval_ms)), count)
    number = np.arange(len(unit)) - np.repeat(np.cumsum(count) - count, count)
    return Changes(unit, phase_ms[unit] + number * interval_ms[unit])


def poisson_changes(
    interval_ms: Integers, *, duration_ms: int, rng: np.random.Generator
) -> Changes:
    """A Poisson process per unit; what changes twice in one millisecond changes once."""
    unit = np.repeat(np.arange(len(interval_ms)), rng.poisson(duration_ms / interval_ms))
    ts_ms = rng.integers(1, duration_ms, len(unit), endpoint=True)
    order = np.lexsort((ts_ms, unit))
    unit, ts_ms = unit[order], ts_ms[order]
    first = np.append(True, (np.diff(unit) != 0) | (np.diff(ts_ms) != 0))[: len(unit)]
    return Changes(unit[first], ts_ms[first])


def random_snapshot_changes(
    frequency: Numbers, *, snapshots: int, rng: np.random.Generator, least: int = 0
) -> Changes:
    """Changes at random minutes, as many as a unit's frequency per minute makes expect.

    The first snapshot, at time 0, is the start; every later one can differ from the one before.
    """
    later = snapshots - 1
    count = np.clip(np.rint(frequency * later), least, later)
    rank = np.argsort(np.argsort(rng.random((len(frequency), later)), axis=1), axis=1)
    unit, minute = np.nonzero(rank < count[:, np.newaxis])
    return Changes(unit, (minute + 1) * MINUTE_MS)


def regular_snapshot_changes(
    frequency: Numbers, *, snapshots: int, rng: np.random.Generator
) -> Changes:
    """Changes at even distances; each shows in the first snapshot after it."""
    interval = 1 / np.minimum(frequency, 1.0)
    phase = interval * (1 - rng.random(len(frequency)))
    count = np.floor((snapshots - 1 - phase) / interval).astype(np.int64) + 1
    unit = np.repeat(np.arange(len(frequency)), count)
    number = np.arange(len(unit)) - np.repeat(np.cumsum(count) - count, count)
    minute = np.ceil(phase[unit] + number * interval[unit]).astype(np.int64)
    return Changes(unit, minute * MINUTE_MS)


def random_steps(count: int, *, rise: float, rng: np.random.Generator, least: int = 1) -> Integers:
    """Steps of a random walk: whole numbers of at least `least`, upwards with the chance `rise`."""
    size = rng.geometric(1 / (_MEAN_STEP - least + 1), count) + least - 1
    return np.where(rng.random(count) < rise, size, -size).astype(np.int64)


def levels(changes: Changes, steps: Integers) -> Integers:
    """How far a unit's value is from its start after each of its changes."""
    total = np.cumsum(steps)
    before = total - steps
    return np.asarray(total - before[np.searchsorted(changes.unit, changes.unit)], dtype=np.int64)


def background_trace(
    names: Texts, changes: Changes, *, start: Integers, steps: Integers
) -> BackgroundTrace:
    """The values of all units: `start` at time 0, and a step further after every change."""
    everyone = np.arange(len(names))
    unit = np.concatenate([everyone, changes.unit])
    ts_ms = np.concatenate([np.zeros(len(names), dtype=np.int64), changes.ts_ms])
    value = start[unit] + np.concatenate([np.zeros_like(everyone), levels(changes, steps)])
    order = np.lexsort((unit, ts_ms))
    texts = np.array([str(number) for number in value[order].tolist()], dtype=np.object_)
    return BackgroundTrace(ts_ms[order], names[unit[order]], texts)


def wandering_background(
    names: Texts,
    interval_ms: Integers,
    kind: ChangeKind,
    *,
    duration_ms: int,
    rng: np.random.Generator,
) -> BackgroundTrace:
    """Values that start anywhere and go up or down, as likely, at the intervals of their units."""
    changes = draw_changes(kind, interval_ms, duration_ms=duration_ms, rng=rng)
    start = rng.integers(1_000, 1_000_000, len(names))
    steps = random_steps(len(changes), rise=0.5, rng=rng)
    return background_trace(names, changes, start=start, steps=steps)
