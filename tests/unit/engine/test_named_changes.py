"""Units that a stream names as changed: stale for certain until they are refreshed."""

import numpy as np
import pytest

from bestbefore.view.units import CHANGED
from tests.unit.engine.conftest import integer, user

EVENTS = [(time, user(number)) for time in range(1_000, 60_000, 1_000) for number in range(8)]


@pytest.mark.parametrize("policy", ["EFG", "WSJ-LRU"])
def test_what_has_changed_is_stale_until_it_is_refreshed(rig, policy):
    made = rig(policy, budget=1).run(EVENTS, batches=[[1, 2]])
    made.service.rows[5] = (user(5), integer(9))
    made.served.note_changes(1, [(user(5),), (user(77),)], 10_000)
    five = made.view.numbers([(user(5),)])
    assert made.view.units.fresh_probability(five, 15_000).tolist() == [0.0]
    assert not made.view.fresh(five, 15_000).any()
    learned = made.view.units.rates.likelihood[five].copy()
    # The process ends here, and the batch is not committed: it brings the change again.
    made.run(EVENTS, batches=[[1, 2]])
    made.served.note_changes(1, [(user(5),)], 10_000)
    made._batch(1, [3], EVENTS)
    assert made.service.asked[-1] == [(user(5),)]
    assert made.raw[-1].changed == 1
    five = made.view.numbers([(user(5),)])
    assert made.view.units.refreshed_ms[five] == 15_000
    assert made.view.units.fresh_probability(five, 15_000).tolist() == [1.0]
    # That it had changed was known: its refresh tells nothing of how often it does.
    assert np.array_equal(made.view.units.rates.likelihood[five], learned)


def test_a_crash_loses_none(rig):
    made = rig("EFG", budget=0).run(EVENTS, batches=[[1, 2]])
    made.served.note_changes(1, [(user(3),), (user(4),)], 10_000)
    made._batch(1, [3], EVENTS)
    estimate = made.raw[-1].fresh.copy()
    assert sorted(estimate)[:2] == [0.0, 0.0]
    made.run(EVENTS, batches=[[1, 2], [3], [4]])
    three, four = made.view.numbers([(user(3),), (user(4),)])
    assert made.view.units.refreshed_ms[[three, four]].tolist() == [CHANGED, CHANGED]
    assert (made.raw[-1].fresh == 0).sum() == 2


def test_a_change_before_the_first_evaluation_counts(rig):
    made = rig("EFG", budget=1)
    made.run(EVENTS, batches=[])
    made.served.note_changes(0, [(user(6),)], 0)
    made._batch(0, [1], EVENTS)
    assert made.service.asked[-1] == [(user(6),)]
