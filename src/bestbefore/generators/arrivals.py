"""Arrivals of keys in a stream: Poisson processes, steady or with an alternating rate."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import InputError
from bestbefore.generators.limits import check_above, check_at_least, check_rows
from bestbefore.generators.zipf import Floats, zipf_weights
from bestbefore.traces import StreamTrace


@dataclass(frozen=True)
class Alternation:
    """Phases of time in which expected arrival intervals are λ0 and factor · λ0 in turn.

    λ_i = factor · λ0 · (i mod 2) + λ0 · ((i + 1) mod 2), where i counts the phases
    (planning-ahead section 6, there with the factor 0.95). The factor 1 is a steady rate.
    """

    factor: float = 1.0
    phase_ms: int = 1_000

    def __post_init__(self) -> None:
        check_above(0, arrival_factor=self.factor)
        check_at_least(1, phase_ms=self.phase_ms)


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Which key, by its number, comes when; ordered by time."""

    ts_ms: Integers
    key: Integers

    def stream(self, names: Texts, event: Texts | None = None) -> StreamTrace:
        """The stream trace with the names of the keys."""
        return StreamTrace(self.ts_ms, names[self.key], event)


def poisson_arrivals(
    mean_ms: Floats,
    *,
    duration_ms: int,
    rng: np.random.Generator,
    alternation: Alternation | None = None,
) -> Arrivals:
    """A Poisson process per key, with its own expected arrival interval, in (0, duration].

    The times are drawn on a clock that runs with the rate, and then read off the even one.
    """
    even, rate = _clocks(duration_ms, alternation or Alternation())
    expected = rate[-1] / mean_ms
    check_rows(float(expected.sum()), "arrivals")
    key = np.repeat(np.arange(len(mean_ms)), rng.poisson(expected))
    if not len(key):
        raise InputError(f"no key arrives within {duration_ms} ms; take a longer duration_ms")
    times = np.interp(rng.uniform(0, rate[-1], len(key)), rate, even)
    ts_ms = np.clip(np.ceil(times), 1, duration_ms).astype(np.int64)
    order = np.lexsort((key, ts_ms))
    return Arrivals(ts_ms[order], key[order])


def zipf_means(count: int, *, skew: float, mean_ms: float, rng: np.random.Generator) -> Floats:
    """Expected arrival intervals whose rates follow Zipf's law; on average a key's is 1/mean."""
    return np.asarray(mean_ms / rng.permutation(zipf_weights(count, skew)), dtype=np.float64)


def _clocks(duration_ms: int, alternation: Alternation) -> tuple[Floats, Floats]:
    """The ends of the phases by the even clock, and by the one that runs with the rate."""
    if alternation.factor == 1:
        both = np.array([0.0, duration_ms])
        return both, both
    check_rows(duration_ms / alternation.phase_ms, "phases")
    starts = np.arange(0, duration_ms, alternation.phase_ms, dtype=np.float64)
    even = np.append(starts, duration_ms)
    slowness = np.where(np.arange(len(starts)) % 2, alternation.factor, 1.0)
    return even, np.append(0.0, np.cumsum(np.diff(even) / slowness))
