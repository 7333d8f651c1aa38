"""One fetch of units: batches, their halves, and asking twice before a unit is called gone."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bestbefore.rdf.terms import Key, Row
from bestbefore.service.call import Call, Question
from bestbefore.service.dialect import Dialect
from bestbefore.service.endpoint import Endpoint
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import Rows
from bestbefore.service.service import ServiceState
from bestbefore.service.settings import ClientSettings
from bestbefore.service.sql_settings import SqlSettings

_SPOILT = "all rows that came for it hold something that is no RDF term"


# Windows forget most keys soon; who is asked for again later is asked twice again.
_MOST_DOUBTED = 10_000


@dataclass(slots=True)
class ProvenForm:
    """Whether the service has ever answered a query of the form that units are fetched with."""

    proven: bool = False


@dataclass(slots=True)
class Doubted:
    """The units that a reply had nothing of when no request was left to ask once more.

    If the next reply has nothing of them either they were asked for twice, and are gone.
    """

    _keys: dict[Key, None] = field(default_factory=dict)

    def add(self, keys: Iterable[Key]) -> None:
        """Remember units until they are asked for again."""
        self._keys.update(dict.fromkeys(keys))
        while len(self._keys) > _MOST_DOUBTED:
            self._keys.pop(next(iter(self._keys)))

    def take(self, keys: Iterable[Key]) -> set[Key]:
        """Those of some units that were in doubt; from now on they are not."""
        found = {key for key in keys if key in self._keys}
        for key in found:
            del self._keys[key]
        return found


@dataclass(frozen=True, slots=True)
class _Units:
    """What one request brought: the rows of units, and the units without a single valid one."""

    found: dict[Key, list[Row]]
    spoilt: frozenset[Key] = frozenset()


@dataclass(slots=True)
class Fetching:
    """One fetch: the requests that it may send, and what it has brought so far.

    A reply is taken for what it says only if it holds what was asked for: rows of other units and
    none of those that were named make all units of the request fail.
    """

    endpoint: Endpoint
    settings: ClientSettings | SqlSettings
    pattern: ServicePattern
    dialect: Dialect
    form: ProvenForm
    doubted: Doubted
    call: Call
    rows: dict[Key, tuple[Row, ...]] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    unsent: set[Key] = field(default_factory=set)
    unasked: int = 0
    invalid: int = 0
    _asked: set[Key] = field(default_factory=set)

    def fail(self, keys: Iterable[Key], reason: str, *, unsent: bool = False) -> None:
        """Take note that units were not fetched; what is known of them already stays."""
        for key in keys:
            if key not in self.rows and key not in self.failed:
                self.failed[key] = reason
                if unsent:
                    self.unsent.add(key)

    @property
    def state(self) -> ServiceState:
        """How the service was found."""
        if not self.failed:
            return "ok"
        if self.endpoint.breaker.is_open:
            return "open"
        if self.endpoint.gate.closed:
            return "waiting"
        if self.rows:
            return "degraded"
        return "unreachable" if self.call.sent and not self.call.answered else "failed"

    async def run(self, keys: Sequence[Key], *, deadline_s: float | None, left_s: float) -> None:
        """Fetch units until they are all there or `left_s` of the deadline are over."""
        try:
            async with asyncio.timeout(None if deadline_s is None else left_s):
                # A deadline that is over already cuts off here, before anything is sent.
                await asyncio.sleep(0)
                await self._run(keys)
        except TimeoutError:
            reason = f"not back within the deadline of {deadline_s:g} s"
            self.fail(self._asked, reason)
            self.fail(keys, reason, unsent=True)
            self.endpoint.miss_deadline(self.call, reason)

    async def _run(self, keys: Sequence[Key]) -> None:
        size = self.settings.units_per_request if self.pattern.key else 1
        batches = (keys[first : first + size] for first in range(0, len(keys), size))
        # No more tasks than can send at a time: each would have to be cut off at the deadline.
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.connections, len(keys))):
                group.create_task(self._work(batches))

    async def _work(self, batches: Iterator[Sequence[Key]]) -> None:
        for keys in batches:
            await self._batch(keys)

    async def _batch(self, keys: Sequence[Key]) -> None:
        try:
            missing = self._keep(keys, await self._ask(keys))
        except NoAnswerError as trouble:
            if len(keys) > 1 and self._is_the_keys_fault(trouble):
                await self._halves(keys)
            else:
                self.fail(keys, str(trouble), unsent=trouble.unsent)
            return
        doubted = self.doubted.take(keys)
        gone = [key for key in missing if len(keys) == 1 or key in doubted]
        self.rows.update((key, ()) for key in gone)
        if len(gone) < len(missing):
            await self._confirm([key for key in missing if key not in self.rows])

    async def _halves(self, keys: Sequence[Key]) -> None:
        """Ask for less at a time, so that a key the service cannot read fails alone."""
        middle = len(keys) // 2
        for half in (keys[:middle], keys[middle:]):
            await self._batch(half)

    async def _confirm(self, keys: Sequence[Key]) -> None:
        """Ask once more for units without rows: some services cut their replies without a sign."""
        try:
            missing = self._keep(keys, await self._ask(keys))
        except NoAnswerError as trouble:
            reason = f"no rows came, and asking once more failed: {trouble}"
            if trouble.unsent:
                self.doubted.add(keys)
            self.fail(keys, reason, unsent=trouble.unsent)
        else:
            self.rows.update((key, ()) for key in missing)

    def _keep(self, keys: Sequence[Key], units: _Units) -> list[Key]:
        """Keep what came; return the keys of which nothing did."""
        self.rows.update((key, tuple(rows)) for key, rows in units.found.items())
        self.fail(units.spoilt, _SPOILT)
        return [key for key in keys if key not in units.found and key not in units.spoilt]

    async def _ask(self, keys: Sequence[Key]) -> _Units:
        self._asked.update(keys)
        question = self.dialect.units(keys)
        rows = await self._rows(question)
        if question.unit is not None:
            return self._of_unit(question.unit, rows)
        return self._by_unit(keys, rows)

    def _by_unit(self, keys: Sequence[Key], rows: Rows) -> _Units:
        """What a reply has of each of some units."""
        columns = [self.pattern.variables.index(name) for name in self.pattern.key]
        found: dict[Key, list[Row]] = {key: [] for key in keys}
        unasked = 0
        for row in rows.rows:
            key = tuple([row[column] or "" for column in columns])
            if key in found:
                found[key].append(row)
            else:
                unasked += 1
        self.unasked += unasked
        found = {key: rows for key, rows in found.items() if rows}
        hit = {tuple([row[column] or "" for column in columns]) for row in rows.invalid}
        spoilt = frozenset(key for key in keys if key in hit and key not in found)
        if (unasked or rows.invalid) and not found and not spoilt:
            raise NoAnswerError(
                f"the reply has {len(rows)} rows, but none of the {len(keys)} units asked for"
            )
        return _Units(found, spoilt)

    def _of_unit(self, key: Key, rows: Rows) -> _Units:
        """What a reply has of the one unit that it is about, which it does not name."""
        others = self.pattern.others
        known = dict(zip(self.pattern.key, key, strict=True))
        named = [{**known, **dict(zip(others, row, strict=True))} for row in rows.rows]
        whole = [tuple(row[name] for name in self.pattern.variables) for row in named]
        if whole:
            return _Units({key: whole})
        return _Units({}, frozenset([key] if rows.invalid else ()))

    async def _rows(self, question: Question) -> Rows:
        try:
            rows = await self.endpoint.ask(question, self.call)
        except NoAnswerError as trouble:
            self.call.lost_in_a_row += not self._is_the_keys_fault(trouble)
            raise
        self.call.lost_in_a_row, self.form.proven = 0, True
        self.invalid += len(rows.invalid)
        return rows

    def _is_the_keys_fault(self, trouble: NoAnswerError) -> bool:
        """Whether a query was refused although the service has taken others of its form."""
        return trouble.refused and self.form.proven
