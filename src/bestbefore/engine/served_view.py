"""A SERVICE in the engine: its client, its local view, and what keeps both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from bestbefore.engine.key_statistics import read_statistics
from bestbefore.engine.state import State, ViewState
from bestbefore.engine.view_start import change_intervals, open_view
from bestbefore.engine.walk import Maintained, Walk
from bestbefore.job.job import ServiceSettings
from bestbefore.maintenance import Ledger
from bestbefore.service import Service
from bestbefore.storage import Storage, StorageFolder
from bestbefore.view import Journal, LocalView, save_snapshot
from bestbefore.windows.timeline import Timeline

_SNAPSHOT_EVERY = 32


@dataclass
class ServedView:
    """The view of one SERVICE with its own budget, ledger and journal.

    `opened` is the state in which the view was found when the engine started.
    """

    job: ServiceSettings
    service: Service
    view: LocalView
    storage: Storage
    opened: ViewState

    def maintain(
        self,
        batch: int,
        answered: Sequence[int],
        statistics: pa.Table,
        *,
        timeline: Timeline,
        saved: int,
    ) -> tuple[pa.Table, list[Maintained]]:
        """Refresh the view for the evaluations in order, and cut the slice of each."""
        walk = Walk(
            job=self.job,
            view=self.view,
            timeline=timeline,
            service=self.service,
            intervals=change_intervals(self.job),
            ledger=Ledger(self.storage),
            journal=Journal(self.storage),
        )
        learn = self.job.policy.fetches_missing
        needed = read_statistics(statistics, self.job.join_key, self.view, learn=learn)
        return walk.through(batch, answered, needed, saved=saved)

    def settle(self, batch: int, state: ViewState, outcomes: Sequence[Maintained]) -> ViewState:
        """The view's state after a batch that had evaluations, with a snapshot every so often."""
        self.view.compact()
        state = replace(state, saved=outcomes[-1].saved if outcomes else state.saved)
        if batch - state.snapshot_batch < _SNAPSHOT_EVERY:
            return state
        name = f"batch-{batch:012d}"
        save_snapshot(self.view, self.storage, name)
        return replace(state, snapshot=name, snapshot_batch=batch)

    def clean_up(self, before: ViewState, after: ViewState, evaluations: Iterable[int]) -> None:
        """Remove what the committed state no longer refers to."""
        for evaluation in evaluations:
            Ledger(self.storage).close(evaluation)
        if after.snapshot != before.snapshot:
            self.storage.delete(f"view/{before.snapshot}")
            journal = Journal(self.storage)
            for number in journal.batches():
                if number <= after.snapshot_batch:
                    journal.forget(number)


def open_served(
    service: ServiceSettings, client: Service, storage: Storage, state: State
) -> ServedView:
    """The view of a service as the last committed batch left it."""
    folder = StorageFolder(storage, f"services/{service.name}")
    view, opened = open_view(
        service,
        folder,
        client,
        state.view(service.name),
        batch=state.batch,
        begun_ms=state.begun_ms,
    )
    return ServedView(service, client, view, folder, opened)
