"""The workload of a 1:1 join: every key of the stream is a unit of the background data."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bestbefore.arrays import Integers, Numbers
from bestbefore.generators.arrivals import Alternation, poisson_arrivals, zipf_means
from bestbefore.generators.catalogue import check_rows, generators
from bestbefore.generators.changes import ChangeKind, wandering_background
from bestbefore.generators.keys import (
    beta_intervals,
    by_name,
    correlate,
    lognormal_intervals,
    numbered,
    uniform_intervals,
)
from bestbefore.parameters import check_above, check_at_least, check_order, check_within
from bestbefore.traces import Traces


@generators.register("poisson")
@dataclass(frozen=True)
class PoissonTraces:
    """A 1:1 join of keys that arrive as Poisson processes (thesis section 5.4).

    A key's expected arrival interval is uniform in its range; with a skew, the rates follow
    Zipf's law around the middle of the range. Change intervals are uniform or Beta-distributed
    in their range, or log-normal by median and 90th percentile. `correlation` is the rank
    correlation between how often a key arrives and how often it changes.
    """

    keys: int = 400
    duration_ms: int = 9_480_000
    arrival_low_ms: int = 600_000
    arrival_high_ms: int = 1_800_000
    skew: float = 0.0
    arrival_factor: float = 1.0
    phase_ms: int = 60_000
    intervals: Literal["uniform", "beta", "lognormal"] = "uniform"
    interval_low_ms: int = 300_000
    interval_high_ms: int = 3_600_000
    beta_a: float = 1.0
    beta_b: float = 1.0
    interval_median_ms: int = 1_800_000
    interval_p90_ms: int = 3_600_000
    changes: ChangeKind = "periodic"
    correlation: float = 0.0

    def __post_init__(self) -> None:
        check_rows(self.keys, "keys")
        check_at_least(1, keys=self.keys, duration_ms=self.duration_ms)
        check_at_least(1, arrival_low_ms=self.arrival_low_ms, interval_low_ms=self.interval_low_ms)
        check_order(arrival_low_ms=self.arrival_low_ms, arrival_high_ms=self.arrival_high_ms)
        check_at_least(0, skew=self.skew)
        Alternation(self.arrival_factor, self.phase_ms)
        check_order(interval_low_ms=self.interval_low_ms, interval_high_ms=self.interval_high_ms)
        check_above(0, beta_a=self.beta_a, beta_b=self.beta_b)
        median_ms, p90_ms = self.interval_median_ms, self.interval_p90_ms
        check_at_least(1, interval_median_ms=median_ms)
        check_order(interval_median_ms=median_ms, interval_p90_ms=p90_ms)
        check_within(-1, 1, correlation=self.correlation)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        mean_rng, arrival_rng, change_rng = np.random.default_rng(seed).spawn(3)
        names = numbered("k", self.keys)
        mean_ms = self._arrival_means(mean_rng)
        arrivals = poisson_arrivals(
            mean_ms,
            duration_ms=self.duration_ms,
            rng=arrival_rng,
            alternation=Alternation(self.arrival_factor, self.phase_ms),
        )
        drawn = self._change_intervals(change_rng)
        interval_ms = correlate(drawn, mean_ms, correlation=self.correlation, rng=change_rng)
        background = wandering_background(
            names, interval_ms, self.changes, duration_ms=self.duration_ms, rng=change_rng
        )
        return Traces(arrivals.stream(names), background, None, by_name(names, interval_ms))

    def _arrival_means(self, rng: np.random.Generator) -> Numbers:
        low_ms, high_ms = self.arrival_low_ms, self.arrival_high_ms
        if self.skew:
            return zipf_means(self.keys, skew=self.skew, mean_ms=(low_ms + high_ms) / 2, rng=rng)
        return rng.uniform(low_ms, high_ms, self.keys)

    def _change_intervals(self, rng: np.random.Generator) -> Integers:
        low_ms, high_ms = self.interval_low_ms, self.interval_high_ms
        match self.intervals:
            case "uniform":
                return uniform_intervals(self.keys, low_ms=low_ms, high_ms=high_ms, rng=rng)
            case "beta":
                a, b = self.beta_a, self.beta_b
                return beta_intervals(self.keys, low_ms, high_ms, a=a, b=b, rng=rng)
            case "lognormal":
                median_ms, p90_ms = self.interval_median_ms, self.interval_p90_ms
                return lognormal_intervals(self.keys, median_ms=median_ms, p90_ms=p90_ms, rng=rng)
