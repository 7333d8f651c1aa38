"""How many requests a service gets at a time."""

import asyncio

import pytest

from bestbefore.service.concurrency import AdaptiveLimit, Slots


def test_trouble_halves_and_success_adds():
    limit = AdaptiveLimit(8)
    seen = [limit.now]
    for _ in range(4):
        limit.overloaded(sent_in=limit.round)
        seen.append(limit.now)
    assert seen == [8, 4, 2, 1, 1]
    grown = []
    for _ in range(40):
        limit.answered(0.1, sent_in=limit.round)
        grown.append(limit.now)
    assert grown == sorted(grown)
    assert (grown[0], grown[-1]) == (2, 8)
    assert grown.index(8) > 16


def test_requests_of_one_congestion_halve_once():
    limit = AdaptiveLimit(8)
    sent_in = limit.round
    for _ in range(8):
        limit.overloaded(sent_in=sent_in)
    assert limit.now == 4


def test_replies_that_take_far_longer_than_before_halve():
    limit = AdaptiveLimit(8)
    for _ in range(10):
        limit.answered(0.1, sent_in=limit.round)
    limit.answered(0.3, sent_in=limit.round)
    assert limit.now == 8
    limit.answered(0.5, sent_in=limit.round)
    assert limit.now == 4


def test_a_quick_service_may_be_uneven():
    limit = AdaptiveLimit(4)
    for seconds in (0.001, 0.2, 0.001, 0.24):
        limit.answered(seconds, sent_in=limit.round)
    assert limit.now == 4


def test_what_was_quick_long_ago_is_forgotten():
    limit = AdaptiveLimit(4)
    limit.answered(0.1, sent_in=0)
    for _ in range(150):
        limit.answered(1.0, sent_in=limit.round)
    assert limit.now == 4


def test_slots_follow_the_limit():
    limit = AdaptiveLimit(4)
    slots = Slots(limit)
    out = peak = 0

    async def request(number):
        nonlocal out, peak
        async with slots:
            out += 1
            peak = max(peak, out)
            await asyncio.sleep(0)
            if number == 3:
                limit.overloaded(sent_in=limit.round)
                peak = 0
            out -= 1

    async def scene():
        await asyncio.gather(*map(request, range(20)))

    asyncio.run(scene())
    assert (limit.now, peak) == (2, 2)


def test_whoever_gives_up_waiting_takes_no_slot():
    slots = Slots(AdaptiveLimit(1))

    async def hold(seconds):
        async with slots:
            await asyncio.sleep(seconds)

    async def scene():
        tasks = [asyncio.ensure_future(hold(0.01)) for _ in range(4)]
        await asyncio.sleep(0)
        for task in tasks[1:3]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(hold(0), 1)

    asyncio.run(scene())


def test_a_slot_that_was_granted_to_someone_cancelled_goes_on():
    slots = Slots(AdaptiveLimit(1))

    async def enter():
        async with slots:
            pass

    async def scene():
        async with slots:
            first, second = (asyncio.ensure_future(enter()) for _ in range(2))
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, 1)
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(scene())


def test_a_single_slot_is_given_in_the_order_it_was_asked_for():
    slots, order = Slots(AdaptiveLimit(1)), []

    async def enter(number):
        async with slots:
            order.append(number)
            await asyncio.sleep(0)

    async def scene():
        await asyncio.gather(*map(enter, range(8)))

    asyncio.run(scene())
    assert order == list(range(8))
