"""The maintenance process MP(proposer, ranker, replacement): which units are refreshed when.

Importing the package registers every policy that it holds.
"""

from bestbefore.maintenance import proposers, rankers, replacement
from bestbefore.maintenance.allocation import allowance, savings
from bestbefore.maintenance.candidates import CandidateSet, Moment, Oracle, Truth
from bestbefore.maintenance.election import Election, Situation, elect
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.policy_names import policy_names, resolve_policy
from bestbefore.maintenance.rankers.ranker import Need
from bestbefore.maintenance.step import (
    Ledger,
    MemoryLedger,
    Outcome,
    Reply,
    apply_outcome,
    maintain,
)
from bestbefore.maintenance.window_sets import WindowSets, window_sets
from bestbefore.maintenance.window_units import JoinKeys, Pairs, WindowUnits

__all__ = [
    "CandidateSet",
    "Election",
    "JoinKeys",
    "Ledger",
    "MemoryLedger",
    "Moment",
    "Need",
    "Oracle",
    "Outcome",
    "Pairs",
    "Policy",
    "Reply",
    "Situation",
    "Truth",
    "WindowSets",
    "WindowUnits",
    "allowance",
    "apply_outcome",
    "elect",
    "maintain",
    "policy_names",
    "proposers",
    "rankers",
    "replacement",
    "resolve_policy",
    "savings",
    "window_sets",
]
