"""The maintenance process MP(proposer, ranker): which units are refreshed at an evaluation.

Importing the package registers every policy that it holds.
"""

from bestbefore.maintenance import proposers, rankers
from bestbefore.maintenance.candidates import CandidateSet, Moment, WindowUnits
from bestbefore.maintenance.ledger import Ledger
from bestbefore.maintenance.policy import Policy, policy_names, resolve_policy
from bestbefore.maintenance.process import Election, elect

__all__ = [
    "CandidateSet",
    "Election",
    "Ledger",
    "Moment",
    "Policy",
    "WindowUnits",
    "elect",
    "policy_names",
    "proposers",
    "rankers",
    "resolve_policy",
]
