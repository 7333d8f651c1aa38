"""The client of a service: blocking calls, from any thread, onto one event loop."""

import asyncio
import logging
from collections.abc import Sequence
from random import Random
from typing import Self

from bestbefore.errors import ServiceError
from bestbefore.rdf.terms import Key, Row
from bestbefore.service.breaker import CircuitState
from bestbefore.service.call import Call
from bestbefore.service.dialect import Dialect
from bestbefore.service.endpoint import Endpoint, Exchange
from bestbefore.service.fetching import Doubted, Fetching, ProvenForm
from bestbefore.service.gate import Sleep
from bestbefore.service.http_lookup import Http
from bestbefore.service.loop import LoopThread
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.request import ServicePattern
from bestbefore.service.request_times import RequestTimes
from bestbefore.service.results import Rows
from bestbefore.service.service import Fetched, Loaded
from bestbefore.service.settings import ClientSettings
from bestbefore.service.sparql import Sparql
from bestbefore.service.sql import Sql
from bestbefore.service.sql_drivers import driver_of
from bestbefore.service.sql_settings import SqlSettings
from bestbefore.service.sql_transport import SqlTransport
from bestbefore.service.transport import Transport
from bestbefore.time import Clock, monotonic_ms, monotonic_s, wall_clock_ms

_LOG = logging.getLogger("bestbefore.service")


def dialect_of(settings: ClientSettings | SqlSettings, pattern: ServicePattern) -> Dialect:
    """The dialect in which a pattern is asked of a service."""
    if isinstance(settings, SqlSettings):
        return Sql(settings, pattern)
    if settings.lookup is not None:
        limits = settings.timeout_s, settings.max_rows
        return Http(settings.lookup, pattern, *limits, settings.with_secrets)
    return Sparql(settings, pattern)


def _transport_of(settings: ClientSettings | SqlSettings) -> Exchange:
    if isinstance(settings, SqlSettings):
        return SqlTransport(settings, driver_of(settings))
    return Transport(settings)


class ServiceClient:
    """The `Service` behind an endpoint, which it asks in the dialect of its kind.

    Its connections stay open between calls, until `close`. A unit is believed gone only after a
    reply that asked for it alone, or twice: a batch that brings nothing for some of its units is
    followed by one request for just those. Data that changes while a load reads its pages may be
    seen in part; the next refresh of those units puts it right.
    """

    def __init__(
        self,
        settings: ClientSettings | SqlSettings,
        pattern: ServicePattern,
        *,
        clock: Clock = wall_clock_ms,
        steady_clock: Clock = monotonic_ms,
        sleep: Sleep = asyncio.sleep,
        jitter: Random | None = None,
    ) -> None:
        self._settings, self._pattern = settings, pattern
        self._dialect = dialect_of(settings, pattern)
        # Spreading retries needs no secrecy.
        jitter = jitter or Random()  # noqa: S311
        self._endpoint = Endpoint(
            settings,
            _transport_of(settings),
            clock=clock,
            steady_clock=steady_clock,
            sleep=sleep,
            jitter=jitter,
        )
        self._thread = LoopThread(f"client of {settings.address}")
        self._form, self._doubted = ProvenForm(), Doubted()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, *, requests_allowed: int | None = None) -> Loaded:
        """Return all mappings of the pattern, complete, or raise `ServiceError`."""
        started, call = monotonic_s(), Call(requests_allowed)
        try:
            rows = self._thread.run(lambda: self._load(call))
        except NoAnswerError as trouble:
            reason = self._settings.redact(str(trouble))
            raise ServiceError(f"loading from {self._settings.address} failed: {reason}") from None
        seconds = monotonic_s() - started
        return Loaded(tuple(rows.rows), call.sent, seconds, len(rows.invalid))

    def fetch(
        self,
        keys: Sequence[Key],
        *,
        requests_allowed: int | None = None,
        deadline_s: float | None = None,
    ) -> Fetched:
        """Return the current rows of the units; trouble puts units in `failed` and never raises."""
        started = monotonic_s()
        refusals = {key: self._dialect.refusal(key) for key in keys}
        sendable = [key for key, why in refusals.items() if why is None]
        fetching = self._fetching(Call(requests_allowed))
        if sendable:
            left_s = (deadline_s or 0.0) - (monotonic_s() - started)
            try:
                self._thread.run(
                    lambda: fetching.run(sendable, deadline_s=deadline_s, left_s=left_s)
                )
            except NoAnswerError as trouble:
                fetching.fail(sendable, str(trouble), unsent=trouble.unsent)
        shown = {why: self._settings.redact(why) for why in set(fetching.failed.values())}
        failed = {key: shown[why] for key, why in fetching.failed.items()}
        failed.update((key, why) for key, why in refusals.items() if why is not None)
        return Fetched(
            rows=fetching.rows,
            failed=failed,
            requests=fetching.call.sent,
            seconds=monotonic_s() - started,
            unasked=fetching.unasked,
            invalid=fetching.invalid,
            state=fetching.state,
            request_seconds=tuple(fetching.call.seconds),
            unsent=frozenset(fetching.unsent),
            not_modified=fetching.call.not_modified,
        )

    @property
    def request_times(self) -> RequestTimes:
        """How long the requests for units took of late."""
        return self._endpoint.stopwatch.times()

    @property
    def circuit(self) -> CircuitState:
        """Whether requests go through to the service, none does, or the next one is to try it."""
        return self._endpoint.breaker.state

    def close(self) -> None:
        """Close the connections and end the thread; calls that still wait fail."""
        self._thread.close(self._endpoint.close)

    def _fetching(self, call: Call) -> Fetching:
        asked = self._endpoint, self._settings, self._pattern, self._dialect
        return Fetching(*asked, self._form, self._doubted, call)

    async def _load(self, call: Call) -> Rows:
        size = self._settings.page_rows
        page = await self._endpoint.ask(self._dialect.page(0), call)
        rows: list[Row] = list(page.rows)
        invalid: list[Row] = list(page.invalid)
        while size is not None and len(page) == size:
            following = self._dialect.page(len(rows) + len(invalid))
            previous, page = page, await self._endpoint.ask(following, call)
            # Equal pages in a total order hold one row over and over, or were never turned.
            if page == previous and len(set(page.rows)) > 1:
                raise NoAnswerError("the service ignores OFFSET; load without page_rows")
            rows.extend(page.rows)
            invalid.extend(page.invalid)
            _LOG.info("%d rows loaded so far from %s", len(rows), self._settings.address)
        return Rows(rows, invalid)
