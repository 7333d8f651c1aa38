"""Change intervals learned from the refreshes themselves."""

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, grown, moved_up

_RATES = 48


class ChangeRates:
    """What the refreshes so far say of each unit's change rate, as a posterior over a grid.

    Changes are taken for a Poisson process: a refresh after a time a finds a change with
    probability 1 − e^(−λa). How often a unit changed in between is not seen, so counting changes
    per refresh would make rates too low; the likelihood does not. `log_weight` has a row per unit
    and a column per rate of the grid, which spans from a tenth of the window's slide to a thousand
    of its widths.
    """

    def __init__(self, units: int, *, width_ms: int, slide_ms: int) -> None:
        shortest_ms, longest_ms = max(1.0, slide_ms / 10), 1_000.0 * max(width_ms, slide_ms)
        self.rate = np.geomspace(1 / longest_ms, 1 / shortest_ms, _RATES)
        self.log_weight: Numbers = np.zeros((units, _RATES))

    def observe(self, units: Integers, age_ms: Integers, changed: Booleans) -> None:
        """Take in that units, last refreshed `age_ms` ago, were found changed or not."""
        expected = np.outer(np.maximum(age_ms, 1), self.rate)
        self.log_weight[units] += np.where(
            changed[:, None], np.log(-np.expm1(-expected)), -expected
        )

    def interval_ms(self, units: Integers) -> Integers:
        """The change interval of units: one over the geometric mean of the rate's posterior.

        Where every refresh found a change the rate may be anything above; its logarithm is tamer.
        """
        log_weight = self.log_weight[units]
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        mean = weight @ np.log(self.rate) / weight.sum(axis=1)
        return np.asarray(np.maximum(1, np.round(np.exp(-mean))), dtype=np.int64)

    def extend(self, count: int) -> None:
        """Make room for more units, of which nothing is known."""
        self.log_weight = grown(self.log_weight, count)

    def move_up(self, kept: Integers, first: int) -> None:
        """Forget the units from `first` on, but for some that move up in their order."""
        self.log_weight = moved_up(self.log_weight, kept, first)
