"""The time of the stream while an evaluation runs."""

from dataclasses import replace

import pytest

from bestbefore.maintenance import event_clock

NOW = 1_750_000_000_000


def test_before_anything_was_measured_a_live_answer_is_written_at_once():
    clock = event_clock(lambda: NOW, NOW - 2_000)
    assert clock.live
    assert clock.now_ms(NOW - 2_000) == clock.written_ms(NOW - 2_000) == NOW
    assert clock.spent_ms(NOW - 2_000) == 2_000
    assert (clock.writing_ms, clock.busy_ms, clock.asking_ms) == (0, 0, 0)


def test_a_live_answer_is_written_as_long_after_now_as_writing_took_before():
    clock = replace(event_clock(lambda: NOW, NOW), writing_ms=300)
    assert clock.written_ms(NOW - 1_000) == NOW + 300


def test_no_live_answer_is_older_than_its_evaluation():
    clock = event_clock(lambda: NOW, NOW)
    assert clock.now_ms(NOW + 500) == NOW + 500
    assert clock.spent_ms(NOW + 500) == 0


@pytest.mark.parametrize("t_ms", [0, 5_000])
def test_no_time_passes_in_a_stream_that_is_replayed(t_ms):
    times = iter([NOW, NOW + 700])
    clock = event_clock(lambda: next(times), t_ms)
    assert not clock.live
    assert clock.now_ms(t_ms) == clock.written_ms(t_ms) == t_ms
    assert clock.spent_ms(t_ms) == 700
