"""Mentions of keys in a stream: some of them every minute, the popular ones again and again."""

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.generators.arrivals import Arrivals
from bestbefore.generators.zipf import Floats

MINUTE_MS = 60_000
# How narrowly the number of keys in a minute is spread around its mean, and how many mentions
# the most popular key has beyond the first when it is mentioned at all.
_CONCENTRATION = 4.0
_EXTRA_MENTIONS = 4.0


def draw_mentions(
    popularity: Floats, keys_in_minute: Integers, *, rng: np.random.Generator
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
    place = np.clip((mean - fewest) / max(1, most - fewest), 1e-3, 1 - 1e-3)
    share = rng.beta(_CONCENTRATION * place, _CONCENTRATION * (1 - place), minutes)
    return fewest + np.rint((most - fewest) * share).astype(np.int64)


def _mentioned(
    popularity: Floats, keys_in_minute: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Minute and key of what is mentioned: drawn by popularity, without replacement."""
    minutes, keys = len(keys_in_minute), len(popularity)
    # The largest of weights with Gumbel noise are a weighted sample without replacement.
    luck = np.log(popularity) + rng.gumbel(size=(minutes, keys))
    luck[rng.permutation(keys) % minutes, np.arange(keys)] = np.inf
    rank = np.argsort(np.argsort(-luck, axis=1), axis=1)
    minute, key = np.nonzero(rank < keys_in_minute[:, np.newaxis])
    return minute, key
