"""Best-before times: when a unit is expected to become stale."""

import numpy as np

from bestbefore.arrays import Integers

# What takes longer than 142,000 years to change never does; and so far floats divide exactly.
_NEVER_MS = 2**52


def next_best_before(best_before_ms: Integers, interval_ms: Integers, t_ms: int) -> Integers:
    """τ_next: the expected time of the first change after t, if changes come every I.

    acqua writes τ + I (equation 4), which may still lie before t when a unit is long overdue;
    τ + m·I with the smallest m ≥ 1 that lies after t is the same whenever τ + I > t does.
    A unit whose τ still lies ahead keeps it: refreshing early does not postpone the change.
    """
    # m is ⌊(t − τ + I)/I⌋, 0 before τ. Of floats, since integers take six times as long to divide.
    interval_ms = np.minimum(interval_ms, _NEVER_MS)
    elapsed = t_ms - best_before_ms
    elapsed += interval_ms
    np.maximum(elapsed, 0, out=elapsed)
    intervals = elapsed / interval_ms
    renewed = np.floor(intervals, out=intervals).astype(np.int64)
    renewed *= interval_ms
    renewed += best_before_ms
    return renewed


def fresh_evaluations(best_before_ms: Integers, t_ms: int, slide_ms: int) -> Integers:
    """V = ⌈(τ_next − t)/β⌉: the evaluations a unit stays fresh in, if refreshed now."""
    fresh = t_ms - best_before_ms
    fresh //= slide_ms
    return np.negative(fresh, out=fresh)
