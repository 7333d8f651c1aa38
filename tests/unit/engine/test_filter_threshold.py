"""The threshold of a FILTER: which units lie nearest to it."""

import numpy as np

from .conftest import integer, query, user


def test_a_filter_policy_asks_for_the_unit_nearest_to_the_threshold(rig):
    text = query(rest="FILTER(?followers > 320)")
    run = rig("Filter", text=text, budget=1)
    events = [(1_000, user(n)) for n in (1, 3, 5)]
    run.run(events, batches=[[1]])
    assert run.service.asked == [[(user(3),)]]
    # Its new value lies farther away: the next time another is the nearest.
    run.service.rows = [(user(1), integer(300)), (user(3), integer(900)), (user(5), integer(500))]
    run.run(events, batches=[[1], [2]])
    run.run(events, batches=[[1], [2], [3]])
    assert run.service.asked[1:] == [[(user(3),)]]
    assert run.view.units.value[run.view.numbers([(user(3),)])].tolist() == [900.0]
    later = [(11_000, user(n)) for n in (1, 3, 5)]
    run.run(later, batches=[[1], [2], [3], [4]])
    assert run.service.asked[2:] == [[(user(5),)]]


def test_a_unit_s_value_is_the_number_of_its_nearest_row_if_it_has_any(rig):
    rows = [(user(1), integer(1)), (user(1), integer(280)), (user(2), '"many"'), (user(3), '"300"')]
    run = rig("WBM.F*", rows=rows, text=query(rest="FILTER(300 >= ?followers)"))
    run.run([], batches=[])
    assert np.nan_to_num(run.view.units.value, nan=-1).tolist() == [280.0, -1.0, -1.0]
