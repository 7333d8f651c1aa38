"""The units of a local view as columns, one entry per unit."""

from dataclasses import dataclass, field, fields

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, Scores, grown, moved_up
from bestbefore.view.change_rates import NEED_STEP, NEEDS, ChangeRates

CHANGED = -(2**62)
"""The `refreshed_ms` of a unit that is known to have changed: whatever was fetched is too old."""

NEVER_RETRY = 2**62
"""The `retry_at` of a unit that can never be asked for."""
LONGEST_STEP = 1e150
"""No value is said to move or to be farther: the squares of all units together stay finite."""

# After so many evaluations, what was needed before them counts half.
_HALVED_EVERY = 512


class Needs:
    """How many units were needed at all, how often in all, and the sum of the squares of that.

    Kept as they change, so that nobody has to look at all units; as these are whole numbers, or
    halves of them, no order of changes makes a difference.
    """

    def __init__(self, needed: Numbers) -> None:
        self.units, self.sum = int(np.count_nonzero(needed)), float(needed.sum())
        self.squares = float(needed @ needed)

    def replace(self, before: Numbers, after: Numbers) -> None:
        """Some units were needed otherwise than before."""
        self.units += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        self.sum += float(after.sum()) - float(before.sum())
        self.squares += float(after @ after) - float(before @ before)


@dataclass(slots=True)
class Units:
    """What is known of each unit; unit numbers are positions in these columns.

    `row_start` and `row_count` point at the unit's rows, `refreshed_ms` is its last refresh,
    `best_before_ms` its τ and `interval_ms` its expected change interval I. `used_ms` is the last
    evaluation that needed it, `value` the number that a FILTER compares (NaN where there is none).
    A unit that is not `held` is known by its key, but the view has no rows of it. `failures` counts
    the requests for it that failed in a row; it is no candidate before the evaluation `retry_at`.
    `needed` counts the evaluations that needed it while it was held, `noted` tells that it is not
    what it was at the last commit. Of its value, `squares` adds up the squares of how far it moved
    from refresh to refresh in about `moves` changes, of which `rises` and `falls` were seen.
    `periodic` units change every I, and τ tells when; of the others `rates` tells what was learned.
    `watched` evaluations were counted in all, and `needs` sums up how often units were needed.
    """

    row_start: Integers
    row_count: Integers
    refreshed_ms: Integers
    best_before_ms: Integers
    interval_ms: Integers
    used_ms: Integers
    value: Numbers
    held: Booleans
    failures: Integers
    retry_at: Integers
    needed: Numbers
    noted: Booleans
    squares: Numbers
    moves: Numbers
    rises: Numbers
    falls: Numbers
    periodic: Booleans
    rates: ChangeRates | None = None
    watched: int = 0
    needs: "Needs" = field(init=False)

    def __post_init__(self) -> None:
        self.needs = Needs(self.needed)

    def __len__(self) -> int:
        return len(self.row_start)

    def fresh(self, units: Integers, t_ms: int) -> Booleans:
        """Which of some units are held and expected to be fresh: τ > t."""
        return self.held[units] & (self.best_before_ms[units] > t_ms)

    def fresh_probability(self, units: Integers, t_ms: int) -> Scores:
        """How probably what was fetched of units is still true at a time: 0 for what is not held.

        That of a unit whose rate λ is known is e^(−λ · age); where it is learned, the mean over
        all that it may be.
        """
        age_ms = np.maximum(t_ms - self.refreshed_ms[units], 0).astype(np.float64)
        if self.rates is None:
            probability = self.unchanged(units, age_ms)
        else:
            probability = self.rates.still_fresh(units, self.hints(units), age_ms)
        if self.periodic.any():
            certain = np.where(self.best_before_ms[units] > t_ms, 1.0, 0.0)
            probability = np.where(self.periodic[units], certain, probability)
        return np.where(self.held[units], probability, 0.0)

    def unchanged(self, units: Integers, age_ms: Numbers, hints: Numbers | None = None) -> Scores:
        """The probability that units do not change within an age each, at any time of theirs."""
        if self.rates is not None:
            hints = self.hints(units) if hints is None else hints
            return self.rates.fresh(units, hints, age_ms)
        return np.asarray(np.exp(-age_ms / self.interval_ms[units]), dtype=np.float64)

    def hints(self, units: Integers, need: Numbers | None = None) -> Numbers:
        """What is known of units besides their refreshes (see `ChangeRates`).

        Where it matters how often they were needed at another time, `need` tells it.
        """
        if self.rates is not None and self.rates.stated:
            return self.interval_ms[units].astype(np.float64)
        return self.need(units) if need is None else need

    def need(self, units: Integers) -> Numbers:
        """How many times as often as others units are needed: one of the logarithms `NEEDS`.

        Of a unit that is not held this is not known, and it is taken to be like the others.
        """
        mean = self.needs.sum / max(self.needs.units, 1)
        more = (self.needed[units] + 1.0) / (mean + 1.0)
        np.log(more, out=more)
        more /= NEED_STEP
        np.rint(more, out=more)
        more *= NEED_STEP
        np.maximum(more, NEEDS[0], out=more)
        np.minimum(more, NEEDS[-1], out=more)
        more[~self.held[units]] = 0.0
        return more

    @property
    def evaluations(self) -> float:
        """How many evaluations count when it is asked how often a unit is needed."""
        halvings, since = divmod(self.watched, _HALVED_EVERY)
        return since + _HALVED_EVERY * (1.0 - 0.5**halvings)

    def note_needed(self, units: Integers) -> None:
        """Count an evaluation, and that it needs some units."""
        self.watch(self.watched + 1)
        self.set_needed(units, self.needed[units] + 1.0)
        self.noted[units] = True

    def watch(self, evaluations: int) -> None:
        """Let so many evaluations be counted in all; what was long ago counts less."""
        halvings = evaluations // _HALVED_EVERY - self.watched // _HALVED_EVERY
        if halvings:
            self.needed *= 0.5**halvings
            self.needs = Needs(self.needed)
        self.watched = evaluations

    def set_needed(self, units: Integers, needed: Numbers) -> None:
        """Let units, each named once, have been needed so often."""
        self.needs.replace(self.needed[units], needed)
        self.needed[units] = needed

    def forget_needed(self, units: Integers) -> None:
        """Of units that are not held nothing is kept."""
        if len(units):
            self.set_needed(units, np.zeros(len(units)))

    def extend(self, count: int, *, interval_ms: int) -> None:
        """Add `count` units that the view does not hold."""
        first = len(self)
        for name in COLUMNS:
            setattr(self, name, grown(getattr(self, name), count))
        self.interval_ms[first:] = interval_ms
        self.value[first:] = np.nan

    def move_up(self, kept: Integers, first: int) -> None:
        """Drop the units from `first` on, but for some that move up in their order."""
        for name in COLUMNS:
            setattr(self, name, moved_up(getattr(self, name), kept, first))
        if self.rates is not None:
            self.rates.move_up(kept, first)


COLUMNS = tuple(
    column.name for column in fields(Units) if column.name not in {"rates", "watched", "needs"}
)
"""The names of the columns."""


def new_units(row_start: Integers, row_count: Integers, interval_ms: int) -> Units:
    """Held units that have not yet taken part in an evaluation."""
    size = len(row_start)
    none = np.zeros(size, dtype=np.int64)
    return Units(
        row_start=row_start,
        row_count=row_count,
        refreshed_ms=none.copy(),
        best_before_ms=none.copy(),
        interval_ms=np.full(size, interval_ms, dtype=np.int64),
        used_ms=none.copy(),
        value=np.full(size, np.nan),
        held=np.ones(size, dtype=np.bool_),
        failures=none.copy(),
        retry_at=none.copy(),
        needed=np.zeros(size),
        noted=np.zeros(size, dtype=np.bool_),
        squares=np.zeros(size),
        moves=np.zeros(size),
        rises=np.zeros(size),
        falls=np.zeros(size),
        periodic=np.zeros(size, dtype=np.bool_),
    )
