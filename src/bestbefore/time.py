"""Time: integer milliseconds, durations as people write them, and the one clock.

Everything that needs the wall clock takes a `Clock`, so that tests hand in their own.
"""

import re
import time as _time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NewType

from bestbefore.errors import InputError, excerpt

Clock = Callable[[], int]

Milliseconds = NewType("Milliseconds", int)
"""A duration whose name does not say `_ms`; as text it is written with its unit."""

LONGEST_MS = 10**15
"""Longer than history, and still exact when it is counted in floating point."""

_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SHORT = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_ISO = re.compile(
    r"P(?:(?P<d>\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def wall_clock_ms() -> int:
    """The time now, in milliseconds since 1970 (UTC)."""
    return _time.time_ns() // 1_000_000


def monotonic_s() -> float:
    """A clock for measuring how long things take."""
    return _time.perf_counter()


LIVE_WITHIN_MS = 3_600_000
"""A stream whose times are no farther from the clock than this is live; another one is replayed."""


def is_live(t_ms: int, now_ms: int) -> bool:
    """Whether a moment of a stream is so near to now that its time is that of the clock."""
    return abs(now_ms - t_ms) <= LIVE_WITHIN_MS


def monotonic_ms() -> int:
    """A clock in milliseconds that nobody sets, for waits that must not be cut short."""
    return _time.monotonic_ns() // 1_000_000


def parse_duration_ms(text: str) -> int:
    """Milliseconds of a duration such as `PT10M`, `P1DT2H`, `100s`, `10m` or `250ms`.

    >>> parse_duration_ms("PT1M30S"), parse_duration_ms("100s"), parse_duration_ms("250ms")
    (90000, 100000, 250)
    """
    text = text.strip()
    iso = _ISO.fullmatch(text)
    if short := _SHORT.fullmatch(text):
        duration_ms = float(short[1]) * _UNIT_MS[short[2].lower()]
    elif iso and any(iso.groups()) and not text.upper().endswith("T"):
        duration_ms = sum(float(iso[unit] or 0) * _UNIT_MS[unit] for unit in "dhms")
    else:
        raise InputError(
            f"{excerpt(text)} is not a duration; write PT10M, 100s, 10m, 2h, 1d or 250ms"
        )
    if duration_ms > LONGEST_MS:
        raise InputError(f"{excerpt(text)} is too long; write a duration such as PT10M or 100d")
    return round(duration_ms)


def parse_interval_ms(text: str, *, plain_ms: int | None) -> int:
    """Milliseconds of a change interval: a duration, or a plain number of `plain_ms` each.

    >>> parse_interval_ms("5m", plain_ms=None), parse_interval_ms("1.5", plain_ms=1_000)
    (300000, 1500)
    """
    try:
        number = float(text)
    except ValueError:
        interval: float = parse_duration_ms(text)
    else:
        if plain_ms is None:
            raise InputError(f"{text!r} has no unit; write {text.strip()}s or {text.strip()}ms")
        interval = number * plain_ms
    if not 1 <= interval < 2**63:
        raise InputError(
            f"{excerpt(text)} is no interval between two changes; it must be 1 ms or more"
        )
    return round(interval)


def is_instant(ms: int) -> bool:
    """Whether a moment can be told as a date: from the year 1 to 9999."""
    return _FIRST_MS <= ms <= _LAST_MS


def format_duration(ms: int) -> str:
    """The ISO 8601 form of a duration, which `parse_duration_ms` reads back.

    >>> format_duration(90_500), format_duration(86_400_000)
    ('PT1M30.5S', 'P1D')
    """
    days, rest = divmod(ms, _UNIT_MS["d"])
    hours, rest = divmod(rest, _UNIT_MS["h"])
    minutes, rest = divmod(rest, _UNIT_MS["m"])
    seconds = f"{rest / 1000:.3f}".rstrip("0").rstrip(".") if rest else ""
    clock = "".join(
        f"{amount}{unit}"
        for amount, unit in ((hours, "H"), (minutes, "M"), (seconds, "S"))
        if amount
    )
    if not days and not clock:
        return "PT0S"
    return "P" + (f"{days}D" if days else "") + (f"T{clock}" if clock else "")


def format_instant(ms: int) -> str:
    """An instant as people read it: ISO 8601 in UTC, with milliseconds if it has any."""
    instant = datetime.fromtimestamp(ms / 1000, UTC)
    return instant.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace(
        "+00:00", "Z"
    )
