"""Units whose changes come at regular intervals, found out from the refreshes themselves."""

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, Scores, Weights, grown, moved_up

# With this probability the period of a unit is another since its last refresh, or a change comes
# out of turn.
_REDRAWN, _OUT_OF_TURN = 0.02, 0.02
# What is believed before any unit was refreshed: such a share is regular, worth so many units.
_FIRST_SHARE, _FIRST_UNITS = 0.1, 2.0
# Units count as regular where all of them together are so many times (e^3) more probable then.
_CONVINCED = 3.0
_MOST_ODDS = 10.0
# Periods that fewer units have are left out of what is to come.
_RARE = 0.01
_LEAST = 1e-12
_ODDS, _QUIET, _SPAN = range(3)


class RegularChanges:
    """What the refreshes say of each unit's period, if it changes at regular intervals.

    A period lies anywhere in one of the cells of a grid: `likelihood` has a row per unit and a
    column per cell. Phases follow from the last change that was found: `track` has how long before
    its last refresh a unit is known not to have changed, within what span before that it has, and
    how much more probable (as a logarithm) all that was seen of it is than with changes at random.

    The next change is a renewal: with S(x) the probability that a period is longer than x, and a
    last change somewhere in a span before the time 0, there is none up to x with a probability in
    proportion to ∫ S(x + u) du over the span. `share` is that of the units that are regular; it is
    learned, like the distribution of their periods. `found` says that what was seen proves it.
    """

    def __init__(self, units: int, period_ms: Numbers, first: Numbers) -> None:
        between = np.sqrt(period_ms[:-1] * period_ms[1:])
        outer = period_ms[[0, -1]] ** 2 / between[[0, -1]]
        self._edges = np.concatenate([outer[:1], between, outer[1:]])
        self._first = first
        self.prior: Numbers = first + _LEAST
        self.share, self.found = _FIRST_SHARE, False
        self.likelihood: Weights = np.ones((units, len(period_ms)), dtype=np.float32)
        self.track: Weights = np.zeros((units, 3), dtype=np.float32)
        self.lose_track(np.arange(units))

    def observe(
        self,
        units: Integers,
        age_ms: Numbers,
        changed: Booleans,
        *,
        at_random: Scores,
        since_ms: Integers | None = None,
    ) -> None:
        """Take in that units were found changed or not, as `ChangeRates` does.

        `at_random` is by how much, as a logarithm, the likelihood that `ChangeRates` keeps of each
        unit was scaled.
        """
        track = self.track[units]
        stayed = self._stayed(track, age_ms, slice(0, len(self.prior)))
        stayed = _OUT_OF_TURN / 2 + (1 - _OUT_OF_TURN) * stayed
        said = np.where(changed[:, None], 1.0 - stayed, stayed)
        known = self.likelihood[units].astype(np.float64)
        whole = known @ self.prior
        known = ((1 - _REDRAWN) * known / whole[:, None] + _REDRAWN) * said
        most = known.max(axis=1)
        self.likelihood[units] = known / most[:, None]
        more = np.log(whole * most) - at_random
        quiet = np.where(changed, 0.0, track[:, _QUIET] + age_ms)
        span = np.where(changed, age_ms, track[:, _SPAN])
        if since_ms is not None:
            when = changed & (since_ms >= 0)
            more[when] = 0.0
            quiet, span = np.where(when, since_ms, quiet), np.where(when, 1.0, span)
        odds = (1 - _REDRAWN) * track[:, _ODDS] + more
        track[:, _ODDS] = np.minimum(np.maximum(odds, -_MOST_ODDS), _MOST_ODDS)
        track[:, _QUIET], track[:, _SPAN] = quiet, span
        self.track[units] = track

    def lose_track(self, units: Integers) -> None:
        """When units have last changed is not known any more."""
        self.track[units, _QUIET], self.track[units, _SPAN] = 0.0, np.inf

    def fit(self, seen: Integers, at_random: Scores, *, times: int) -> None:
        """Let share and prior be what units that were refreshed are like, a bit closer each time.

        `at_random` is as for `regularity`.
        """
        likelihood = self.likelihood.take(seen, axis=0).astype(np.float64)
        more = np.exp(self.track[seen, _ODDS].astype(np.float64)) / at_random
        whole, among = likelihood @ self.prior, len(seen) + _FIRST_UNITS
        for _ in range(times):
            # At even odds, so that periods are learned before any unit is believed to have one.
            weight = more / (more * whole + 1.0)
            periods = weight @ likelihood * self.prior + _FIRST_UNITS * self._first
            # Rounded, so that it does not depend on the order of the units.
            self.prior = np.round(periods / periods.sum(), 12) + _LEAST
            whole = likelihood @ self.prior
            odds = self.share * more * whole
            regular = (odds / (odds + 1.0 - self.share)).sum()
            self.share = round(float(regular + _FIRST_UNITS * _FIRST_SHARE) / among, 12)
        evidence = np.log1p(self.share * (more * whole - 1.0)).sum()
        self.found = round(float(evidence), 6) > _CONVINCED

    def regularity(self, units: Integers, at_random: Scores) -> Scores:
        """The probability that units are regular.

        `at_random` is how probable what was seen is if they are not, on the scale of `observe`.
        """
        more = np.exp(self.track[units, _ODDS].astype(np.float64))
        odds = self.share * more * (self.likelihood.take(units, axis=0) @ self.prior) / at_random
        return np.asarray(odds / (odds + 1.0 - self.share))

    def fresh(self, units: Integers, age_ms: Numbers) -> Scores:
        """The probability that units, if they are regular, have not changed since their refresh."""
        cells, weight = self._weights(units)
        return _means(weight, self._stayed(self.track[units], age_ms, cells))

    def sums(self, units: Integers, age: Scores, lasting: Scores, slide_ms: int) -> Scores:
        """How probably units are fresh at an age, and two sums over evaluations to come.

        They are those of the probability that a unit does not change from now up to an evaluation:
        as many as its age, and as its rows last. A unit that has changed since its refresh has last
        changed at any time in between.
        """
        cells, weight = self._weights(units)
        age_ms = np.maximum(age * slide_ms, 1.0)
        quiet, span = self.track[units, _QUIET] + age_ms, self.track[units, _SPAN]
        stayed = self._stayed(self.track[units], age_ms, cells)
        before = _ratio(stayed, self._none(quiet, span, cells))
        since = _ratio(1.0 - stayed, self._none(np.zeros(len(units)), age_ms, cells))

        def after(evaluations: Scores) -> Scores:
            later = evaluations * slide_ms
            rest = before * self._none(quiet + later, span, cells, later=True)
            rest += since * self._none(later, age_ms, cells, later=True)
            return _means(weight, rest) / slide_ms

        def up_to(evaluations: Scores) -> Scores:
            whole = all_after - after(np.maximum(evaluations - 0.5, 0.5))
            return np.asarray(np.minimum(evaluations, 1.0) + whole)

        all_after = after(np.full(len(units), 0.5))
        return np.stack([_means(weight, stayed), up_to(age), up_to(lasting)])

    def bounds(self, units: Integers, age: Scores, lasting: Scores, slide_ms: int) -> Scores:
        """What stands in for `sums` where a bound of all that is gained by a refresh will do.

        Of a period longer than the time since the last change nothing is gained: the unit is fresh
        for certain. Of others at most what is gained if the unit has changed since its refresh: it
        lasts for what is left of the period on average, which is the less the older the refresh.
        """
        cells, weight = self._weights(units)
        age_ms = np.maximum(age * slide_ms, 1.0)
        edges = self._edges[cells.start : cells.stop + 1]
        since = self.track[units, _QUIET].astype(np.float64) + self.track[units, _SPAN] + age_ms
        certain = since[:, None] <= edges[1:]
        aged = np.concatenate([[1.0], edges[::-1]])
        none = np.zeros(len(aged))
        left = _ratio(self._none(none, aged, cells, later=True), self._none(none, aged, cells))
        lasts = 1.0 + left[np.searchsorted(aged[1:], age_ms, side="right")] / slide_ms
        whole, present = (
            _means(weight, np.where(certain, n[:, None], np.minimum(n[:, None], lasts)))
            for n in (age, lasting)
        )
        return np.stack([_means(weight, certain), whole, present])

    def _weights(self, units: Integers) -> tuple[slice, Numbers]:
        """The cells of the grid that are worth a look, and their probability for each unit."""
        common = np.flatnonzero(self.prior > _RARE)
        cells = slice(int(common[0]), int(common[-1]) + 1)
        weight = self.likelihood.take(units, axis=0)[:, cells] * self.prior[cells]
        return cells, np.asarray(weight / np.einsum("uc->u", weight)[:, None])

    def _stayed(self, track: Weights, age_ms: Numbers, cells: slice) -> Numbers:
        """The probability of no change up to an age of tracks, for each cell of the grid."""
        known = track.astype(np.float64)
        quiet, span = known[:, _QUIET], known[:, _SPAN]
        now = self._none(quiet, span, cells)
        return np.minimum(_ratio(self._none(quiet + age_ms, span, cells), now), 1.0)

    def _none(self, quiet: Numbers, span: Numbers, cells: slice, *, later: bool = False) -> Numbers:
        """∫ S(quiet + u) du over a span, or the integral of that from `quiet` on."""
        edges = self._edges[cells.start : cells.stop + 1]
        left = _beyond(edges, quiet, cubed=later) - _beyond(edges, quiet + span, cubed=later)
        wide = (6.0 if later else 2.0) * (edges[:-1] - edges[1:])
        return np.asarray((left[:, :-1] - left[:, 1:]) / wide)

    def extend(self, count: int) -> None:
        """Make room for more units, of which nothing is known."""
        self.likelihood, self.track = grown(self.likelihood, count), grown(self.track, count)
        size = len(self.likelihood)
        self.likelihood[size - count :] = 1.0
        self.lose_track(np.arange(size - count, size))

    def move_up(self, kept: Integers, first: int) -> None:
        """Forget the units from `first` on, but for some that move up in their order."""
        self.likelihood = moved_up(self.likelihood, kept, first)
        self.track = moved_up(self.track, kept, first)


def _means(weight: Numbers, values: Numbers | Booleans) -> Scores:
    """The mean of each row of values, whose weights add up to one."""
    return np.asarray(np.einsum("uc,uc->u", weight, values))


def _beyond(bound: Numbers, x: Numbers, *, cubed: bool = False) -> Numbers:
    """The square or cube of how far a bound lies beyond x."""
    left = np.maximum(bound - x[:, None], 0.0)
    return np.asarray(left * left * left if cubed else left * left)


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    """A quotient, 0 where the whole is 0: what cannot be does not last."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
