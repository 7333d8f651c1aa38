"""The maintenance process MP(proposer, ranker, replacement): which units are refreshed when.

Importing the package registers every policy that it holds.
"""

from bestbefore.maintenance import rankers, replacement
from bestbefore.maintenance.candidates import Moment
from bestbefore.maintenance.election import Situation, elect
from bestbefore.maintenance.event_clock import EventClock, event_clock
from bestbefore.maintenance.outcome import Asked, Outcome, Reply
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.policy_names import policy_names, resolve_policy
from bestbefore.maintenance.rankers.ranker import Need
from bestbefore.maintenance.step import MemoryLedger, apply_outcome, lift_of, maintain, seen_by
from bestbefore.maintenance.window_sets import WindowSets, window_sets
from bestbefore.maintenance.window_units import WindowUnits, together

__all__ = [
    "Asked",
    "EventClock",
    "MemoryLedger",
    "Moment",
    "Need",
    "Outcome",
    "Policy",
    "Reply",
    "Situation",
    "WindowSets",
    "WindowUnits",
    "apply_outcome",
    "elect",
    "event_clock",
    "lift_of",
    "maintain",
    "policy_names",
    "rankers",
    "replacement",
    "resolve_policy",
    "seen_by",
    "together",
    "window_sets",
]
