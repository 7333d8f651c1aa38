"""One endpoint: when it may be asked, how much at a time, and when once more."""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from bestbefore.service import redirects
from bestbefore.service.breaker import CircuitBreaker
from bestbefore.service.call import Call, Question
from bestbefore.service.concurrency import AdaptiveLimit, Slots
from bestbefore.service.gate import Gate, Sleep, backoff_s, retry_after_s
from bestbefore.service.message import Message, Statement
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.pacing import Turn, shared_pacer
from bestbefore.service.reply import Reply, failure
from bestbefore.service.request_times import Stopwatch
from bestbefore.service.results import Rows
from bestbefore.service.settings import ClientSettings
from bestbefore.service.sql_settings import SqlSettings
from bestbefore.time import Clock, monotonic_s

_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class _Permit:
    """The permission to send one request, and what is to be remembered of the moment."""

    turn: Turn
    probe: bool
    sent_in: int
    started_s: float


class Exchange(Protocol):
    """Whoever carries messages of one form to a service, and brings back what it says."""

    async def exchange(self, message: Any, question: Question, turn: Turn) -> Rows | Reply:  # noqa: ANN401
        """The rows of a reply, or a reply that holds none; else `NoAnswerError`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class Endpoint:
    """One endpoint behind one pool of connections; lives on one event loop."""

    def __init__(
        self,
        settings: ClientSettings | SqlSettings,
        transport: Exchange,
        *,
        clock: Clock,
        steady_clock: Clock,
        sleep: Sleep,
        jitter: Random,
    ) -> None:
        self._settings = settings
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self.gate = Gate(settings.max_retry_after_s, clock, sleep, steady_clock)
        self.breaker = CircuitBreaker(
            settings.circuit_failures,
            settings.circuit_wait_s,
            settings.circuit_longest_wait_s,
            steady_clock,
        )
        self.stopwatch = Stopwatch()
        rate = settings.requests_per_second
        self._pacer = shared_pacer(settings.address, rate, steady_clock, sleep)
        self._limit = AdaptiveLimit(settings.connections)
        self._slots = Slots(self._limit)
        self._transport = transport

    async def ask(self, question: Question, call: Call) -> Rows:
        """Return the rows of the reply to a question, trying again while trouble may pass."""
        attempt = 1
        # A query that backs off keeps its slot, so that a service in trouble is asked less.
        async with self._slots:
            while True:
                try:
                    return await self._follow(question, call)
                except NoAnswerError as trouble:
                    if not trouble.passing:
                        raise
                    last = attempt == self._settings.attempts or call.exhausted
                    if last or self.breaker.is_open:
                        raise NoAnswerError(_after(trouble, attempt)) from None
                self.gate.check_open()
                await self._sleep(backoff_s(attempt, self._jitter))
                attempt += 1

    def miss_deadline(self, call: Call, reason: str) -> None:
        """Take note that a call was cut off; without any reply that is a sign like a timeout."""
        if call.sent and not call.answered:
            self.breaker.fail(reason, probe=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _follow(self, question: Question, call: Call) -> Rows:
        """Send a query and go where the service says that it is answered."""
        message = question.message
        for _ in range(1 + redirects.MOST):
            outcome = await self._send(message, question, call)
            if isinstance(outcome, Rows):
                return outcome
            if outcome.status in question.absent:
                return Rows([], [])
            if outcome.status == _NOT_MODIFIED and question.unchanged is not None:
                call.not_modified += 1
                return question.unchanged
            if outcome.status not in redirects.STATUSES or not isinstance(message, Message):
                raise failure(outcome)
            message = message.redirected(outcome)
        raise NoAnswerError(f"the service redirected more than {redirects.MOST} times")

    async def _send(
        self, message: Message | Statement, question: Question, call: Call
    ) -> Rows | Reply:
        """Send one request when it may be sent, and take note of how it went."""
        permit = await self._permit(call)
        try:
            outcome = await self._transport.exchange(message, question, permit.turn)
        except NoAnswerError as trouble:
            if trouble.unreached:
                self._note_trouble(permit, str(trouble))
            else:
                self._note_reply(permit, call)
            raise
        except asyncio.CancelledError:
            if permit.probe:
                # A probe that was not waited for has not shown that the service is back.
                self.breaker.fail("cut off before the reply came", probe=True)
            raise
        finally:
            # If no reply has begun to come, nobody knows when the request arrives.
            permit.turn.lose()
        if isinstance(outcome, Reply):
            self._note_status(permit, call, outcome)
        else:
            self._note_reply(permit, call)
            if question.comparable:
                self._note_seconds(permit, call)
        return outcome

    async def _permit(self, call: Call) -> _Permit:
        """Wait until a request may be sent, and count it."""
        probe = await self.breaker.admit()
        turn = None
        try:
            call.check()
            turn = await self._pacer.turn()
            await self.gate.admit()
            call.take()
        except BaseException:
            self.breaker.forget(probe=probe)
            if turn is not None:
                turn.give_back()
            raise
        return _Permit(turn, probe, self._limit.round, monotonic_s())

    def _note_status(self, permit: _Permit, call: Call, reply: Reply) -> None:
        if reply.status >= 400:
            wait_s = retry_after_s(reply.headers.get("retry-after"), now_ms=self._clock())
            self.gate.hold(wait_s or 0.0)
        if reply.overloaded:
            call.answered += 1
            self._note_trouble(permit, reply.title)
        else:
            self._note_reply(permit, call)

    def _note_trouble(self, permit: _Permit, reason: str) -> None:
        self.breaker.fail(self._settings.redact(reason), probe=permit.probe)
        self._limit.overloaded(sent_in=permit.sent_in)

    def _note_reply(self, permit: _Permit, call: Call) -> None:
        call.answered += 1
        self.breaker.succeed(probe=permit.probe)

    def _note_seconds(self, permit: _Permit, call: Call) -> None:
        seconds = monotonic_s() - permit.started_s
        call.seconds.append(seconds)
        self.stopwatch.record(seconds)
        self._limit.answered(seconds, sent_in=permit.sent_in)


def _after(trouble: NoAnswerError, attempts: int) -> str:
    return f"{trouble} (after {attempts} attempts)" if attempts > 1 else str(trouble)
