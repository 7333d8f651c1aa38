import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators.changes import (
    background_trace,
    draw_changes,
    levels,
    periodic_changes,
    poisson_changes,
    random_steps,
)
from bestbefore.generators.keys import numbered


def times_of(changes, unit):
    return changes.ts_ms[changes.unit == unit]


def test_periodic_changes_have_one_distance_and_a_phase_of_their_own(rng):
    interval_ms = np.full(500, 70)
    changes = periodic_changes(interval_ms, duration_ms=1_000, rng=rng)
    phases = [times_of(changes, unit)[0] for unit in range(500)]
    assert (min(phases), max(phases)) == (1, 70)
    assert np.mean(phases) == pytest.approx(35.5, rel=0.05)
    for unit in range(500):
        times = times_of(changes, unit)
        assert set(np.diff(times)) == {70}
        assert 1_000 - 70 < times[-1] <= 1_000


def test_a_unit_that_changes_more_slowly_than_the_run_lasts(rng):
    changes = periodic_changes(np.full(1_000, 4_000), duration_ms=1_000, rng=rng)
    counts = np.bincount(changes.unit, minlength=1_000)
    assert set(counts) == {0, 1}
    assert counts.mean() == pytest.approx(0.25, rel=0.15)


def test_poisson_changes_come_at_random(rng):
    changes = poisson_changes(np.array([1_000, 5_000]), duration_ms=5_000_000, rng=rng)
    assert np.bincount(changes.unit) == pytest.approx([5_000, 1_000], rel=0.08)
    gaps = np.diff(times_of(changes, 0))
    assert gaps.std() == pytest.approx(1_000, rel=0.05)


def test_two_poisson_changes_never_share_a_time(rng):
    changes = poisson_changes(np.array([1, 1]), duration_ms=100, rng=rng)
    for unit in (0, 1):
        assert np.all(np.diff(times_of(changes, unit)) > 0)


def test_no_changes_at_all(rng):
    changes = draw_changes("poisson", np.array([10**9]), duration_ms=1, rng=rng)
    trace = background_trace(
        numbered("u", 1), changes, start=np.array([5]), steps=np.array([], dtype=np.int64)
    )
    assert trace.value.tolist() == ["5"]


def test_steps_are_never_0(rng):
    steps = random_steps(20_000, rise=0.75, rng=rng, least=2)
    assert np.abs(steps).min() == 2
    assert np.abs(steps).mean() == pytest.approx(30, rel=0.03)
    assert (steps > 0).mean() == pytest.approx(0.75, rel=0.02)
    assert np.abs(random_steps(20_000, rise=0.5, rng=rng)).min() == 1


def test_a_walk_goes_on_from_value_to_value(rng):
    changes = periodic_changes(np.array([10, 25]), duration_ms=50, rng=rng)
    steps = np.arange(1, len(changes) + 1)
    assert levels(changes, steps).tolist() == [1, 3, 6, 10, 15, 6, 13]
    trace = background_trace(numbered("u", 2), changes, start=np.array([100, 200]), steps=steps)
    assert trace.value[trace.key == "u1"].tolist() == ["100", "101", "103", "106", "110", "115"]
    assert trace.value[trace.key == "u2"].tolist() == ["200", "206", "213"]
    assert trace.ts_ms[:2].tolist() == [0, 0]
    assert np.all(np.diff(trace.ts_ms) >= 0)


def test_changes_that_do_not_fit_into_memory_are_refused(rng):
    with pytest.raises(InputError, match="changes, more than 100,000,000"):
        draw_changes("periodic", np.array([1]), duration_ms=10**12, rng=rng)
