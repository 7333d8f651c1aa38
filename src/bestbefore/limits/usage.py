"""What a service was asked lately and in all: frozen, small, and never less than the truth.

A request is *open* from its reservation until it is settled, then *landing* for a moment, and only
then counted as sent, at the end of that moment. So whatever happened between reservation and reply,
it counts when it was sent and a whole period after the service can have seen it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from bestbefore.limits.settings import PERIODS_MS, Limits, Rate

# A request that was given up may reach the service later than that, and clocks differ a little.
LANDING_MS = 1_000
# A period in so many parts: requests of one bucket leave together, when its newest has to.
_PARTS = 64


@dataclass(frozen=True, slots=True)
class Spent:
    """A number of requests and what they cost."""

    requests: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.requests + other.requests, self.cost + other.cost)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Requests that count as sent when the newest of them was."""

    newest_ms: int
    spent: Spent


@dataclass(frozen=True, slots=True)
class Reserved:
    """Requests that may be on their way, and the price of each."""

    number: int
    requests: int
    price: Decimal

    def spent(self, requests: int) -> Spent:
        """What some of its requests come to."""
        return Spent(requests, requests * self.price)


@dataclass(frozen=True, slots=True)
class Debt:
    """What a token bucket lacks to be full, in 1/period of a request, at a moment.

    It shrinks by `rate.requests` a millisecond: all of it is exact.
    """

    rate: Rate
    lacking: int
    at_ms: int

    def later(self, at_ms: int) -> "Debt":
        """The debt at a moment that is not before its own."""
        paid = self.rate.requests * max(0, at_ms - self.at_ms)
        return Debt(self.rate, max(0, self.lacking - paid), max(at_ms, self.at_ms))

    def more(self, requests: int) -> "Debt":
        """The debt after some more requests."""
        return replace(self, lacking=self.lacking + requests * self.rate.period_ms)


Buckets = tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of one service, as of `seen_ms`, when the wall clock showed `wall_ms`.

    `periods` has what was sent within each kind of period, whether or not it is limited now, so
    that limits may change from one run to the next. `total` is all that was ever settled.
    """

    seen_ms: int
    wall_ms: int
    reservations: int = 0
    total: Spent = field(default_factory=Spent)
    open: tuple[Reserved, ...] = ()
    landing: Buckets = ()
    periods: Mapping[str, Buckets] = field(default_factory=lambda: dict.fromkeys(PERIODS_MS, ()))
    debt: Debt | None = None

    @property
    def on_the_way(self) -> Spent:
        """What is open or landing, and counts in every period."""
        return _open(self) + _sum(self.landing)

    @property
    def ever(self) -> Spent:
        """All that was ever settled, and what is open."""
        return self.total + _open(self)

    def within(self, period: str) -> Spent:
        """What counts in the period that ends now."""
        return self.on_the_way + _sum(self.periods[period])


def advanced(usage: Usage, now_ms: int) -> Usage:
    """The usage at a moment: what has landed counts as sent, what is past its period is let go."""
    now_ms = max(now_ms, usage.seen_ms)
    periods, debt = dict(usage.periods), usage.debt
    landed = [one for one in usage.landing if one.newest_ms + LANDING_MS <= now_ms]
    for one in landed:
        moment = one.newest_ms + LANDING_MS
        if debt is not None:
            debt = debt.later(moment).more(one.spent.requests)
        for name, period_ms in PERIODS_MS.items():
            periods[name] = _with(periods[name], moment, one.spent, width_ms=period_ms // _PARTS)
    for name, period_ms in PERIODS_MS.items():
        periods[name] = tuple(one for one in periods[name] if one.newest_ms + period_ms >= now_ms)
    return replace(
        usage,
        seen_ms=now_ms,
        landing=usage.landing[len(landed) :],
        periods=periods,
        debt=debt.later(now_ms) if debt else None,
    )


def reserved(usage: Usage, requests: int, price: Decimal) -> tuple[Usage, Reserved]:
    """The usage with so many more requests open."""
    one = Reserved(usage.reservations + 1, requests, price)
    return replace(usage, reservations=one.number, open=(*usage.open, one)), one


def settled(usage: Usage, one: Reserved, sent: int, *, saved: Decimal = Decimal(0)) -> Usage:
    """The usage after a reservation of which so many requests were sent, now at the latest.

    `saved` is how much less than their price they did cost.
    """
    whole = one.spent(sent)
    spent = Spent(whole.requests, max(Decimal(0), whole.cost - saved))
    landing = _with(usage.landing, usage.seen_ms, spent, width_ms=LANDING_MS // _PARTS)
    return replace(
        usage,
        open=tuple(other for other in usage.open if other.number != one.number),
        landing=landing if sent else usage.landing,
        total=usage.total + spent,
    )


def restarted(usage: Usage, wall_ms: int, limits: Limits) -> Usage:
    """The usage that a new process goes on from: what was open may have been sent until now.

    The wall clock tells how much time has passed since it was last looked at: none, if it shows
    less than it did. All times are then counted from what it shows now.
    """
    passed_ms = max(0, wall_ms - usage.wall_ms)
    usage = _shifted(usage, wall_ms - usage.seen_ms - passed_ms)
    usage = replace(advanced(usage, wall_ms), wall_ms=wall_ms)
    for one in usage.open:
        usage = settled(usage, one, one.requests)
    return replace(usage, debt=_debt(usage, limits.bucket))


def _debt(usage: Usage, rate: Rate | None) -> Debt | None:
    """The debt of a rate's token bucket; one that is new lacks what was sent in its period."""
    if rate is None or (usage.debt is not None and usage.debt.rate == rate):
        return usage.debt if rate else None
    return Debt(rate, 0, usage.seen_ms).more(_sum(usage.periods[rate.name]).requests)


def _shifted(usage: Usage, by_ms: int) -> Usage:
    """The usage with all its times moved."""
    return replace(
        usage,
        seen_ms=usage.seen_ms + by_ms,
        landing=_moved(usage.landing, by_ms),
        periods={name: _moved(buckets, by_ms) for name, buckets in usage.periods.items()},
        debt=usage.debt and replace(usage.debt, at_ms=usage.debt.at_ms + by_ms),
    )


def _moved(buckets: Buckets, by_ms: int) -> Buckets:
    return tuple(Bucket(one.newest_ms + by_ms, one.spent) for one in buckets)


def _with(buckets: Buckets, moment: int, spent: Spent, *, width_ms: int) -> Buckets:
    """The buckets with something more, in the newest of them unless it would get too wide.

    Two in a row are wider than `width_ms`, so a period never has more than two per width.
    """
    if len(buckets) > 1 and moment - buckets[-2].newest_ms < width_ms:
        return (*buckets[:-1], Bucket(moment, buckets[-1].spent + spent))
    return (*buckets, Bucket(moment, spent))


def _open(usage: Usage) -> Spent:
    return sum((one.spent(one.requests) for one in usage.open), Spent())


def _sum(buckets: Iterable[Bucket]) -> Spent:
    return sum((one.spent for one in buckets), Spent())
