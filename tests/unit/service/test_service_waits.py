"""When the service is asked again."""

import asyncio
from random import Random

import pytest

from bestbefore.service.gate import Gate, backoff_s, retry_after_s
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.time import format_instant

NOON_MS = 1_700_049_600_000  # Wed, 15 Nov 2023 12:00:00 GMT


def test_waits_double_up_to_a_cap_and_are_spread():
    class Never(Random):
        def random(self):
            return 0.0

    assert [backoff_s(attempt, Never()) for attempt in (1, 2, 3, 5, 9, 5000)] == [
        0.5,
        1.0,
        2.0,
        8.0,
        8.0,
        8.0,
    ]
    spread = {backoff_s(1, Random(seed)) for seed in range(20)}
    assert len(spread) == 20
    assert 0.25 <= min(spread) <= max(spread) <= 0.5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("Wed, 15 Nov 2023 12:00:30 GMT", 30.0),
        ("Wed, 15 Nov 2023 12:00:30", 30.0),
        ("Wed, 15 Nov 2023 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("9" * 500, None),
        ("999999999999", 366 * 86_400),
        ("Wed, 15 Nov 9999 12:00:00 GMT", 366 * 86_400),
        ("Wed, 99 Nov 2023 12:00:00 GMT", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after_s(value, now_ms=NOON_MS) == seconds


def test_a_short_wait_is_sat_out_and_a_long_one_closes_the_gate(moved_time):
    gate = Gate(30, moved_time.clock, moved_time.sleep, moved_time.clock)
    asyncio.run(gate.admit())
    gate.hold(30)
    asyncio.run(gate.admit())
    assert moved_time.slept == [30.0]
    gate.hold(31)
    with pytest.raises(NoAnswerError, match=r"not to be called before 2023-11-14T22:14:21Z"):
        asyncio.run(gate.admit())
    moved_time.now_ms += 31_000
    asyncio.run(gate.admit())
    assert moved_time.slept == [30.0]


def test_a_later_shorter_wait_does_not_open_the_gate_early(moved_time):
    gate = Gate(30, moved_time.clock, moved_time.sleep, moved_time.clock)
    gate.hold(20)
    gate.hold(1)
    asyncio.run(gate.admit())
    assert moved_time.slept == [20.0]


@pytest.mark.parametrize("set_ms", [-40 * 86_400_000, 40 * 86_400_000])
def test_a_wall_clock_that_is_set_changes_no_wait(moved_time, set_ms):
    wall = {"set_ms": 0}
    gate = Gate(30, lambda: moved_time.now_ms + wall["set_ms"], moved_time.sleep, moved_time.clock)
    gate.hold(20)
    gate.hold(31)
    wall["set_ms"] = set_ms
    moment = format_instant(moved_time.now_ms + set_ms + 31_000)
    with pytest.raises(NoAnswerError, match=f"before {moment}"):
        asyncio.run(gate.admit())
    moved_time.now_ms += 31_000
    gate.hold(20)
    asyncio.run(gate.admit())
    assert moved_time.slept == [20.0]


def test_a_gate_that_nobody_closed_is_open_whatever_the_clock_shows(moved_time):
    gate = Gate(1.0, moved_time.clock, moved_time.sleep, steady=lambda: 0)
    asyncio.run(gate.admit())
    assert not gate.closed
    assert moved_time.slept == []
