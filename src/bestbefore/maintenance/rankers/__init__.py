"""Rankers: they elect, from the candidate set C, the units to refresh now.

A ranker is a frozen dataclass of its parameters, registered under the papers' name. Most score
the candidates, and the highest scores are elected; some elect a set as a whole. Every module of
this package is imported, so a new policy is one new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from bestbefore.maintenance.rankers.ranker import (
    NEVER,
    Elector,
    Ranker,
    Scorer,
    elects,
    rankers,
    ranks_missing,
    scores,
)

__all__ = [
    "NEVER",
    "Elector",
    "Ranker",
    "Scorer",
    "elects",
    "rankers",
    "ranks_missing",
    "scores",
]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
