"""Limits on what a service is asked, kept whatever crashes, waits or asks at the same time.

settings (what may be asked) + usage (what was asked) ─► ceilings ─► grant
                 usage ◄─► ledger_file            └───── ledger ─────┘◄── account (of a SERVICE)
"""

from bestbefore.limits.account import Affordable, RequestAccount, Spending
from bestbefore.limits.batches import requests_for, units_for
from bestbefore.limits.ceilings import Ceiling, Grant
from bestbefore.limits.clock import steady_clock
from bestbefore.limits.ledger import Ledgers, RequestLedger, Reservation
from bestbefore.limits.quiet import QuietSpan, parse_quiet
from bestbefore.limits.settings import NO_LIMITS, Limits, Rate

__all__ = [
    "NO_LIMITS",
    "Affordable",
    "Ceiling",
    "Grant",
    "Ledgers",
    "Limits",
    "QuietSpan",
    "Rate",
    "RequestAccount",
    "RequestLedger",
    "Reservation",
    "Spending",
    "parse_quiet",
    "requests_for",
    "steady_clock",
    "units_for",
]
