"""How many requests leave in a second."""

import asyncio

import pytest

from bestbefore.service.pacing import Pacer


def sent_at(moved_time, per_second, requests):
    pacer = Pacer(per_second, moved_time.clock, moved_time.sleep)
    began = moved_time.now_ms

    async def send():
        turn = await pacer.turn()
        turn.use()
        return moved_time.now_ms - began

    async def scene():
        return [await send() for _ in range(requests)]

    return asyncio.run(scene())


@pytest.mark.parametrize(
    ("per_second", "instants"),
    [
        (None, [0, 0, 0, 0, 0]),
        (1, [1020, 2040, 3060, 4080, 5100]),
        (2, [1020, 1020, 2040, 2040, 3060]),
        (2.9, [1020, 1020, 2040, 2040, 3060]),
        (0.5, [2020, 4040, 6060, 8080, 10100]),
    ],
)
def test_turns_of_a_pace(moved_time, per_second, instants):
    assert sent_at(moved_time, per_second, 5) == instants


@pytest.mark.parametrize(("passed_ms", "waits"), [(1_018, True), (1_019, True), (1_020, False)])
def test_no_turn_comes_a_millisecond_early(moved_time, passed_ms, waits):
    pacer = Pacer(1, moved_time.clock, moved_time.sleep)
    began, moved_time.now_ms = moved_time.now_ms, moved_time.now_ms + passed_ms
    asyncio.run(pacer.turn())
    assert moved_time.now_ms - began == 1_020
    assert bool(moved_time.slept) == waits


def test_a_turn_comes_back_a_second_after_it_was_used_not_granted(moved_time):
    pacer = Pacer(1, moved_time.clock, moved_time.sleep)

    async def scene():
        first = await pacer.turn()
        second = asyncio.ensure_future(pacer.turn())
        await asyncio.sleep(0)
        moved_time.now_ms += 5_000
        first.use()
        first.use()
        used = moved_time.now_ms
        await second
        return moved_time.now_ms - used

    assert asyncio.run(scene()) == 1020


def test_a_turn_given_back_is_there_at_once(moved_time):
    pacer = Pacer(1, moved_time.clock, moved_time.sleep)

    async def scene():
        turn = await pacer.turn()
        granted = moved_time.now_ms
        turn.give_back()
        turn.use()
        await pacer.turn()
        return moved_time.now_ms - granted

    assert asyncio.run(scene()) == 0


def test_a_turn_that_was_given_up_counts_once_and_as_if_it_arrived_a_second_later(moved_time):
    pacer = Pacer(1, moved_time.clock, moved_time.sleep)

    async def scene():
        turn = await pacer.turn()
        lost = moved_time.now_ms
        turn.lose()
        turn.use()
        turn.lose()
        turn.give_back()
        found = []
        for _ in range(2):
            (await pacer.turn()).use()
            found.append(moved_time.now_ms - lost)
        return found

    assert asyncio.run(scene()) == [2_020, 3_040]
