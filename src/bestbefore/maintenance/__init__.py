"""The maintenance process MP(proposer, ranker, replacement): which units are refreshed when.

Importing the package registers every policy that it holds.
"""

from bestbefore.maintenance import proposers, rankers, replacement
from bestbefore.maintenance.allocation import allowance, savings
from bestbefore.maintenance.candidates import CandidateSet, Moment, Oracle, Truth
from bestbefore.maintenance.ledger import Ledger
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.policy_names import policy_names, resolve_policy
from bestbefore.maintenance.process import Election, Situation, elect
from bestbefore.maintenance.rankers.ranker import Need
from bestbefore.maintenance.window_units import JoinKeys, Pairs, WindowUnits

__all__ = [
    "CandidateSet",
    "Election",
    "JoinKeys",
    "Ledger",
    "Moment",
    "Need",
    "Oracle",
    "Pairs",
    "Policy",
    "Situation",
    "Truth",
    "WindowUnits",
    "allowance",
    "elect",
    "policy_names",
    "proposers",
    "rankers",
    "replacement",
    "resolve_policy",
    "savings",
]
