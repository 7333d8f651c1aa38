"""Imitations of the papers' Twitter data: who is mentioned, and whose followers change."""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import InputError
from bestbefore.generators.changes import Changes, background_trace, random_steps
from bestbefore.generators.correlation import correlate
from bestbefore.generators.generator import generators
from bestbefore.generators.intervals import lognormal_quantiles
from bestbefore.generators.limits import (
    check_above,
    check_at_least,
    check_order,
    check_rows,
    check_within,
)
from bestbefore.generators.mentions import MINUTE_MS, draw_keys_in_minute, draw_mentions
from bestbefore.generators.names import by_name, numbered
from bestbefore.generators.snapshots import random_snapshot_changes, regular_snapshot_changes
from bestbefore.generators.zipf import Floats, zipf_weights
from bestbefore.traces import StreamTrace, Traces

_MEDIAN_FOLLOWERS = 100_000
_MEAN_STEP = 30.0
# Followers come more often than they go.
_RISE = 0.75


@dataclass(frozen=True, eq=False)
class Crowd:
    """Users by name: how popular they are and how often their followers change per minute.

    A popularity of 0 means that a user is never mentioned.
    """

    names: Texts
    popularity: Floats
    frequency: Floats

    @property
    def interval_ms(self) -> dict[str, int]:
        """The expected change interval of every user."""
        return by_name(self.names, np.rint(MINUTE_MS / self.frequency).astype(np.int64))


@generators.register("twitter-like")
@dataclass(frozen=True)
class TwitterLike:
    """The papers' Twitter data as far as its published facts go (acqua section 5).

    Every minute between `fewest_keys` and `most_keys` of the `active` users are mentioned,
    popular ones by Zipf's law with `skew`. Follower counts change at whole minutes, at random
    ones or, with `regular`, at even distances as in the paper's synthetic background data. The
    frequency of changes per minute is log-normal across users by median and 90th percentile, but
    below the median its logarithm falls `quiet` times as fast: most of these users hardly change.
    `correlation` is its rank correlation with popularity.
    """

    keys: int = 400
    active: int = 283
    minutes: int = 158
    fewest_keys: int = 12
    most_keys: int = 33
    mean_keys: float = 21.0
    skew: float = 0.8
    median_frequency: float = 0.034
    p90_frequency: float = 0.129
    quiet: float = 6.0
    correlation: float = 0.4
    regular: bool = False

    def __post_init__(self) -> None:
        check_at_least(1, active=self.active, fewest_keys=self.fewest_keys)
        check_at_least(2, minutes=self.minutes)
        check_order(active=self.active, keys=self.keys)
        check_order(
            fewest_keys=self.fewest_keys, mean_keys=self.mean_keys, most_keys=self.most_keys
        )
        check_order(most_keys=self.most_keys, active=self.active)
        check_at_least(0, skew=self.skew)
        check_above(0, median_frequency=self.median_frequency)
        check_order(median_frequency=self.median_frequency, p90_frequency=self.p90_frequency)
        check_within(0, 1, p90_frequency=self.p90_frequency)
        check_at_least(1, quiet=self.quiet)
        check_within(-1, 1, correlation=self.correlation)
        check_rows(self.keys * self.minutes, "values")
        if self.active > self.fewest_keys * self.minutes:
            raise InputError(
                f"active = {self.active}: it must be at most fewest_keys · minutes = "
                f"{self.fewest_keys * self.minutes}, so that every active key can occur"
            )

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        crowd_rng, stream_rng, change_rng = np.random.default_rng(seed).spawn(3)
        crowd = self.crowd(crowd_rng)
        changes = self._changes(crowd, change_rng)
        start = np.rint(_MEDIAN_FOLLOWERS * np.exp(change_rng.standard_normal(self.keys)))
        steps = follower_steps(len(changes), rise=_RISE, rng=change_rng)
        background = background_trace(
            crowd.names, changes, start=start.astype(np.int64), steps=steps
        )
        return Traces(self.stream(crowd, stream_rng), background, None, crowd.interval_ms)

    def crowd(self, rng: np.random.Generator) -> Crowd:
        """The users: in random order by popularity, the least popular ones never mentioned."""
        popularity = rng.permutation(zipf_weights(self.keys, self.skew))
        frequency = lognormal_quantiles(
            self.keys, median=self.median_frequency, p90=self.p90_frequency
        )
        slow = frequency / self.median_frequency
        frequency = self.median_frequency * np.where(slow < 1, slow**self.quiet, slow)
        rank = np.argsort(np.argsort(-popularity, kind="stable"))
        return Crowd(
            numbered("user", self.keys),
            np.where(rank < self.active, popularity, 0.0),
            correlate(np.minimum(frequency, 1.0), -rank, correlation=self.correlation, rng=rng),
        )

    def stream(self, crowd: Crowd, rng: np.random.Generator) -> StreamTrace:
        """The mentions of the active users."""
        active = np.flatnonzero(crowd.popularity)
        counts = draw_keys_in_minute(
            self.minutes, self.fewest_keys, self.most_keys, mean=self.mean_keys, rng=rng
        )
        mentions = draw_mentions(crowd.popularity[active], counts, rng=rng)
        return mentions.stream(crowd.names[active])

    def _changes(self, crowd: Crowd, rng: np.random.Generator) -> Changes:
        draw = regular_snapshot_changes if self.regular else random_snapshot_changes
        return draw(crowd.frequency, snapshots=self.minutes, rng=rng)


def follower_steps(count: int, *, rise: float, rng: np.random.Generator) -> Integers:
    """Changes of follower counts, by 2 or more so that one change can cross a threshold."""
    return random_steps(count, mean=_MEAN_STEP, rise=rise, rng=rng, least=2)
