"""One step of the maintenance process: propose, rank, elect."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.maintenance.candidates import CandidateSet, Integers, Moment, WindowUnits
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.rankers import elect_highest


class Units(Protocol):
    """The columns of the local view that policies look at, one entry per unit."""

    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers


@dataclass(frozen=True, slots=True)
class Election:
    """The candidate set C and the elected set E ⊆ C of one evaluation, as unit numbers."""

    candidates: Integers
    elected: Integers


def elect(
    policy: Policy,
    units: Units,
    window: WindowUnits,
    *,
    moment: Moment,
    budget: int,
    rng: np.random.Generator,
) -> Election:
    """Elect at most `budget` units of the view for a refresh at `moment`."""
    proposed = policy.proposer(len(units.refreshed_ms), window)
    if budget <= 0 or not len(proposed):
        return Election(proposed, np.empty(0, dtype=np.int64))
    candidates = describe(units, proposed, window)
    scores = policy.ranker.score(candidates, moment)
    positions = elect_highest(scores, budget=budget, rng=rng)
    return Election(proposed, proposed[positions])


def describe(units: Units, proposed: Integers, window: WindowUnits) -> CandidateSet:
    """The columns of the proposed units; one that the window does not need has L = c = 0."""
    return CandidateSet(
        unit=proposed,
        refreshed_ms=units.refreshed_ms[proposed],
        best_before_ms=units.best_before_ms[proposed],
        interval_ms=units.interval_ms[proposed],
        remaining=_spread(window.remaining, proposed, window, len(units.refreshed_ms)),
        mappings=_spread(window.mappings, proposed, window, len(units.refreshed_ms)),
    )


def _spread(column: Integers, proposed: Integers, window: WindowUnits, size: int) -> Integers:
    if proposed is window.unit:
        return column
    whole = np.zeros(size, dtype=np.int64)
    whole[window.unit] = column
    return np.asarray(whole[proposed])
