"""Imitations of the papers' Twitter data: who is mentioned, and whose followers change.

`twitter-like` has the published facts of the data; `DS` translates each series of follower counts
vertically, so that a known share of them crosses the threshold of a FILTER.
"""

from dataclasses import dataclass

import numpy as np

from bestbefore.arrays import Booleans, Integers, Numbers, Texts
from bestbefore.errors import InputError
from bestbefore.generators.arrivals import MINUTE_MS, draw_keys_in_minute, draw_mentions
from bestbefore.generators.catalogue import check_rows, generators
from bestbefore.generators.changes import (
    Changes,
    background_trace,
    levels,
    random_snapshot_changes,
    random_steps,
    regular_snapshot_changes,
)
from bestbefore.generators.keys import (
    by_name,
    correlate,
    lognormal_quantiles,
    numbered,
    zipf_weights,
)
from bestbefore.parameters import check_above, check_at_least, check_order, check_within
from bestbefore.traces import StreamTrace, Traces

_MEDIAN_FOLLOWERS = 100_000
# Followers come more often than they go.
_RISE = 0.75
# One change can cross a threshold.
_LEAST_STEP = 2
# A series that stays clear of the threshold does so by at most this share of it.
_LARGEST_GAP = 0.5


@dataclass(frozen=True, eq=False)
class Crowd:
    """Users by name: how popular they are and how often their followers change per minute.

    A popularity of 0 means that a user is never mentioned.
    """

    names: Texts
    popularity: Numbers
    frequency: Numbers

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
        check_at_least(1, active=self.active, fewest_keys=self.fewest_keys, quiet=self.quiet)
        check_at_least(2, minutes=self.minutes)
        check_order(active=self.active, keys=self.keys)
        fewest, most = self.fewest_keys, self.most_keys
        check_order(
            fewest_keys=fewest, mean_keys=self.mean_keys, most_keys=most, active=self.active
        )
        check_at_least(0, skew=self.skew)
        check_above(0, median_frequency=self.median_frequency)
        check_order(median_frequency=self.median_frequency, p90_frequency=self.p90_frequency)
        check_within(0, 1, p90_frequency=self.p90_frequency)
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
        draw_changes = regular_snapshot_changes if self.regular else random_snapshot_changes
        changes = draw_changes(crowd.frequency, snapshots=self.minutes, rng=change_rng)
        start = np.rint(_MEDIAN_FOLLOWERS * np.exp(change_rng.standard_normal(self.keys)))
        steps = random_steps(len(changes), rise=_RISE, rng=change_rng, least=_LEAST_STEP)
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


@generators.register("DS")
@dataclass(frozen=True)
class FilterSeries:
    """Follower-like series of which a share crosses the threshold (rank-aggregation section 5.2).

    The stream and the changes are those of `twitter-like`; each series is translated vertically,
    either across the threshold or clear of it on a random side. `rise` is the chance that a
    change is upwards: 0 for series that only fall, 1 for those that only rise.
    """

    share: float = 0.75
    rise: float = 0.75
    threshold: int = 100_000
    keys: int = 400
    active: int = 283
    minutes: int = 158

    def __post_init__(self) -> None:
        check_within(0, 1, share=self.share, rise=self.rise)
        check_within(-(10**15), 10**15, threshold=self.threshold)
        self._crowd()

    def make(self, seed: int) -> Traces:
        """Traces in which every series changes at least once: a flat one can cross nothing."""
        crowd_rng, stream_rng, change_rng, shift_rng = np.random.default_rng(seed).spawn(4)
        shape = self._crowd()
        crowd = shape.crowd(crowd_rng)
        changes = random_snapshot_changes(
            crowd.frequency, snapshots=self.minutes, rng=change_rng, least=1
        )
        steps = random_steps(len(changes), rise=self.rise, rng=change_rng, least=_LEAST_STEP)
        extent = extent_of(changes, steps, units=self.keys)
        crossing = choose_crossing(self.keys, self.share, shift_rng)
        start = translated_start(extent, crossing, threshold=self.threshold, rng=shift_rng)
        background = background_trace(crowd.names, changes, start=start, steps=steps)
        return Traces(shape.stream(crowd, stream_rng), background, None, crowd.interval_ms)

    def _crowd(self) -> TwitterLike:
        return TwitterLike(self.keys, self.active, self.minutes)


def extent_of(changes: Changes, steps: Integers, *, units: int) -> tuple[Integers, Integers]:
    """How far every unit's series goes below and above its start, which is part of it."""
    level = levels(changes, steps)
    lowest, highest = np.zeros(units, dtype=np.int64), np.zeros(units, dtype=np.int64)
    np.minimum.at(lowest, changes.unit, level)
    np.maximum.at(highest, changes.unit, level)
    return lowest, highest


def choose_crossing(units: int, share: float, rng: np.random.Generator) -> Booleans:
    """Exactly round(share · units) units, at random."""
    crossing = np.zeros(units, dtype=np.bool_)
    crossing[rng.choice(units, round(share * units), replace=False)] = True
    return crossing


def translated_start(
    extent: tuple[Integers, Integers],
    crossing: Booleans,
    *,
    threshold: int,
    rng: np.random.Generator,
) -> Integers:
    """Starts from which the chosen series cross the threshold, and the others do not.

    A crossing series has values below and values above the threshold; its extent must be 2 or
    more. The others keep a random gap, on a random side.
    """
    lowest, highest = extent
    inside = rng.integers(lowest + 1, np.maximum(highest, lowest + 2))
    largest = max(1, round(abs(threshold) * _LARGEST_GAP))
    gap = rng.integers(1, largest, len(crossing), endpoint=True)
    above = rng.random(len(crossing)) < 0.5
    clear = np.where(above, gap - lowest, -gap - highest)
    return np.asarray(threshold + np.where(crossing, -inside, clear), dtype=np.int64)
