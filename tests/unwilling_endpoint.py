"""A SPARQL endpoint in trouble: it counts who comes, and its data changes all the time."""

import asyncio
import json
import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from urllib.parse import quote

from tests.unit.service.conftest import ScriptedEndpoint, query_of, result

PREDICATES = ("followers", "likes")
TROUBLE = {
    "answer": 40,
    "status": 8,
    "retry_after": 4,
    "storm": 2,
    "hang": 1,
    "drop": 6,
    "break_off": 4,
    "slow": 3,
    "too_slow": 1,
    "cut": 5,
    "html": 4,
    "refuse": 4,
    "others": 3,
    "forget": 5,
    "redirect": 4,
}
CALM = {"answer": 1}
_TICK_S, _STALL_S = 0.01, 0.04


def iri(number):
    return f"http://e/u/{number}"


def rows_of(version):
    """The values of a unit: two that change together, or none when it is gone."""
    return () if version % 5 == 0 else (str(version), f"{version}+")


@dataclass
class Arrival:
    """A request, as the server saw it come."""

    at_ms: int
    at_s: float
    evaluation: int
    predicate: str = ""
    users: tuple = ()


@dataclass
class Unit:
    """One user's values of a predicate, now and at all times before."""

    version: int = 1
    ever: set = field(default_factory=lambda: {rows_of(1)})

    def change(self):
        self.version += 1
        self.ever.add(rows_of(self.version))


class UnwillingEndpoint(ScriptedEndpoint):
    """An endpoint that answers when it likes, over units that change with every request."""

    def begin(self, seed, *, users, now_ms=lambda: 0, trouble=TROUBLE):
        """Forget everything; `now_ms` is the time in which arrivals are counted."""
        self.reset()
        self.rng, self.trouble, self.now_ms = Random(seed), trouble, now_ms
        self.arrivals, self.evaluation, self.storm = [], 0, 0
        self.stalls = 0
        self._loop.call_soon_threadsafe(self._tick, monotonic())
        self.forgotten = frozenset()
        self.units = defaultdict(Unit)
        self.known = [(name, iri(number)) for name in PREDICATES for number in range(users)]

    def _tick(self, before):
        """Count how often this endpoint itself was kept from working, by whatever else runs."""
        now, of_this_world = monotonic(), self.arrivals
        self.stalls += now - before > _STALL_S

        def again():
            if self.arrivals is of_this_world:
                self._tick(now)

        self._loop.call_later(_TICK_S, again)

    def calm(self):
        self.trouble, self.storm = CALM, 0

    def settle(self):
        """Wait until what was sent has arrived."""
        for _ in range(3):
            self._do(asyncio.sleep(0))

    def ever(self, predicate, user):
        """All that was ever true of a unit; nothing, of one that is unknown here."""
        return self.units[predicate, user].ever if (predicate, user) in self.known else {()}

    def check_truth(self, content):
        """All rows of a unit were true at one time; halves of what was true are not."""
        for (service, (key,)), rows in content.items():
            assert {user for user, _ in rows} <= {key}
            values = tuple(sorted(value.strip('"') for _, value in rows))
            assert values in self.ever(PREDICATES["ab".index(service)], key.strip("<>")), key

    async def _serve(self, request):
        arrival = Arrival(self.now_ms(), monotonic(), self.evaluation)
        self.arrivals.append(arrival)
        query = await query_of(request)
        arrival.predicate = re.search(r"http://e/(followers|likes)", query)[1]
        arrival.users = tuple(re.findall(r"<(http://e/u/[^>]*)>", query))
        for unit in self.rng.sample(self.known, len(self.known) // 4):
            self.units[unit].change()
        return await self._behaviour(arrival, query)(request)

    def _behaviour(self, arrival, query):
        """What happens to a request, by a method named like the trouble."""
        kind = self.rng.choices(list(self.trouble), list(self.trouble.values()))[0]
        if self.storm:
            self.storm, kind = self.storm - 1, "status"
        forgotten, self.forgotten = self.forgotten, frozenset()
        if kind == "forget" and "VALUES" in query and not forgotten:
            # A service that forgets the same unit twice cannot be told from one without it.
            self.forgotten = frozenset(self.rng.sample(arrival.users, len(arrival.users) // 2))
        body = json.dumps(self._reply(arrival, query)).encode()
        if (trouble := getattr(self, f"give_{kind}", None)) is not None:
            return trouble(query, body)
        return self.raw(body)

    def give_status(self, _query, _body):
        return self.status(429 if self.storm else self.rng.choice([500, 502, 503, 504, 404, 429]))

    def give_retry_after(self, _query, _body):
        return self.status(503, Retry_After=str(self.rng.choice([0, 2, 20, 90])))

    def give_storm(self, _query, _body):
        self.storm = self.rng.randint(3, 12)
        return self.status(429, Retry_After="1")

    def give_hang(self, _query, _body):
        return self.hang

    def give_drop(self, _query, _body):
        return self.refuse_connection

    def give_break_off(self, _query, _body):
        return self.break_off

    def give_slow(self, _query, body, *, pause_s=0.002):
        return self.trickle([body[:20], body[20:50], body[50:]], pause_s=pause_s)

    def give_too_slow(self, query, body):
        return self.give_slow(query, body, pause_s=0.05)

    def give_cut(self, _query, body):
        return self.raw(body[: self.rng.randrange(len(body))])

    def give_html(self, _query, _body):
        return self.raw("<p>All is well</p>", content_type="text/html")

    def give_refuse(self, _query, _body):
        return self.status(400, body="a query that I do not like")

    def give_others(self, query, _body):
        """A reply of units that nobody asked for; a query for one unit does not name its own."""
        if "VALUES" not in query:
            return self.status(500)
        return self.rows([(iri(77), "1")], variables=("user", PREDICATES["likes" in query]))

    def give_redirect(self, query, _body):
        return self.status(self.rng.choice([303, 307]), Location=f"/other?query={quote(query)}")

    def _reply(self, arrival, query):
        asked = arrival.users or [user for name, user in self.known if name == arrival.predicate]
        name = arrival.predicate
        known = [user for user in asked if (name, user) in self.known]
        rows = [
            (user, value)
            for user in known
            if user not in self.forgotten
            for value in rows_of(self.units[name, user].version)
        ]
        if "VALUES" in query or not arrival.users:
            return result(rows, variables=("user", name))
        return result([(value,) for _, value in rows], variables=(name,))


class VirtualTime:
    """Time that passes when somebody waits, and a wall clock that may be set meanwhile."""

    def __init__(self, now_ms=1_750_000_000_000):
        self.now_ms, self.longest_s = now_ms, 0.0
        self.set_ms = self.set_at_write = 0
        self._lock = threading.Lock()

    def true_ms(self):
        return self.now_ms

    def wall(self):
        return self.now_ms + self.set_ms

    def monotonic(self):
        return self.now_ms / 1000

    def wait(self, ms):
        with self._lock:
            self.now_ms += ms

    async def sleep(self, seconds):
        self.longest_s = max(self.longest_s, seconds)
        self.wait(round(seconds * 1000))
        await asyncio.sleep(0)
