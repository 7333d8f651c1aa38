"""A job that never ends and meets new keys all the time, without Spark."""

from dataclasses import replace
from random import Random
from zlib import crc32

from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import Commits
from bestbefore.engine.found_state import Found
from bestbefore.engine.served_view import open_served
from bestbefore.limits import RequestLedger
from bestbefore.maintenance import event_clock
from bestbefore.service import Fetched
from bestbefore.storage import LocalStorage
from bestbefore.windows import Instants, Timeline
from tests.maintained import maintained
from tests.served_job import QUERY, WINDOW, job_of
from tests.unit.engine.conftest import counted

KEEP_WINDOWS, NEW_USERS, FAILING = 20, 15, 0.05
LIMITS = {"per_minute": 10**6, "per_month": 10**9, "total": 10**9}


class AnyService:
    """A service that knows every user but one in seven, and fails at times."""

    def __init__(self):
        self.rng, self.asked = Random(1), 0

    def fetch(self, keys, *, requests_allowed=None, deadline_s=None):
        self.asked += len(keys)
        failed = {key: "down" for key in keys if self.rng.random() < FAILING}
        rows = {key: self._rows(key[0]) for key in keys if key not in failed}
        return Fetched(rows, failed, requests=1)

    def _rows(self, user):
        if crc32(user.encode()) % 7 == 0:
            return ()
        return tuple((user, f'"{self.rng.randrange(100)}"') for _ in range(2))


class EndlessJob:
    """One service of a job; each evaluation is a batch, with users that never come again."""

    def __init__(self, folder):
        sections = {
            "budget": {"refreshes": 40},
            "view": {"keep_windows": KEEP_WINDOWS, "change_interval": "learned"},
        }
        self.job = job_of("http://e/a", text=QUERY, service={"limits": LIMITS}, **sections)
        self.storage, (settings,) = LocalStorage(folder, durable=False), self.job.services
        self.now_ms = 0
        begun = replace(Commits(self.storage).latest(self.job), t0_ms=(0,), begun_ms=0)
        ledger = RequestLedger(
            self.storage,
            "limits/a.json",
            settings.limits,
            wall=self.clock,
            monotonic=lambda: self.now_ms / 1000,
        )
        self.service = AnyService()
        self.served = open_served(
            settings, self.service, self.storage, Found(begun), clock=self.clock, requests=ledger
        )
        begun = replace(begun, views={"a": self.served.opened})
        self.history = History(self.storage, begun)

    def clock(self):
        return self.now_ms

    def evaluate(self, number):
        """One batch with one evaluation."""
        self.now_ms = WINDOW.closing(number)
        state = self.history.latest
        before = state.view("a")
        view, _ = maintained(
            self.served,
            number,
            [number],
            counted([*_mentions(number - 1), *_mentions(number)], WINDOW, [number], ("user",)),
            timeline=Timeline(Instants((WINDOW,))),
            state=before,
            clock=event_clock(self.clock, self.now_ms),
        )
        after = self.served.settle(number, view)
        state = replace(state, batch=number, views={"a": after}, next_evaluation=number + 1)
        self.history.commit(state)
        self.served.committed(number + 1)


def _mentions(number):
    """The users of a slide: new ones, and some who are mentioned for ever."""
    users = [f"n{number}x{each}" for each in range(NEW_USERS)] + [f"old{n}" for n in range(10)]
    begin_ms = WINDOW.closing(number) - WINDOW.slide_ms
    return [(begin_ms + 1 + at, f"<http://e/u/{user}>") for at, user in enumerate(users)]
