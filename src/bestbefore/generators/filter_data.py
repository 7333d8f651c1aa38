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
        steps = follower_steps(len(changes), rise=self.rise, rng=change_rng)
        start = translated_start(
            extent_of(changes, steps, units=self.keys),
            choose_crossing(self.keys, self.share, shift_rng),
            threshold=self.threshold,
            rng=shift_rng,
        )
        background = background_trace(crowd.names, changes, start=start, steps=steps)
        return Traces(shape.stream(crowd, stream_rng), background, None, crowd.interval_ms)

    def _crowd(self) -> TwitterLike:
        return TwitterLike(keys=self.keys, active=self.active, minutes=self.minutes)
