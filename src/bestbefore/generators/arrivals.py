"""Arrivals of keys in a stream: as Poisson processes, or as mentions by the minute."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Numbers, Texts
from bestbefore.errors import InputError
from bestbefore.generators.catalogue import check_rows
from bestbefore.generators.keys import zipf_weights
from bestbefore.parameters import check_above, check_at_least
from bestbefore.traces import StreamTrace

MINUTE_MS = 60_000
# How narrowly the number of keys in a minute is spread around its mean, and how many mentions
# the most popular key has beyond the first when it is mentioned at all.
_CONCENTRATION = 4.0
_EXTRA_MENTIONS = 4.0


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
    mean_ms: Numbers,
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


def zipf_means(count: int, *, skew: float, mean_ms: float, rng: np.random.Generator) -> Numbers:
    """Expected arrival intervals whose rates follow Zipf's law; on average a key's is 1/mean."""
    return np.asarray(mean_ms / rng.permutation(zipf_weights(count, skew)), dtype=np.float64)


def _clocks(duration_ms: int, alternation: Alternation) -> tuple[Numbers, Numbers]:
    """The ends of the phases by the even clock, and by the one that runs with the rate."""
    if alternation.factor == 1:
        both = np.array([0.0, duration_ms])
        return both, both
    check_rows(duration_ms / alternation.phase_ms, "phases")
    starts = np.arange(0, duration_ms, alternation.phase_ms, dtype=np.float64)
    even = np.append(starts, duration_ms)
    slowness = np.where(np.arange(len(starts)) % 2, alternation.factor, 1.0)
    return even, np.append(0.0, np.cumsum(np.diff(even) / slowness))


def draw_mentions(
    popularity: Numbers, keys_in_minute: Integers, *, rng: np.random.Generator
) -> Arrivals:
    """Mentions of as many distinct keys as wanted in every minute; every key occurs.

    No mention falls on a whole minute, so that it belongs to one minute without a doubt.
    """
    minute, key = _mentioned(popularity, keys_in_minute, rng)
    extra = rng.poisson(_EXTRA_MENTIONS * popularity[key] / popularity.max())
    minute, key = np.repeat(minute, 1 + extra), np.repeat(key, 1 + extra)
    ts_ms = minute * MINUTE_MS + rng.integers(1, MINUTE_MS, len(key))
    order = np.lexsort((key, ts_ms))
    return Arrivals(ts_ms[order], key[order])


def draw_keys_in_minute(
    minutes: int, fewest: int, most: int, *, mean: float, rng: np.random.Generator
) -> Integers:
    """How many distinct keys each minute has, between the bounds and with the mean."""
    position = np.clip((mean - fewest) / max(1, most - fewest), 1e-3, 1 - 1e-3)
    share = rng.beta(_CONCENTRATION * position, _CONCENTRATION * (1 - position), minutes)
    return fewest + np.rint((most - fewest) * share).astype(np.int64)


def _mentioned(
    popularity: Numbers, keys_in_minute: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Minute and key of what is mentioned: drawn by popularity, without replacement."""
    minutes, keys = len(keys_in_minute), len(popularity)
    # The largest of weights with Gumbel noise are a weighted sample without replacement.
    luck = np.log(popularity) + rng.gumbel(size=(minutes, keys))
    luck[rng.permutation(keys) % minutes, np.arange(keys)] = np.inf
    rank = np.argsort(np.argsort(-luck, axis=1), axis=1)
    minute, key = np.nonzero(rank < keys_in_minute[:, np.newaxis])
    return minute, key
