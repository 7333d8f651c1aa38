"""The workload of an M:N join: units serve many join keys, and join keys need many units."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Numbers
from bestbefore.errors import InputError
from bestbefore.generators.arrivals import Alternation, poisson_arrivals
from bestbefore.generators.catalogue import check_rows, generators
from bestbefore.generators.changes import ChangeKind, wandering_background
from bestbefore.generators.keys import beta_intervals, by_name, correlate, numbered, zipf_weights
from bestbefore.parameters import check_above, check_at_least, check_order, check_within
from bestbefore.traces import Links, StreamTrace, Traces


@generators.register("bipartite")
@dataclass(frozen=True)
class BipartiteTraces:
    """An M:N join over a random bipartite graph (planning-ahead section 6).

    The defaults are the paper's; a window of 4 s that slides by 1 s is evaluated 50 times.
    `skew` is the Zipf exponent of the units' degrees and `correlation` the rank correlation
    between a unit's degree and how often it changes. Change intervals are Beta-distributed in
    their range, which is uniform as long as both parameters are 1.
    """

    join_keys: int = 50
    units: int = 50
    edges: int = 1_000
    skew: float = 0.0
    duration_ms: int = 51_000
    arrival_low_ms: int = 1_000
    arrival_high_ms: int = 2_000
    arrival_factor: float = 1.0
    phase_ms: int = 1_000
    interval_low_ms: int = 100
    interval_high_ms: int = 3_000
    beta_a: float = 1.0
    beta_b: float = 1.0
    changes: ChangeKind = "periodic"
    correlation: float = 0.0

    def __post_init__(self) -> None:
        check_links(self.join_keys, self.units, self.edges)
        check_rows(max(self.join_keys, self.units, self.edges), "links")
        check_at_least(0, skew=self.skew)
        check_at_least(1, duration_ms=self.duration_ms, arrival_low_ms=self.arrival_low_ms)
        check_order(arrival_low_ms=self.arrival_low_ms, arrival_high_ms=self.arrival_high_ms)
        Alternation(self.arrival_factor, self.phase_ms)
        check_at_least(1, interval_low_ms=self.interval_low_ms)
        check_order(interval_low_ms=self.interval_low_ms, interval_high_ms=self.interval_high_ms)
        check_above(0, beta_a=self.beta_a, beta_b=self.beta_b)
        check_within(-1, 1, correlation=self.correlation)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        arrival_rng, link_rng, change_rng = np.random.default_rng(seed).spawn(3)
        join_key, unit = random_links(
            self.join_keys, self.units, edges=self.edges, skew=self.skew, rng=link_rng
        )
        degree = np.bincount(unit, minlength=self.units)
        units = numbered("u", self.units)
        interval_ms = self._change_intervals(degree, change_rng)
        return Traces(
            self._stream(arrival_rng),
            wandering_background(
                units, interval_ms, self.changes, duration_ms=self.duration_ms, rng=change_rng
            ),
            Links(numbered("k", self.join_keys)[join_key], units[unit]),
            by_name(units, interval_ms),
        )

    def _stream(self, rng: np.random.Generator) -> StreamTrace:
        arrivals = poisson_arrivals(
            rng.uniform(self.arrival_low_ms, self.arrival_high_ms, self.join_keys),
            duration_ms=self.duration_ms,
            rng=rng,
            alternation=Alternation(self.arrival_factor, self.phase_ms),
        )
        return arrivals.stream(numbered("k", self.join_keys), numbered("e", len(arrivals.key)))

    def _change_intervals(self, degree: Integers, rng: np.random.Generator) -> Integers:
        low_ms, high_ms = self.interval_low_ms, self.interval_high_ms
        a, b = self.beta_a, self.beta_b
        drawn = beta_intervals(self.units, low_ms, high_ms, a=a, b=b, rng=rng)
        return correlate(drawn, -degree, correlation=self.correlation, rng=rng)


def random_links(
    join_keys: int, units: int, *, edges: int, skew: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """The join key and the unit of every link, by their numbers; no link occurs twice.

    With the skew 0 every pair is as likely as any other; above it, the units' degrees follow
    Zipf's law with that exponent, as far as a unit has join keys enough.
    """
    check_links(join_keys, units, edges)
    if skew == 0:
        pairs = np.sort(rng.choice(join_keys * units, edges, replace=False))
        return pairs // units, pairs % units
    degree = rng.permutation(zipf_degrees(units, edges, most=join_keys, skew=skew))
    join_key = np.concatenate([rng.choice(join_keys, links, replace=False) for links in degree])
    unit = np.repeat(np.arange(units), degree)
    order = np.lexsort((unit, join_key))
    return join_key[order], unit[order]


def check_links(join_keys: int, units: int, edges: int) -> None:
    """There are at least one and at most all possible links."""
    check_at_least(1, join_keys=join_keys, units=units, edges=edges)
    if edges > join_keys * units:
        raise InputError(
            f"edges = {edges}: {join_keys} join keys and {units} units have at most "
            f"{join_keys * units} links"
        )


def zipf_degrees(units: int, edges: int, *, most: int, skew: float) -> Integers:
    """Degrees that add up to `edges`, largest first; what exceeds `most` goes to the others."""
    weights = zipf_weights(units, skew)
    degree = np.zeros(units)
    full = 0
    while full < units:
        share = (edges - full * most) * weights[full:] / weights[full:].sum()
        degree[:full], degree[full:] = most, np.minimum(share, most)
        if (now_full := int((degree >= most).sum())) == full:
            break
        full = now_full
    return _rounded(degree, edges)


def _rounded(degree: Numbers, edges: int) -> Integers:
    """Whole numbers with the wanted sum, by the largest remainders."""
    whole = np.floor(degree + 1e-9).astype(np.int64)
    largest = np.argsort(whole - degree, kind="stable")
    whole[largest[: edges - int(whole.sum())]] += 1
    return -np.sort(-whole)
