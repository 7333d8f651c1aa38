"""The limits of a service in a job file: its own, and those of `[budget]` that it has none for."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from bestbefore.errors import InputError, JobError, excerpt
from bestbefore.job.sections import Section, located
from bestbefore.limits import Limits, QuietSpan, parse_quiet

T = TypeVar("T")
_COUNTS = (
    "requests_per_evaluation",
    "units_per_evaluation",
    "per_second",
    "per_minute",
    "per_hour",
    "per_day",
    "per_month",
    "total",
    "burst",
)
_MONEY = ("cost_per_request", "cost_per_day", "cost_total")


@dataclass(frozen=True)
class _Given:
    """A service's own section over that of the whole job, key by key."""

    own: Section
    shared: Section

    def read(self, key: str, how: Callable[[Section, str], T | None]) -> T | None:
        """The value of a key; both sections get to know it."""
        found = [how(section, key) for section in (self.own, self.shared)]
        return next((value for value in found if value is not None), None)


def read_limits(own: Section, budget: Section, base: Path) -> tuple[Limits, str | None]:
    """The limits of a service, and the folder of its ledger if it is not in the checkpoint."""
    given = _Given(own, budget)
    found: dict[str, Any] = {key: given.read(key, Section.optional_integer) for key in _COUNTS}
    found.update((key, given.read(key, _money)) for key in _MONEY)
    found["not_modified_cost"] = given.read("not_modified_cost", _money_or_nothing)
    found["quiet"] = given.read("quiet", _quiet) or ()
    ledger = located(base, given.read("ledger", Section.text))
    own.finish()
    try:
        return Limits(**found), ledger
    except InputError as error:
        raise JobError(f"{own.name}: {error}") from None


def _money_or_nothing(section: Section, key: str) -> Decimal | None:
    """An amount that may be 0."""
    return Decimal(0) if section.value(key) in (0, "0") else _money(section, key)


def _money(section: Section, key: str) -> Decimal | None:
    """An amount, as exact as it is written: a number, or a string with one."""
    value = section.value(key)
    if value is None:
        return None
    try:
        amount = Decimal(str(value))
    except (ArithmeticError, ValueError):
        amount = Decimal(0)
    if isinstance(value, bool) or not amount.is_finite() or amount <= 0:
        raise JobError(
            f"{section.name}.{key} = {excerpt(value)}: it must be an amount of more than 0"
        )
    return amount


def _quiet(section: Section, key: str) -> tuple[QuietSpan, ...] | None:
    texts = section.texts(key)
    try:
        return None if texts is None else tuple(map(parse_quiet, texts))
    except InputError as error:
        raise JobError(f"{section.name}.{key}: {error}") from None
