"""How often units change, learned from the refreshes themselves."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bestbefore.arrays import (
    Booleans,
    Integers,
    Numbers,
    Scores,
    Weights,
    grown,
    moved_up,
    side_by_side,
)
from bestbefore.view.regular_changes import RegularChanges

_RATES = 16
# With this probability the rate of a unit is another since its last refresh.
_REDRAWN = 0.02
# What is believed of all units before any was refreshed: about one change in so many evaluations,
# worth so many units.
_FIRST_INTERVAL, _FIRST_UNITS = 4.0, 2.0
# A stated interval counts as much as so many changes.
_STATED_CHANGES = 8.0
# The lowest rate is so many times lower than the next: what never changes has to be told apart.
_NEXT_TO_NEVER = 30.0
# A fit looks at all units, and changes little when little was learned: it is due after one refresh
# per so many units, and per so many of those that were refreshed before.
_FITTED_EVERY, _LEARNED_EVERY = 4_096, 128
_FITS, _SAMPLE = 3, 1_024
# From one rate of the grid to the next, how much more common it is among units needed e times as
# often is a number (as a logarithm) that is expected to be about so large, either way. Where rates
# differ by a factor of four or so, such units then change about twice as often, or half as often.
_LEANING = 0.2
# So many rows stay in the processor's cache.
_CHUNK, _REGULAR_CHUNK = 16_384, 2_048
# However unlikely, no rate is impossible: what is believed and what was seen would exclude each
# other, and nothing would be left.
_LEAST = 1e-12
_STEPS = np.arange(_RATES) - (_RATES - 1) / 2
_WHOLE_AND_STEPS = np.stack([np.ones(_RATES), _STEPS], axis=1)
_STEPS_AND_SQUARES = np.stack([_STEPS, _STEPS**2], axis=1)
NEED_STEP = 0.25
NEEDS: Numbers = np.linspace(-4.0, 4.0, 33)
"""How many times as often as others a unit can be needed, as logarithms: these are told apart."""
_TILTS = np.outer(NEEDS, _STEPS)
ONES = np.ones(_RATES, dtype=np.float32)
"""What a posterior is multiplied with to add it up."""


class ChangeRates:
    """What the refreshes so far say of each unit's change rate: a posterior over a grid of rates.

    Changes are taken for a Poisson process: a refresh after a time a finds a change with
    probability 1 − e^(−λa). How often a unit changed in between is not seen, so counting changes
    per refresh would make rates too low; the likelihood does not. `likelihood` has a row per unit
    and a column per rate of the grid, which spans from a tenth of the window's slide to a thousand
    of its widths, and next to never; the likeliest rate of a unit has 1.

    A unit of which little is known is taken to be like the others: `prior` is the distribution of
    rates over the units, fitted to what was seen of them (empirical Bayes). It may have several
    peaks, as where most units hardly ever change. Those refreshed are not like the others, for they
    are needed more often: so the prior is that of units needed as often as most, and `lean` says
    how much more common faster rates are among those needed more, as far as that shows in the
    refreshes. `need` is how often each unit was needed by its last one. `stated` says that the user
    states intervals: then they take the place of the prior.

    What is known of units besides their refreshes is a `hint` of each: the interval that is stated
    or, where none is, how often it is needed (`Units.need`).

    `regular` knows the units whose changes are no Poisson process but come at regular intervals.
    It has a say as soon as it is sure that there are such units, and where nothing is stated.
    """

    def __init__(self, units: int, *, width_ms: int, slide_ms: int, stated: bool = False) -> None:
        shortest_ms, longest_ms = max(1.0, slide_ms / 10), 1_000.0 * max(width_ms, slide_ms)
        rate = np.geomspace(1 / longest_ms, 1 / shortest_ms, _RATES - 1)
        self.rate = np.concatenate([[rate[0] / _NEXT_TO_NEVER], rate])
        self._rate: Weights = self.rate.astype(np.float32)
        self._log_rate: Weights = np.log(self.rate).astype(np.float32)
        self.stated = stated
        self.likelihood: Weights = np.ones((units, _RATES), dtype=np.float32)
        expected = self.rate * slide_ms * _FIRST_INTERVAL
        first = expected * np.exp(-expected)
        self._first: Numbers = first / first.sum()
        self.prior: Numbers = self._first + _LEAST
        self.lean = 0.0
        self.need: Weights = np.zeros(units, dtype=np.float32)
        # Refreshes since the prior was fitted, and the units that had been refreshed by then.
        self.unfitted, self.fitted = 0, 0
        self._tilted = _Tilted(self.prior, self.lean)
        self.regular = RegularChanges(units, 1.0 / self.rate, self._first)

    def observe(
        self,
        units: Integers,
        hint: Numbers,
        age_ms: Integers,
        changed: Booleans,
        since_ms: Integers | None = None,
    ) -> None:
        """Take in that units, last refreshed `age_ms` ago, were found changed or not.

        Where it is known that a unit has last changed `since_ms` ago (−1 where it is not), that is
        what is observed: a change then, λ, and none since, e^(−λ · since).

        What is known of a unit is how much more probable than before each rate has become. Now and
        then its rate is drawn anew, so that this never goes to nothing, and a burst is followed.
        """
        aged = np.maximum(age_ms, 1).astype(np.float64)
        expected = aged[:, None] * self.rate
        # To have stayed is least unlikely at the lowest rate; what counts is how much less so.
        stayed = np.exp(expected[:, :1] - expected)
        said = np.where(changed[:, None], -np.expm1(-expected), stayed)
        scale = np.where(changed, 0.0, -expected[:, 0])
        if since_ms is not None and (known_when := changed & (since_ms >= 0)).any():
            rest = np.outer(np.maximum(since_ms[known_when], 0), self.rate)
            said[known_when] = self.rate / self.rate[-1] * np.exp(rest[:, :1] - rest)
        if not self.stated:
            self.need[units] = hint
        before = self._before(hint).astype(np.float64)
        known = self.likelihood[units].astype(np.float64)
        whole = (known * before).sum(axis=1, keepdims=True)
        known = ((1 - _REDRAWN) * known / whole + _REDRAWN) * said
        most = known.max(axis=1, keepdims=True)
        self.likelihood[units] = known / most
        scale += np.log(whole * most)[:, 0]
        self.regular.observe(units, aged, changed, at_random=scale, since_ms=since_ms)
        self.unfitted += len(units)
        due = max(len(self.likelihood) / _FITTED_EVERY, self.fitted / _LEARNED_EVERY)
        if self.unfitted >= due:
            self._fit()

    def _fit(self) -> None:
        """Let the prior be what the units that were refreshed are like, or a sample of them."""
        seen = np.flatnonzero(self.likelihood[:, 0] != self.likelihood[:, -1])
        self.unfitted, self.fitted = 0, len(seen)
        seen = seen[:: -(-len(seen) // _SAMPLE)]
        likelihood, level = self.likelihood[seen].astype(np.float64), _levels(self.need[seen])
        need, units = NEEDS[level], np.bincount(level, minlength=len(NEEDS))
        for _ in range(_FITS):
            self._fit_once(likelihood, level, need, units)
        at_random = np.einsum("ur,ur->u", likelihood, self._by_need().numbers[level])
        self.regular.fit(seen, at_random, times=_FITS)

    def _fit_once(
        self, likelihood: Numbers, level: Integers, need: Numbers, units: Integers
    ) -> None:
        """One step of expectation maximisation for the prior, and of Newton's for its lean."""
        before = self._by_need().numbers
        weight = before[level]
        weight *= likelihood
        whole, steps = (weight @ _WHOLE_AND_STEPS).T
        mean, square = (before @ _STEPS_AND_SQUARES).T
        needed = units * NEEDS
        slope = need @ (steps / whole) - needed @ mean - self.lean / _LEANING**2
        bend = needed * NEEDS @ (square - mean**2) + 1 / _LEANING**2
        found = 1.0 / whole @ weight + _FIRST_UNITS * self._first
        found /= units @ (before / self.prior) + _FIRST_UNITS
        # Rounded, so that it does not depend on the order of the units.
        self.lean = round(self.lean + float(slope / bend), 12)
        self.prior = np.round(found / found.sum(), 12) + _LEAST

    @property
    def tells_regular(self) -> bool:
        """Whether there are units that change at regular intervals."""
        return self.regular.found and not self.stated

    def with_regular(
        self, units: Integers, hint: Numbers, at_random: Scores, regular: Callable[[slice], Scores]
    ) -> Scores:
        """What is expected of units, whose entries come last, given what is in either case.

        `regular` tells it of a slice of units if they change at regular intervals.
        """
        for first in range(0, len(units) if self.tells_regular else 0, _REGULAR_CHUNK):
            part = slice(first, first + _REGULAR_CHUNK)
            weight = self.likelihood.take(units[part], axis=0) * self._before(hint[part])
            share = self.regular.regularity(units[part], weight @ ONES)
            at_random[..., part] += share * (regular(part) - at_random[..., part])
        return at_random

    def still_fresh(self, units: Integers, hint: Numbers, age_ms: Numbers) -> Scores:
        """The probability that units did not change since their last refresh, an age ago."""
        found = self.fresh(units, hint, age_ms)
        return self.with_regular(
            units, hint, found, lambda part: self.regular.fresh(units[part], age_ms[part])
        )

    def weights(self, units: Integers, hint: Numbers) -> Iterator[tuple[slice, Weights]]:
        """The posterior of units, a slice of them at a time, but for a factor of each unit."""
        for part, likelihood in self._likelihood(units):
            yield part, likelihood * self._before(hint[part])

    def _likelihood(self, units: Integers) -> Iterator[tuple[slice, Weights]]:
        for first in range(0, len(units), _CHUNK):
            part = slice(first, first + _CHUNK)
            chosen = units[part]
            rows = side_by_side(chosen) if (chosen[1:] > chosen[:-1]).all() else chosen
            near = isinstance(rows, slice)
            yield part, self.likelihood[rows] if near else self.likelihood.take(chosen, axis=0)

    def _before(self, hint: Numbers) -> Weights:
        """What is believed of units before they were refreshed; it adds up to one."""
        if not self.stated:
            return self._leaning(hint)
        expected = np.outer(hint, self.rate)
        log = _STATED_CHANGES * (np.log(expected) - expected)
        weight = np.exp(log - log.max(axis=1, keepdims=True)) + _LEAST
        return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float32)

    def _leaning(self, need: Numbers) -> Weights:
        """The prior of units that are needed so often."""
        return self._by_need().weights[_levels(need)]

    def _by_need(self) -> "_Tilted":
        """The prior of units by how often they are needed: there are few ways to be."""
        if self._tilted.prior is not self.prior or self._tilted.lean != self.lean:
            self._tilted = _Tilted(self.prior, self.lean)
        return self._tilted

    def fresh(self, units: Integers, hint: Numbers, age_ms: Numbers) -> Scores:
        """The probability that units do not change within an age each, at any time of theirs."""
        found = np.empty(len(units))
        for part, weight in self.weights(units, hint):
            unchanged = np.exp(-age_ms[part].astype(np.float32)[:, None] * self._rate)
            found[part] = np.einsum("ur,ur->u", weight, unchanged) / (weight @ ONES)
        return np.minimum(found, 1.0)

    def mean(self, units: Integers, hint: Numbers) -> Scores:
        """The expected changes per millisecond of units."""
        found = np.empty(len(units))
        for part, weight in self.weights(units, hint):
            found[part] = (weight @ self._rate) / (weight @ ONES)
        return found

    def mean_at_most(self, units: Integers) -> Scores:
        """What no mean is above, at less cost; where intervals are stated, the highest rate.

        A prior that leans more to faster rates makes every mean higher: that of one need does for
        units of every need.
        """
        if self.stated:
            return np.full(len(units), self.rate[-1])
        before = np.exp(abs(self.lean) * NEEDS[-1] * _STEPS) * self.prior
        before, changes = (each.astype(np.float32) for each in (before, before * self.rate))
        found = np.empty(len(units))
        for part, likelihood in self._likelihood(units):
            found[part] = (likelihood @ changes) / (likelihood @ before)
        return found

    def interval_ms(self, units: Integers) -> Integers:
        """The change interval of units: one over the geometric mean of the rate's posterior.

        Where every refresh found a change the rate may be anything above; its logarithm is tamer.
        """
        found = np.empty(len(units))
        for part, weight in self.weights(units, self.need[units].astype(np.float64)):
            found[part] = (weight @ self._log_rate) / (weight @ ONES)
        return np.asarray(np.maximum(1, np.round(np.exp(-found))), dtype=np.int64)

    def extend(self, count: int) -> None:
        """Make room for more units, of which nothing is known."""
        self.likelihood = grown(self.likelihood, count)
        self.likelihood[len(self.likelihood) - count :] = 1.0
        self.need = grown(self.need, count)
        self.regular.extend(count)

    def move_up(self, kept: Integers, first: int) -> None:
        """Forget the units from `first` on, but for some that move up in their order."""
        self.likelihood = moved_up(self.likelihood, kept, first)
        self.need = moved_up(self.need, kept, first)
        self.regular.move_up(kept, first)

    def learned(self, units: Integers | Booleans) -> Weights:
        """All that is known of units, a row each, to be kept."""
        return np.hstack([part[units] for part in self._parts()])

    def restore(self, units: Integers, learned: Weights) -> None:
        """Know of units again what was kept."""
        ends = np.cumsum([part.shape[1] for part in self._parts()])
        for part, columns in zip(self._parts(), np.split(learned, ends[:-1], axis=1), strict=True):
            part[units] = columns

    def _parts(self) -> tuple[Weights, ...]:
        return self.likelihood, self.need[:, None], self.regular.likelihood, self.regular.track

    @property
    def population(self) -> Mapping[str, Any]:
        """All that is known of the units together, to be kept."""
        return {
            "unfitted": self.unfitted,
            "fitted": self.fitted,
            "rates": self.prior.tolist(),
            "lean": self.lean,
            "periods": self.regular.prior.tolist(),
            "share": self.regular.share,
            "found": self.regular.found,
        }

    def restore_population(self, kept: Mapping[str, Any]) -> None:
        """Know of the units together again what was kept."""
        self.unfitted, self.fitted = kept["unfitted"], kept.get("fitted", 0)
        self.prior = np.array(kept["rates"])
        self.lean = kept["lean"]
        self.regular.prior = np.array(kept["periods"])
        self.regular.share, self.regular.found = kept["share"], kept["found"]


class _Tilted:
    """A prior that leans, for units of every need: a row for each of `NEEDS`."""

    def __init__(self, prior: Numbers, lean: float) -> None:
        self.prior, self.lean = prior, lean
        tilted = np.exp(lean * _TILTS) * prior
        self.numbers: Numbers = tilted / tilted.sum(axis=1, keepdims=True)
        self.weights: Weights = self.numbers.astype(np.float32)


def _levels(need: Numbers | Weights) -> Integers:
    """The places of needs among `NEEDS`."""
    return np.asarray((need - NEEDS[0]) / NEED_STEP, dtype=np.int64)
