"""The limits on what a service is asked: requests by time and in all, money, and quiet hours."""

from dataclasses import dataclass, fields, replace
from decimal import Decimal

from bestbefore.errors import InputError
from bestbefore.limits.quiet import QuietSpan

_SECOND_MS, _DAY_MS = 1_000, 86_400_000
# A month is 31 days and a day 24 hours, whenever they begin: that also holds for the calendar's.
PERIODS_MS = {
    "per_minute": 60 * _SECOND_MS,
    "per_hour": 3_600 * _SECOND_MS,
    "per_day": _DAY_MS,
    "per_month": 31 * _DAY_MS,
}
_WHOLE = (
    "requests_per_evaluation",
    "units_per_evaluation",
    "per_second",
    *PERIODS_MS,
    "total",
    "burst",
)
_MONEY = ("cost_per_request", "cost_per_day", "cost_total")


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `requests` within any `period_ms`, under the name that it has in a job file."""

    name: str
    requests: int
    period_ms: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be asked of one service; what is None is not limited.

    The limits per minute, hour, day and month hold for any period of that length, not only for
    those of the calendar. `per_second` is kept by the client, which spreads the requests of an
    evaluation over as many seconds as they need; it does not limit how many these are.

    Without `burst` a rate is a sliding window: `per_minute` = 60 is 60 requests in any minute. With
    it the finest rate is a token bucket of that capacity: what a quiet time leaves unused is saved
    up to `burst` and never beyond, so any time T sees at most `burst` + T · rate requests.

    A request that is answered by saying that nothing has changed costs `not_modified_cost`, if that
    is given.
    """

    requests_per_evaluation: int | None = None
    units_per_evaluation: int | None = None
    per_second: int | None = None
    per_minute: int | None = None
    per_hour: int | None = None
    per_day: int | None = None
    per_month: int | None = None
    total: int | None = None
    burst: int | None = None
    cost_per_request: Decimal | None = None
    cost_per_day: Decimal | None = None
    cost_total: Decimal | None = None
    not_modified_cost: Decimal | None = None
    quiet: tuple[QuietSpan, ...] = ()

    def __post_init__(self) -> None:
        for name in (*_WHOLE, *_MONEY):
            value = getattr(self, name)
            if value is not None and not (Decimal(value).is_finite() and value > 0):
                raise InputError(f"{name} = {value}: it must be more than 0; leave it out for none")
        self._check_money()
        if self.burst is not None and self.bursting is None:
            raise InputError(
                f"burst = {self.burst} saves up what a rate leaves unused, and there is none: add "
                "per_second, per_minute, per_hour, per_day or per_month"
            )

    def _check_money(self) -> None:
        less, price = self.not_modified_cost, self.cost_per_request
        if less is not None and (price is None or not 0 <= less <= price):
            raise InputError(
                f"not_modified_cost = {less} must be between 0 and cost_per_request = {price}"
            )
        for name in ("cost_per_day", "cost_total"):
            most, price = getattr(self, name), self.cost_per_request
            if most is not None and price is None:
                raise InputError(f"{name} = {most} needs to know what a request costs: add "
                                 "cost_per_request")  # fmt: skip
            if most is not None and price is not None and price > most:
                raise InputError(
                    f"{name} = {most} pays for no request at cost_per_request = {price}: raise it, "
                    "or leave the service out"
                )

    @property
    def saved_by_not_modified(self) -> Decimal:
        """How much less a request costs that finds nothing changed."""
        less = self.not_modified_cost
        return Decimal(0) if less is None else self.price - less

    @property
    def rates(self) -> tuple[Rate, ...]:
        """The rates that the ledger keeps, the finest first."""
        given = ((name, getattr(self, name), ms) for name, ms in PERIODS_MS.items())
        return tuple(Rate(name, most, ms) for name, most, ms in given if most is not None)

    @property
    def bursting(self) -> str | None:
        """The finest rate, the one that `burst` is for; None without any."""
        if self.per_second is not None:
            return "per_second"
        return self.rates[0].name if self.rates else None

    @property
    def bucket(self) -> Rate | None:
        """The rate that the ledger keeps as a token bucket, if there is one."""
        rates = self.rates if self.burst is not None and self.per_second is None else ()
        return rates[0] if rates else None

    @property
    def price(self) -> Decimal:
        """What one request costs."""
        return self.cost_per_request or Decimal(0)

    @property
    def lasting(self) -> bool:
        """Whether there is a limit that a ledger has to keep over evaluations."""
        in_all = (self.total, self.cost_per_day, self.cost_total)
        return bool(self.rates or self.quiet) or any(most is not None for most in in_all)

    @property
    def shared(self) -> "Limits":
        """The limits without those that every SERVICE has for itself."""
        return replace(self, requests_per_evaluation=None, units_per_evaluation=None)

    def given(self) -> dict[str, str]:
        """The limits there are, by name and as people write them."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        found["quiet"] = ", ".join(map(str, self.quiet)) or None
        return {name: str(value) for name, value in found.items() if value is not None}


NO_LIMITS = Limits()
