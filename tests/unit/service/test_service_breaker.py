"""When the circuit opens, cools down and closes."""

import asyncio

import pytest

from bestbefore.service.breaker import CircuitBreaker
from bestbefore.service.no_answer import NoAnswerError


@pytest.fixture
def breaker(moved_time):
    return CircuitBreaker(2, 10.0, 25.0, moved_time.clock)


def admitted(breaker):
    return asyncio.run(breaker.admit())


def refused(breaker):
    with pytest.raises(NoAnswerError, match="nothing was sent, because the last"):
        admitted(breaker)
    return True


def test_only_failures_in_a_row_open_it(breaker):
    for _ in range(5):
        breaker.fail("x", probe=admitted(breaker))
        breaker.succeed(probe=admitted(breaker))
    assert breaker.state == "closed"
    breaker.fail("x", probe=False)
    breaker.fail("y", probe=False)
    assert (breaker.state, breaker.is_open, refused(breaker)) == ("open", True, True)


def test_the_message_says_how_long_nothing_is_sent_and_why(moved_time):
    breaker = CircuitBreaker(2, 300.0, 300.0, moved_time.clock)
    for reason in ("x", "y"):
        breaker.fail(reason, probe=False)
    moved_time.now_ms += 2_500
    with pytest.raises(NoAnswerError) as found:
        admitted(breaker)
    assert str(found.value) == (
        "nothing was sent, because the last 2 requests failed; the service is tried again in"
        " 297.5 s (last reason: y)"
    )


def test_waits_double_up_to_the_longest(breaker, moved_time):
    for _ in range(2):
        breaker.fail("x", probe=False)
    for wait_ms in (10_000, 20_000, 25_000, 25_000):
        moved_time.now_ms += wait_ms - 1
        assert refused(breaker)
        moved_time.now_ms += 1
        assert breaker.state == "half-open"
        assert admitted(breaker)
        breaker.fail("x", probe=True)
    moved_time.now_ms += 25_000
    assert admitted(breaker)
    breaker.succeed(probe=True)
    assert (breaker.state, admitted(breaker)) == ("closed", False)
    for _ in range(2):
        breaker.fail("x", probe=False)
    moved_time.now_ms += 10_000
    assert breaker.state == "half-open"


def test_requests_from_before_say_nothing_new(breaker, moved_time):
    for _ in range(2):
        breaker.fail("x", probe=False)
    moved_time.now_ms += 10_000
    assert admitted(breaker)
    breaker.fail("a request from before", probe=False)
    assert breaker.state == "half-open"
    breaker.succeed(probe=True)
    assert breaker.state == "closed"


def test_a_probe_that_was_never_sent_leaves_the_next_one_a_chance(breaker, moved_time):
    for _ in range(2):
        breaker.fail("x", probe=False)
    moved_time.now_ms += 10_000
    assert admitted(breaker)
    breaker.forget(probe=True)
    assert admitted(breaker)


@pytest.mark.parametrize("success", [True, False])
def test_others_wait_for_the_probe(breaker, moved_time, success):
    async def scene():
        assert await breaker.admit()
        others = [asyncio.ensure_future(breaker.admit()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(other.done() for other in others)
        (breaker.succeed(probe=True) if success else breaker.fail("x", probe=True))
        return await asyncio.gather(*others, return_exceptions=True)

    for _ in range(2):
        breaker.fail("x", probe=False)
    moved_time.now_ms += 10_000
    outcomes = asyncio.run(scene())
    assert [type(outcome) for outcome in outcomes] == [bool if success else NoAnswerError] * 3
    assert True not in outcomes
