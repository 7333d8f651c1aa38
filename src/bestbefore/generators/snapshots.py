"""Changes that show in a snapshot a minute."""

import numpy as np

from bestbefore.generators.changes import Changes
from bestbefore.generators.mentions import MINUTE_MS
from bestbefore.generators.zipf import Floats


def random_snapshot_changes(
    frequency: Floats, *, snapshots: int, rng: np.random.Generator, least: int = 0
) -> Changes:
    """Changes at random minutes, as many as a unit's frequency per minute makes expect.

    The first snapshot, at time 0, is the start; every later one can differ from the one before.
    """
    later = snapshots - 1
    count = np.clip(np.rint(frequency * later), least, later)
    rank = np.argsort(np.argsort(rng.random((len(frequency), later)), axis=1), axis=1)
    unit, minute = np.nonzero(rank < count[:, np.newaxis])
    return Changes(unit, (minute + 1) * MINUTE_MS)


def regular_snapshot_changes(
    frequency: Floats, *, snapshots: int, rng: np.random.Generator
) -> Changes:
    """Changes at even distances; each shows in the first snapshot after it."""
    interval = 1 / np.minimum(frequency, 1.0)
    phase = interval * (1 - rng.random(len(frequency)))
    count = np.floor((snapshots - 1 - phase) / interval).astype(np.int64) + 1
    unit = np.repeat(np.arange(len(frequency)), count)
    number = np.arange(len(unit)) - np.repeat(np.cumsum(count) - count, count)
    minute = np.ceil(phase[unit] + number * interval[unit]).astype(np.int64)
    return Changes(unit, minute * MINUTE_MS)
