"""Quiet hours: spans of local wall time in which a service must not be asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from bestbefore.errors import InputError

_SPAN = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s+(\S+)")
_DAY_MINUTES = 24 * 60
_MINUTE_MS = 60_000
# Spans that follow each other without end keep a service quiet for ever.
_FARTHEST_MS = 3 * _DAY_MINUTES * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """The hours from `start` up to `end`, minutes of the day by the clocks of a time zone.

    A span whose end is not after its start goes on over midnight. An instant is in it if the local
    clocks then show a time in it, so the hour that they show twice in autumn counts twice.
    """

    start: int
    end: int
    zone: str

    def __str__(self) -> str:
        hours = (f"{minute // 60:02}:{minute % 60:02}" for minute in (self.start, self.end))
        return f"{'-'.join(hours)} {self.zone}"

    def holds(self, now_ms: int) -> bool:
        """Whether an instant is in the span."""
        minute = _minute_of(self._local(now_ms))
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def ends_ms(self, now_ms: int) -> int:
        """When the span that an instant is in ends."""
        local = self._local(now_ms)
        left = (self.end - _minute_of(local)) % _DAY_MINUTES
        moment = now_ms - now_ms % _MINUTE_MS + left * _MINUTE_MS
        if self._local(moment).utcoffset() == local.utcoffset():
            return moment
        # The clocks are changed on the way: only going along tells what they show.
        moment = now_ms - now_ms % _MINUTE_MS
        while self.holds(moment):
            moment += _MINUTE_MS
        return moment

    def _local(self, now_ms: int) -> datetime:
        return datetime.fromtimestamp(now_ms // 1000, UTC).astimezone(zone_of(self.zone))


def parse_quiet(text: str) -> QuietSpan:
    """The span that a text such as `22:00-06:00 Europe/Rome` names.

    >>> parse_quiet("8:00 - 18:00 UTC")
    QuietSpan(start=480, end=1080, zone='UTC')
    """
    form = "write it as 22:00-06:00 Europe/Rome"
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text!r} is no span of hours with a time zone; {form}")
    start, end = (_minute(text, found[n], found[n + 1]) for n in (1, 3))
    if start % _DAY_MINUTES == end % _DAY_MINUTES:
        raise InputError(f"{text!r} is the whole day or nothing of it; {form}")
    zone_of(found[5])
    return QuietSpan(start % _DAY_MINUTES, end, found[5])


def quiet_until_ms(spans: Sequence[QuietSpan], now_ms: int) -> int | None:
    """When the quiet that an instant is in ends, None if no end of it is in sight."""
    moment = now_ms
    while span := next((span for span in spans if span.holds(moment)), None):
        moment = span.ends_ms(moment)
        if moment - now_ms > _FARTHEST_MS:
            return None
    return moment


def zone_of(name: str) -> tzinfo:
    """The time zone of a name; UTC needs no data on time zones."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InputError(
            f"{name!r} is no time zone known here; write UTC or a name such as Europe/Rome "
            "(on systems without time zones, install the package tzdata)"
        ) from None


def _minute_of(local: datetime) -> int:
    return local.hour * 60 + local.minute


def _minute(text: str, hours: str, minutes: str) -> int:
    minute = int(hours) * 60 + int(minutes)
    if int(minutes) > 59 or minute > _DAY_MINUTES:
        raise InputError(f"{text!r}: no clock shows {hours}:{minutes}; write 00:00 to 24:00")
    return minute
