"""The services of a job as the engine keeps them, without Spark: windows are counted here."""

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import Commits
from bestbefore.engine.found_state import Found
from bestbefore.engine.served_view import open_served
from bestbefore.engine.view_start import service_pattern
from bestbefore.job import Job, read_job
from bestbefore.limits.ledger import ledger_name
from bestbefore.maintenance import event_clock
from bestbefore.service import ServiceClient
from bestbefore.windows import Instants, SlidingWindow, Timeline
from tests.limited_service import open_ledger
from tests.maintained import maintained
from tests.unit.engine.conftest import counted

WINDOW = SlidingWindow(10_000, 5_000, 0)
QUERY = """PREFIX : <http://e/>
REGISTER RSTREAM :out AS SELECT ?user ?followers
FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]
WHERE { WINDOW :w { ?user :by ?post } SERVICE :a { ?user :followers ?followers } }
"""
TWO_SERVICES = QUERY.replace("} }", "} SERVICE :b { ?user :likes ?likes } }")


def job_of(endpoint, *, text=TWO_SERVICES, service=None, **sections):
    """A job whose services are all at one endpoint."""
    names = "ab" if text == TWO_SERVICES else "a"
    tables = {
        "query": {"text": text},
        "streams": {"s": {"source": "dataframe"}},
        "services": {name: {"endpoint": endpoint, **(service or {})} for name in names},
        **sections,
    }
    return read_job(tables)


@dataclass
class ServedJob:
    """A job that goes on from its checkpoint, batch by batch, for a stream of (time, join key).

    `clocks` are those of the ledgers; `client` are more arguments of the services' clients.
    """

    job: Job
    storage: object
    clocks: object
    client: dict = field(default_factory=dict)
    served: tuple = ()
    outcomes: list = field(default_factory=list)

    def __post_init__(self):
        self.commits = Commits(self.storage)
        self.state = replace(self.commits.latest(self.job), t0_ms=(0,))
        self.clients, self.ledgers = [], {}
        try:
            self.served = tuple(map(self._open, self.job.services))
        except BaseException:
            self.close()
            raise
        self.state = replace(self.state, views={one.job.name: one.opened for one in self.served})
        self.history = History(self.storage, self.state)

    def _open(self, settings):
        address, requests = settings.address, None
        if settings.limits.lasting:
            if address not in self.ledgers:
                self.ledgers[address] = open_ledger(
                    self.storage, settings.limits, self.clocks, ledger_name(address)
                )
            requests = self.ledgers[address]
        client = ServiceClient(settings.client, service_pattern(settings), **self.client)
        self.clients.append(client)
        return open_served(
            settings,
            client,
            self.storage,
            Found(self.state),
            clock=self.clocks.wall,
            requests=requests,
        )

    def close(self):
        for client in self.clients:
            client.close()

    def answer(self, evaluations, events, *, at_once=False):
        """Maintain every service for the due evaluations, one after the other or `at_once`."""
        number, before = self.state.batch + 1, self.state
        if before.begun_ms is None:
            before = replace(before, begun_ms=WINDOW.closing(evaluations[0]))
            for served in self.served:
                served.view.begin(before.begun_ms)

        first, last = WINDOW.bounds(evaluations[0])[0], WINDOW.closing(evaluations[-1])
        events = events[bisect_right(events, (first,)) : bisect_right(events, (last + 1,))]

        def maintain(served):
            return maintained(
                served,
                number,
                evaluations,
                counted(events, WINDOW, evaluations, served.job.join_key),
                timeline=Timeline(Instants((WINDOW,))),
                state=before.view(served.job.name),
                clock=event_clock(self.clocks.wall, 0),
            )[0]

        with ThreadPoolExecutor(len(self.served) if at_once else 1) as threads:
            self.views = list(threads.map(maintain, self.served))
        self.outcomes = [view.outcomes for view in self.views]
        self._commit(replace(before, batch=number, next_evaluation=evaluations[-1] + 1))

    def _commit(self, state):
        done = list(zip(self.served, self.outcomes, strict=True))
        self.told = [
            (served.job.name, outcome, _keys(served.view, outcome))
            for served, outcomes in done
            for outcome in outcomes
        ]
        views = {
            served.job.name: served.settle(state.batch, view)
            for served, view in zip(self.served, self.views, strict=True)
        }
        self.history.commit(replace(state, views=views))
        self.state = self.history.latest
        for served in self.served:
            served.committed(state.next_evaluation)

    def content(self):
        """The rows of every held unit, by service and key."""
        return {
            (served.job.name, key): sorted(served.view.rows_of(unit))
            for served in self.served
            for unit, key in enumerate(served.view.keys)
            if served.view.units.held[unit]
        }


def _keys(view, outcome):
    """The keys of what was elected, answered, failed and evicted; numbers are void later."""
    reply = outcome.reply
    groups = outcome.elected.tolist(), reply.answered.tolist(), reply.failed, outcome.evicted
    return tuple({view.keys[unit] for unit in group} for group in groups)
