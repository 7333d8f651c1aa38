"""The series of a run: what came of each evaluation, as columns."""

from dataclasses import dataclass, fields

import numpy as np

from bestbefore.arrays import Integers, Numbers
from bestbefore.maintenance import Outcome
from bestbefore.simulator.answers import Tally


@dataclass(frozen=True, slots=True)
class Series:
    """Columns with an entry per evaluation; the columns of `sets` are A to G.

    `estimated` is NaN where an evaluation has no answer. `saved` is the budget left to later
    evaluations, borrowed from them if negative.
    """

    candidates: Integers
    refreshes: Integers
    evicted: Integers
    saved: Integers
    correct: Numbers
    wrong: Numbers
    missing: Numbers
    union: Numbers
    estimated: Numbers
    sets: Integers

    def note(self, position: int, outcome: Outcome, tally: Tally) -> None:
        """Enter an evaluation."""
        self.candidates[position] = outcome.candidates
        self.refreshes[position] = len(outcome.elected)
        self.evicted[position] = len(outcome.evicted)
        self.saved[position] = outcome.saved
        self.correct[position], self.wrong[position] = tally.correct, tally.wrong
        self.missing[position], self.union[position] = tally.missing, tally.union
        self.estimated[position] = tally.estimated
        sets = outcome.sets
        self.sets[position] = (sets.a, sets.b, sets.c, sets.d, sets.e, sets.f, sets.g)

    @property
    def freshness(self) -> Numbers:
        """X/(X+Y) per evaluation, NaN without answers."""
        return _ratio(self.correct, self.correct + self.wrong)

    @property
    def completeness(self) -> Numbers:
        """(X+Y)/(X+Y+Z) per evaluation, NaN where nothing is due."""
        given = self.correct + self.wrong
        return _ratio(given, given + self.missing)

    @property
    def consistency(self) -> Numbers:
        """X/(X+Y+Z) per evaluation, NaN where nothing is due."""
        return _ratio(self.correct, self.correct + self.wrong + self.missing)

    @property
    def jaccard(self) -> Numbers:
        """The Jaccard distance of the answer sets per evaluation; two empty sets are equal."""
        return np.nan_to_num(1.0 - _ratio(self.correct, self.union), nan=0.0)

    def from_(self, position: int) -> "Series":
        """The evaluations from a position on: without the warm-up."""
        return Series(*(getattr(self, each.name)[position:] for each in fields(self)))


def empty_series(evaluations: int) -> Series:
    """A series to be filled."""
    return Series(
        candidates=np.zeros(evaluations, dtype=np.int64),
        refreshes=np.zeros(evaluations, dtype=np.int64),
        evicted=np.zeros(evaluations, dtype=np.int64),
        saved=np.zeros(evaluations, dtype=np.int64),
        correct=np.zeros(evaluations),
        wrong=np.zeros(evaluations),
        missing=np.zeros(evaluations),
        union=np.zeros(evaluations),
        estimated=np.zeros(evaluations),
        sets=np.zeros((evaluations, 7), dtype=np.int64),
    )


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    ratio = np.full(len(part), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
