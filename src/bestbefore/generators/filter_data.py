"""Workloads of FILTER queries: a known share of the series crosses the threshold."""

from dataclasses import dataclass

import numpy as np

from bestbefore.generators.changes import background_trace
from bestbefore.generators.generator import generators
from bestbefore.generators.limits import check_within
from bestbefore.generators.series import choose_crossing, extent_of, translated_start
from bestbefore.generators.snapshots import random_snapshot_changes
from bestbefore.generators.twitter import TwitterLike, follower_steps
from bestbefore.traces import Traces

# The chance that a change of a follower count is upwards.
_FOLLOWER_LIKE, _NEVER, _ALWAYS, _EITHER = 0.75, 0.0, 1.0, 0.5


@generators.register("DS")
@dataclass(frozen=True)
class FollowerSeries:
    """Follower-like series of which a share crosses the threshold (rank-aggregation section 5.2).

    The stream and the changes are those of `twitter-like`; each series is translated vertically,
    either across the threshold or clear of it on a random side.
    """

    share: float = 0.75
    threshold: int = 100_000
    keys: int = 400
    active: int = 283
    minutes: int = 158

    def __post_init__(self) -> None:
        _check(self)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        return _make(self, seed, rise=_FOLLOWER_LIKE)


@generators.register("DEC")
@dataclass(frozen=True)
class DecreasingSeries:
    """Series that only decrease, of which a share crosses the threshold (rank-aggregation 5.2)."""

    share: float = 0.4
    threshold: int = 100_000
    keys: int = 400
    active: int = 283
    minutes: int = 158

    def __post_init__(self) -> None:
        _check(self)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        return _make(self, seed, rise=_NEVER)


@generators.register("INC")
@dataclass(frozen=True)
class IncreasingSeries:
    """Series that only increase, of which a share crosses the threshold (rank-aggregation 5.2)."""

    share: float = 0.4
    threshold: int = 100_000
    keys: int = 400
    active: int = 283
    minutes: int = 158

    def __post_init__(self) -> None:
        _check(self)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        return _make(self, seed, rise=_ALWAYS)


@generators.register("MIX")
@dataclass(frozen=True)
class MixedSeries:
    """Series that go either way, of which a share crosses the threshold (rank-aggregation 5.2)."""

    share: float = 0.4
    threshold: int = 100_000
    keys: int = 400
    active: int = 283
    minutes: int = 158

    def __post_init__(self) -> None:
        _check(self)

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        return _make(self, seed, rise=_EITHER)


FilterData = FollowerSeries | DecreasingSeries | IncreasingSeries | MixedSeries


def _crowd_of(data: FilterData) -> TwitterLike:
    return TwitterLike(keys=data.keys, active=data.active, minutes=data.minutes)


def _check(data: FilterData) -> None:
    check_within(0, 1, share=data.share)
    check_within(-(10**15), 10**15, threshold=data.threshold)
    _crowd_of(data)


def _make(data: FilterData, seed: int, *, rise: float) -> Traces:
    """The traces; every series changes at least once, since a flat one can cross nothing."""
    crowd_rng, stream_rng, change_rng, shift_rng = np.random.default_rng(seed).spawn(4)
    shape = _crowd_of(data)
    crowd = shape.crowd(crowd_rng)
    changes = random_snapshot_changes(
        crowd.frequency, snapshots=data.minutes, rng=change_rng, least=1
    )
    steps = follower_steps(len(changes), rise=rise, rng=change_rng)
    start = translated_start(
        extent_of(changes, steps, units=data.keys),
        choose_crossing(data.keys, data.share, shift_rng),
        threshold=data.threshold,
        rng=shift_rng,
    )
    background = background_trace(crowd.names, changes, start=start, steps=steps)
    return Traces(shape.stream(crowd, stream_rng), background, None, crowd.interval_ms)
