"""What each limit leaves for now, given what was asked before, and which of them binds."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from math import inf

from bestbefore.limits.quiet import quiet_until_ms
from bestbefore.limits.settings import PERIODS_MS, Limits, Rate
from bestbefore.limits.usage import LANDING_MS, Usage

_DAY = "per_day"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The requests that one limit leaves for now, and when it leaves more.

    `more_at_ms` is None if it never does, or if that depends on requests that are on their way.
    """

    name: str
    left: int
    more_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """How many requests may be sent now, and if these are fewer than wanted, which limit bound.

    `retry_at_ms` is when that limit may grant more; None if it never does, if that depends on
    requests that are on their way, or if nothing bound.
    """

    requests: int
    bound_by: str | None = None
    retry_at_ms: int | None = None


def grant_of(ceilings: list[Ceiling], wanted: int) -> Grant:
    """What is granted under all limits: the least of them binds, of equals the longest."""
    if not ceilings:
        return Grant(wanted)
    lowest = min(ceilings, key=lambda one: (one.left, -(one.more_at_ms or inf)))
    if lowest.left >= wanted:
        return Grant(wanted)
    return Grant(max(0, lowest.left), lowest.name, lowest.more_at_ms)


def ceilings_of(usage: Usage, limits: Limits, *, wall_ms: int) -> list[Ceiling]:
    """What every limit leaves at the moment of a usage, when the clocks show `wall_ms`."""
    found = [*_in_all(usage, limits), *_by_period(usage, limits)]
    until_ms = quiet_until_ms(limits.quiet, wall_ms)
    if until_ms != wall_ms:
        found.append(Ceiling("quiet", 0, until_ms))
    return found


def _in_all(usage: Usage, limits: Limits) -> Iterator[Ceiling]:
    if limits.total is not None:
        yield Ceiling("total", limits.total - usage.ever.requests)
    if limits.cost_total is not None:
        yield Ceiling("cost_total", _affordable(limits, limits.cost_total - usage.ever.cost))


def _by_period(usage: Usage, limits: Limits) -> Iterator[Ceiling]:
    for rate in limits.rates:
        if rate == limits.bucket:
            yield _saved(usage, limits, rate)
        else:
            left = rate.requests - usage.within(rate.name).requests
            yield Ceiling(rate.name, left, _leaves_ms(usage, rate.name))
    if limits.cost_per_day is not None:
        left = _affordable(limits, limits.cost_per_day - usage.within(_DAY).cost)
        yield Ceiling("cost_per_day", left, _leaves_ms(usage, _DAY))


def _saved(usage: Usage, limits: Limits, rate: Rate) -> Ceiling:
    """What a token bucket holds."""
    lacking = usage.debt.lacking if usage.debt else 0
    full = (limits.burst or 0) - usage.on_the_way.requests
    left = (full * rate.period_ms - lacking) // rate.period_ms
    missing = lacking - (full - left - 1) * rate.period_ms
    wait_ms = -(-missing // rate.requests)
    return Ceiling(rate.name, left, usage.seen_ms + wait_ms if lacking else None)


def _leaves_ms(usage: Usage, period: str) -> int | None:
    """When the oldest requests no longer count in a period."""
    landed = (one.newest_ms for one in usage.periods[period])
    landing = (one.newest_ms + LANDING_MS for one in usage.landing)
    oldest_ms = next(chain(landed, landing), None)
    return None if oldest_ms is None else oldest_ms + PERIODS_MS[period] + 1


def _affordable(limits: Limits, money: Decimal) -> int:
    return int(money // limits.price) if money > 0 else 0
