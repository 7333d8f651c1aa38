"""The SPARQL client: blocking calls, from any thread, onto one event loop."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Self

from bestbefore.errors import ServiceError
from bestbefore.rdf.terms import Key, Row
from bestbefore.service import request
from bestbefore.service.endpoint import Call, Endpoint, Sleep
from bestbefore.service.loop import LoopThread
from bestbefore.service.reply import NoAnswerError, read_rows
from bestbefore.service.request import ServicePattern
from bestbefore.service.service import Fetched, Loaded
from bestbefore.service.settings import ClientSettings
from bestbefore.time import Clock, monotonic_s, wall_clock_ms


@dataclass(slots=True)
class _Fetch:
    """One fetch: the requests that it may send, and what it has brought so far."""

    call: Call
    rows: dict[Key, tuple[Row, ...]] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    unasked: int = 0
    unsent: set[Key] = field(default_factory=set)

    def fail(self, keys: Iterable[Key], trouble: NoAnswerError, *, after: str = "") -> None:
        lost = [key for key in keys if key not in self.rows]
        self.failed.update(dict.fromkeys(lost, f"{after}{trouble}"))
        if trouble.unsent:
            self.unsent.update(lost)


class SparqlClient:
    """The `Service` behind a SPARQL 1.1 (or, one unit at a time, 1.0) endpoint.

    Its connections stay open between calls, until `close`. A unit is believed gone only after a
    reply that asked for it alone, or twice: a batch that brings nothing for some of its units is
    followed by one request for just those. Data that changes while a load reads its pages may be
    seen in part; the next refresh of those units puts it right.
    """

    def __init__(
        self,
        settings: ClientSettings,
        pattern: ServicePattern,
        *,
        clock: Clock = wall_clock_ms,
        sleep: Sleep = asyncio.sleep,
        jitter: Random | None = None,
    ) -> None:
        self._settings, self._pattern = settings, pattern
        # Spreading retries needs no secrecy.
        jitter = jitter or Random()  # noqa: S311
        self._endpoint = Endpoint(settings, clock=clock, sleep=sleep, jitter=jitter)
        self._thread = LoopThread(f"sparql {settings.address}")
        self._proven = False

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
        return Loaded(tuple(rows), call.sent, monotonic_s() - started)

    def fetch(self, keys: Sequence[Key], *, requests_allowed: int | None = None) -> Fetched:
        """Return the current rows of the units; trouble puts units in `failed` and never raises."""
        started, fetch = monotonic_s(), _Fetch(Call(requests_allowed))
        refusals = {key: request.refusal(self._pattern, key) for key in keys}
        sendable = [key for key, why in refusals.items() if why is None]
        if sendable:
            try:
                self._thread.run(lambda: self._fetch(sendable, fetch))
            except NoAnswerError as trouble:
                fetch.fail(sendable, trouble)
        failed = {key: self._settings.redact(why) for key, why in fetch.failed.items()}
        failed.update((key, why) for key, why in refusals.items() if why is not None)
        seconds = monotonic_s() - started
        return Fetched(
            fetch.rows,
            failed,
            fetch.call.sent,
            seconds,
            fetch.unasked,
            unsent=frozenset(fetch.unsent),
        )

    def close(self) -> None:
        """Close the connections and end the thread; calls that still wait fail."""
        self._thread.close(self._endpoint.close)

    async def _load(self, call: Call) -> list[Row]:
        size = self._settings.page_rows
        page = await self._page(call, offset=0)
        rows = list(page)
        while size is not None and len(page) == size:
            previous, page = page, await self._page(call, offset=len(rows))
            # Equal pages in a total order hold one row over and over, or were never turned.
            if page == previous and len(set(page)) > 1:
                raise NoAnswerError("the service ignores OFFSET; load without page_rows")
            rows.extend(page)
        return rows

    async def _page(self, call: Call, *, offset: int) -> list[Row]:
        limit = self._settings.page_rows
        query = request.load_query(self._pattern, limit=limit, offset=offset)
        reply = await self._endpoint.ask(query, call, timeout_s=self._settings.load_timeout_s)
        return read_rows(
            reply, self._pattern.variables, max_rows=self._settings.max_rows, limit=limit
        )

    async def _fetch(self, keys: Sequence[Key], fetch: _Fetch) -> None:
        size = self._settings.units_per_request if self._pattern.key else 1
        async with asyncio.TaskGroup() as group:
            for first in range(0, len(keys), size):
                group.create_task(self._fetch_batch(keys[first : first + size], fetch))

    async def _fetch_batch(self, keys: Sequence[Key], fetch: _Fetch) -> None:
        try:
            found = await self._ask_units(keys, fetch)
        except NoAnswerError as trouble:
            if len(keys) > 1 and self._is_the_keys_fault(trouble):
                await self._fetch_halves(keys, fetch)
            else:
                fetch.fail(keys, trouble)
            return
        missing = [key for key in keys if key not in found]
        fetch.rows.update((key, tuple(rows)) for key, rows in found.items())
        if missing and len(keys) > 1:
            await self._confirm(missing, fetch)
        else:
            fetch.rows.update((key, ()) for key in missing)

    async def _fetch_halves(self, keys: Sequence[Key], fetch: _Fetch) -> None:
        """Ask for less at a time, so that a key the service cannot read fails alone."""
        middle = len(keys) // 2
        for half in (keys[:middle], keys[middle:]):
            await self._fetch_batch(half, fetch)

    async def _confirm(self, keys: Sequence[Key], fetch: _Fetch) -> None:
        """Ask once more for units without rows: some services cut their replies without a sign."""
        try:
            found = await self._ask_units(keys, fetch)
        except NoAnswerError as trouble:
            fetch.fail(keys, trouble, after="no rows came, and asking once more failed: ")
        else:
            fetch.rows.update((key, tuple(found.get(key, ()))) for key in keys)

    async def _ask_units(self, keys: Sequence[Key], fetch: _Fetch) -> dict[Key, list[Row]]:
        if self._settings.units_per_request == 1 or not self._pattern.key:
            return await self._ask_single(keys[0], fetch.call)
        query = request.refresh_query(self._pattern, keys)
        rows = await self._rows(query, self._pattern.variables, fetch.call)
        columns = [self._pattern.variables.index(name) for name in self._pattern.key]
        found: dict[Key, list[Row]] = {}
        asked = set(keys)
        for row in rows:
            key = tuple(row[column] or "" for column in columns)
            if key in asked:
                found.setdefault(key, []).append(row)
            else:
                fetch.unasked += 1
        return found

    async def _ask_single(self, key: Key, call: Call) -> dict[Key, list[Row]]:
        others = self._pattern.others
        known = dict(zip(self._pattern.key, key, strict=True))
        rows = await self._rows(request.single_query(self._pattern, key), others, call)
        named = [{**known, **dict(zip(others, row, strict=True))} for row in rows]
        whole = [tuple(row[name] for name in self._pattern.variables) for row in named]
        return {key: whole} if whole else {}

    async def _rows(self, query: str, variables: Sequence[str], call: Call) -> list[Row]:
        try:
            reply = await self._endpoint.ask(query, call, timeout_s=self._settings.timeout_s)
            rows = read_rows(reply, variables, max_rows=self._settings.max_rows)
        except NoAnswerError as trouble:
            call.lost_in_a_row += not self._is_the_keys_fault(trouble)
            raise
        call.lost_in_a_row, self._proven = 0, True
        return rows

    def _is_the_keys_fault(self, trouble: NoAnswerError) -> bool:
        """Whether a query was refused although the service has taken others of its form."""
        return trouble.refused and self._proven
