"""The remote data of a simulation: what each unit's value is at each time."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Numbers
from bestbefore.traces import BackgroundTrace

NO_ROW = -1
_NEVER_MS = np.int64(2**62)
# How many equal gaps make a period, and how far integer milliseconds may be off at least.
_LEAST_GAPS, _ROUNDING_MS = 3, 2


@dataclass(frozen=True)
class Background:
    """The versions of all units, ordered by unit and time; the first of a unit is at `start`.

    `code` numbers the distinct values, NO_ROW where a unit has none; `number` is the value as a
    number, NaN where it is none. Both end with an entry for the version −1: no row.
    """

    ts_ms: Integers
    unit: Integers
    code: Integers
    number: Numbers
    start: Integers

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.start) - 1

    def versions(self, t_ms: int) -> Integers:
        """The version of every unit at a time, −1 before its first."""
        past = np.concatenate([[0], np.cumsum(self.ts_ms <= t_ms)])
        count = past[self.start[1:]] - past[self.start[:-1]]
        return np.where(count > 0, self.start[:-1] + count - 1, NO_ROW)

    def next_change_ms(self, versions: Integers, units: Integers) -> Integers:
        """When units in these versions change next; never is far away."""
        following = np.where(versions >= 0, versions + 1, self.start[units])
        last = following >= self.start[units + 1]
        ts_ms = np.append(self.ts_ms, _NEVER_MS)
        return np.where(last, _NEVER_MS, ts_ms[np.minimum(following, len(self.ts_ms))])


@dataclass(frozen=True)
class Changes:
    """The new versions that each evaluation finds, by evaluation."""

    start: Integers
    version: Integers

    def of(self, position: int) -> Integers:
        """The latest version of every unit that changed since the evaluation before."""
        return self.version[self.start[position] : self.start[position + 1]]


def make_background(trace: BackgroundTrace, numbers: Mapping[str, int]) -> Background:
    """The background of numbered units; rows that repeat the value before are no change."""
    unit = np.fromiter((numbers[key] for key in trace.key), np.int64, len(trace.key))
    values, code = np.unique(trace.value.astype(str), return_inverse=True)
    code = np.where(values[code] == "", NO_ROW, code).astype(np.int64)
    order = np.lexsort((trace.ts_ms, unit))
    ts_ms, unit, code = trace.ts_ms[order], unit[order], code[order]
    changed = np.ones(len(code), dtype=np.bool_)
    changed[1:] = (unit[1:] != unit[:-1]) | (code[1:] != code[:-1])
    ts_ms, unit, code = ts_ms[changed], unit[changed], code[changed]
    as_numbers = np.fromiter(map(_number, values.tolist()), np.float64, len(values))
    return Background(
        ts_ms=ts_ms,
        unit=unit,
        code=np.append(code, NO_ROW),
        number=np.append(np.where(code >= 0, as_numbers[code], np.nan), np.nan),
        start=np.searchsorted(unit, np.arange(len(numbers) + 1)).astype(np.int64),
    )


def changes_between(background: Background, closings: Integers) -> Changes:
    """What changes before each closing time, after the one before it."""
    found = np.searchsorted(closings, background.ts_ms, side="left")
    version = np.flatnonzero(found < len(closings))
    order = version[np.lexsort((version, found[version]))]
    evaluation, unit = found[order], background.unit[order]
    latest = np.ones(len(order), dtype=np.bool_)
    latest[:-1] = (evaluation[1:] != evaluation[:-1]) | (unit[1:] != unit[:-1])
    start = np.searchsorted(evaluation[latest], np.arange(len(closings) + 1))
    return Changes(start.astype(np.int64), order[latest])


@dataclass(frozen=True, slots=True)
class ChangeTimes:
    """The change interval of each unit, and where its changes are periodic one time of change."""

    interval_ms: Integers
    change_ms: Integers


def true_change_times(background: Background, end_ms: int) -> ChangeTimes:
    """What the trace says of each unit's changes up to a time.

    Changes at equal distances, as near as the trace notes times (by the minute, say), have a period
    and a phase, as planning-ahead assumes to be known. Otherwise the interval is the time watched
    per change, twice that time where no change was seen, and no time of a change is foretold
    (`change_ms` is −1).
    """
    rounding_ms = max(_ROUNDING_MS, int(np.gcd.reduce(background.ts_ms, initial=0)))
    intervals = np.empty(background.units, dtype=np.int64)
    changes = np.full(background.units, -1, dtype=np.int64)
    for unit in range(background.units):
        times = background.ts_ms[background.start[unit] : background.start[unit + 1]]
        period = _period(times[1:], rounding_ms)
        if period is not None:
            intervals[unit], changes[unit] = period
        else:
            intervals[unit] = max(1, _mean_interval(times, end_ms))
    return ChangeTimes(intervals, changes)


def _period(times: Integers, rounding_ms: int) -> tuple[int, int] | None:
    """The period and the first time of changes that lie on a line but for rounding."""
    if len(times) <= _LEAST_GAPS:
        return None
    number = np.arange(len(times))
    period = round(float(np.polyfit(number, times - times[0], 1)[0]))
    off = times - times[0] - period * number
    # Where gaps are hardly longer than what times are rounded to, any would be equal.
    rounding_ms = rounding_ms if period >= 2 * rounding_ms else _ROUNDING_MS
    # A period is a whole number, too: at the ends half of one is off for each change.
    if period < 1 or np.ptp(off) > rounding_ms + len(times) // 2:
        return None
    return period, int(times[0] + round(float(off.mean())))


def _mean_interval(times: Integers, end_ms: int) -> int:
    watched = max(end_ms - int(times[0]), 1) if len(times) else max(end_ms, 1)
    changes = len(times) - 1
    return watched // changes if changes > 0 else 2 * watched


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
