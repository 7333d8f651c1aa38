"""The file of a ledger: one line of JSON with a checksum, whose size does not grow with use."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from bestbefore.limits.settings import PERIODS_MS, Rate
from bestbefore.limits.usage import Bucket, Buckets, Debt, Reserved, Spent, Usage
from bestbefore.sealed import check_format, seal, unseal

FORMAT = 2
_WAY_OUT = (
    "what the service was asked before is unknown: restore it from a copy, or remove it and let "
    "`bestbefore checkpoint repair` count from zero, if the service's limits allow that"
)


def write_usage(usage: Usage) -> bytes:
    """The content of a ledger's file."""
    debt = usage.debt
    content = {
        "format": FORMAT,
        "seen_ms": usage.seen_ms,
        "wall_ms": usage.wall_ms,
        "reservations": usage.reservations,
        "total": [usage.total.requests, str(usage.total.cost)],
        "open": [[one.number, one.requests, str(one.price)] for one in usage.open],
        "landing": _lists(usage.landing),
        "periods": {name: _lists(buckets) for name, buckets in usage.periods.items()},
        "debt": debt and [debt.rate.name, debt.rate.requests, debt.lacking, debt.at_ms],
    }
    return seal(content)


def read_usage(content: bytes, where: str) -> Usage:
    """The usage that was written; anything else is an error: counting must never start from zero.

    `where` is how a message names the file.
    """
    check_format(content, FORMAT, where, "use another ledger")
    return _usage(unseal(content, where, _WAY_OUT))


def _usage(fields: dict[str, Any]) -> Usage:
    debt = fields["debt"]
    return Usage(
        seen_ms=fields["seen_ms"],
        wall_ms=fields["wall_ms"],
        reservations=fields["reservations"],
        total=_spent(*fields["total"]),
        open=tuple(Reserved(number, n, Decimal(price)) for number, n, price in fields["open"]),
        landing=_buckets(fields["landing"]),
        periods={name: _buckets(fields["periods"][name]) for name in PERIODS_MS},
        debt=debt and Debt(Rate(debt[0], debt[1], PERIODS_MS[debt[0]]), debt[2], debt[3]),
    )


def _lists(buckets: Buckets) -> list[list[Any]]:
    return [[one.newest_ms, one.spent.requests, str(one.spent.cost)] for one in buckets]


def _buckets(lists: Sequence[Sequence[Any]]) -> Buckets:
    return tuple(Bucket(newest_ms, _spent(requests, cost)) for newest_ms, requests, cost in lists)


def _spent(requests: int, cost: str) -> Spent:
    return Spent(requests, Decimal(cost))
