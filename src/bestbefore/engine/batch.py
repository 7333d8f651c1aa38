"""One micro-batch: a transaction from the elements that came to the answers that became due.

Spark runs one job that makes the elements durable, job A over the windows, and job B that joins and
writes, for each query, however many windows are due. Nothing is final before the state is
committed; a batch that is repeated overwrites what it wrote before, and a committed batch is not
repeated.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from bestbefore.checkpoint.advances import Advance, Advances
from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import State
from bestbefore.engine.answering import Answering
from bestbefore.engine.maintaining import maintain_all
from bestbefore.engine.quality import Quality
from bestbefore.engine.query_run import QueryRun, Staged
from bestbefore.engine.served_view import ServedView, ViewBatch
from bestbefore.job import Job
from bestbefore.storage import Storage
from bestbefore.time import monotonic_s

_BATCHES_TOLD = 100


@dataclass
class BatchProcessor:
    """What turns batches, and advances between them, into committed states of one query or more.

    `told` has the quality records of the latest batches, by Spark's numbers.
    """

    runs: Sequence[QueryRun]
    storage: Storage
    told: dict[int, list[Quality]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        first, *others = self.runs
        states = {_name(run): run.state for run in others}
        self._history = History(self.storage, replace(first.state, others=states))

    @property
    def job(self) -> Job:
        """The job of the first query."""
        return self.runs[0].job

    @property
    def answering(self) -> Answering:
        """What the first query answers with."""
        return self.runs[0].answering

    @property
    def state(self) -> State:
        """The state of the last committed batch."""
        return self._history.latest

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Take in, find what is due, answer it, commit; a committed batch is not repeated."""
        if number <= self.state.source_batch:
            return
        started_s, own = monotonic_s(), self.state.batch + 1
        with ExitStack() as kept:
            if len(self.runs) > 1:
                # Each looks at it; its source is read once.
                kept.callback(batch.persist().unpersist)
            several = len(self.runs) > 1
            staged = [run.take_in(batch, own, number, several=several) for run in self.runs]
        self.told[number] = self._answer(staged, started_s=started_s)
        self.told.pop(number - _BATCHES_TOLD, None)

    def advance(self, latest: Advance) -> None:
        """Let streams have come to later times: a transaction without elements."""
        started_s, number = monotonic_s(), self.state.batch + 1
        Advances(self.storage).begin(number, latest)
        staged = [run.advance(latest.get(run.folder, {}), number) for run in self.runs]
        self._answer(staged, started_s=started_s)

    def resume(self) -> None:
        """Finish the advance in which an earlier run ended, if it did."""
        if (latest := Advances(self.storage).unfinished(self.state.batch)) is not None:
            self.advance(latest)

    def end(self) -> None:
        """Answer the windows that still hold elements, as if all streams had ended."""
        found = {run.folder: run.end() for run in self.runs}
        if any(found.values()):
            self.advance(found)

    def silent(self, pause_ms: int) -> Advance:
        """How far streams have come that brought nothing for so long, where that is worth it."""
        found = {run.folder: run.silent(pause_ms) for run in self.runs}
        return {folder: latest for folder, latest in found.items() if latest}

    def _answer(self, staged: Sequence[Staged], *, started_s: float) -> list[Quality]:
        """Answer what is due in all queries, and commit; return the quality of the answers."""
        begun = dict[int, ViewBatch]()

        def begin(served: ServedView) -> ViewBatch:
            if id(served) not in begun:
                state = staged[self._owner(served)].state
                begun[id(served)] = served.begin(state.batch, state.view(served.job.name))
            return begun[id(served)]

        with ExitStack() as opened:
            ready = list[Staged]()
            for run, one in zip(self.runs, staged, strict=True):
                ready.append(run.prepare(one, begin))
                if (prepared := ready[-1].prepared) is not None:
                    opened.callback(prepared.views.close)
            maintain_all([one.prepared.needs for one in ready if one.prepared is not None])
            done = [
                run.answer(one, started_s=started_s)
                for run, one in zip(self.runs, ready, strict=True)
            ]
        states = self._settled([state for state, _ in done], list(begun.values()))
        records = [records for _, records in done]
        self._commit(states, records)
        return [record for of_query in records for record in of_query]

    def _owner(self, served: ServedView) -> int:
        """The number of the query that keeps a view: the first of those that have it."""
        return next(
            number
            for number, run in enumerate(self.runs)
            if any(served is own for own in run.answering.served)
        )

    def _settled(self, states: list[State], begun: Sequence[ViewBatch]) -> list[State]:
        """The states with those of the views that were maintained."""
        for maintained in begun:
            served = maintained.served
            owner = self._owner(served)
            settled = served.settle(states[owner].batch, maintained)
            views = {**states[owner].views, served.job.name: settled}
            states[owner] = replace(states[owner], views=views)
        return states

    def _commit(self, states: Sequence[State], records: Sequence[list[Quality]]) -> None:
        """Write the quality records and the state, let go of what it left behind, and tell."""
        for run, state, of_query in zip(self.runs, states, records, strict=True):
            run.write_quality(state, of_query)
        others = {_name(run): state for run, state in zip(self.runs[1:], states[1:], strict=True)}
        gone = self._history.commit(replace(states[0], others=others))
        committed = self.state.parts()
        for run in self.runs:
            run.state = committed[run.folder]
            for name in gone:
                run.at_hand.pop(name.removeprefix(f"{run.folder}buffer/"), None)
        following = {run.folder: run.state.next_evaluation for run in self.runs}
        for served, run in self._views():
            steps = run.state.view(served.job.name).steps
            served.committed(steps if served.shared else following[run.folder])
        for run, of_query in zip(self.runs, records, strict=True):
            run.tell(of_query)

    def _views(self) -> list[tuple[ServedView, QueryRun]]:
        """Every view once, with the query that keeps it."""
        found = {id(view): (view, run) for run in reversed(self.runs)
                 for view in run.answering.served}  # fmt: skip
        return list(found.values())


def _name(run: QueryRun) -> str:
    return run.folder.split("/")[1]
