"""The views in a job's checkpoint, as the last committed batch left them, for people to look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from bestbefore.checkpoint.inspection import check
from bestbefore.checkpoint.state import Commits, State, is_text_of
from bestbefore.engine.view_start import restored_view
from bestbefore.errors import InputError, nearest
from bestbefore.job.job import Job, ServiceSettings
from bestbefore.rdf.terms import Key, Row
from bestbefore.storage import Storage, StorageFolder
from bestbefore.time import Clock, is_live
from bestbefore.view import LocalView
from bestbefore.view.units import CHANGED


@dataclass(frozen=True)
class StoredView:
    """The view of a service, and the time of the stream that it is looked at.

    `folder` is that of the query that keeps it.
    """

    service: ServiceSettings
    folder: str
    view: LocalView
    at_ms: int

    def units(self) -> pa.Table:
        """A row per unit that is held or whose request failed, most needed first.

        `needed` counts the evaluations that needed it, of late ones more than of early ones. One
        that is known to have changed has no age.
        """
        units = self.view.units
        shown = np.flatnonzero(units.held | (units.failures > 0))
        shown = shown[np.argsort(-units.needed[shown], kind="stable")]
        age_s = (self.at_ms - units.refreshed_ms[shown]) / 1000
        aged = units.held[shown] & (units.refreshed_ms[shown] != CHANGED)
        keys = [self.view.keys[unit] for unit in shown.tolist()]
        columns = {name: [key[place] for key in keys] for place, name in enumerate(self.view.key)}
        return pa.table(
            {
                "service": pa.array([self.service.name] * len(shown), pa.string()),
                **{f"?{name}": pa.array(terms, pa.string()) for name, terms in columns.items()},
                "held": units.held[shown],
                "rows": units.row_count[shown],
                "age_s": pa.array(np.round(np.maximum(age_s, 0), 3), mask=~aged),
                "fresh": np.round(units.fresh_probability(shown, self.at_ms), 6),
                "changes_every_s": np.round(units.interval_ms[shown] / 1000, 3),
                "needed": np.round(units.needed[shown], 3),
                "failures": units.failures[shown],
            }
        )

    def rows_of(self, key: Key) -> list[Row]:
        """The rows of a unit."""
        (number,) = self.view.numbers([key]).tolist()
        return self.view.rows_of(number)

    def figures(self) -> dict[str, object]:
        """The view in a few numbers."""
        units = self.view.units
        held = np.flatnonzero(units.held)
        refreshed_ms = units.refreshed_ms[held]
        known = refreshed_ms != CHANGED
        age_s = np.maximum(self.at_ms - refreshed_ms[known], 0) / 1000
        fresh = units.fresh_probability(held, self.at_ms)
        every_s = units.interval_ms[held] / 1000
        return {
            "service": self.service.name,
            "at": self.at_ms,
            "units": len(held),
            "rows": int(units.row_count[held].sum()),
            "absent": int(np.count_nonzero(units.row_count[held] == 0)),
            "changed": int(np.count_nonzero(~known)),
            "failing": int(np.count_nonzero(units.failures > 0)),
            "fresh": _mean(fresh),
            "age_s": {name: _quantile(age_s, share) for name, share in _SHARES.items()},
            "changes_every_s": {name: _quantile(every_s, share) for name, share in _SHARES.items()},
            "capacity": self.service.view.capacity,
            "evaluations": units.watched,
        }


_SHARES = {"median": 0.5, "p90": 0.9, "most": 1.0}


def _mean(values: np.ndarray) -> float | None:
    return round(float(values.mean()), 6) if len(values) else None


def _quantile(values: np.ndarray, share: float) -> float | None:
    return round(float(np.quantile(values, share)), 3) if len(values) else None


def stored_views(
    job: Job, storage: Storage, *, only: str | None = None, clock: Clock
) -> Iterator[StoredView]:
    """The views in a checkpoint, those that a job shares with others among them."""
    state = last_state(storage)
    for service in _chosen(job, only):
        folder, part = keeper_of(state, job, service)
        own = StorageFolder(storage, f"{folder}services/{service.name}")
        at_ms = part.latest_ms if part.latest_ms is not None else clock()
        if is_live(at_ms, clock()):
            at_ms = clock()
        yield StoredView(service, folder, restored_view(service, own, part), at_ms)


def cleared(job: Job, storage: Storage, *, only: str | None = None) -> list[str]:
    """Let views begin anew with the next run; return the names of their services."""
    state = last_state(storage)
    names = []
    for service in _chosen(job, only):
        folder, _ = keeper_of(state, job, service)
        state = state.without_view(folder, service.name)
        names.append(service.name)
    Commits(storage).write(state)
    return names


def last_state(storage: Storage) -> State:
    """The state of the last commit, if there is one and it is whole."""
    check(storage)
    commits = Commits(storage)
    if not commits.names():
        raise InputError(f"the checkpoint {storage.root} has no commit yet: run the job first")
    return commits.read(commits.names()[-1])


def keeper_of(state: State, job: Job, service: ServiceSettings) -> tuple[str, State]:
    """The folder and the state of the query that keeps the view of a service: the job's own."""
    parts = state.parts()
    own = {folder: part for folder, part in parts.items() if is_text_of(job.query, part.query)}
    if not own:
        raise InputError("the checkpoint belongs to another query; give the job file that it is of")
    for folder, part in {**own, **parts}.items():
        if part.view(service.name).snapshot:
            # When views are restored it counts when any query had begun.
            begun = [one.begun_ms for one in parts.values() if one.begun_ms is not None]
            return folder, replace(part, begun_ms=min(begun, default=None))
    raise InputError(
        f"the checkpoint has no view of services.{service.name} yet: run the job first"
    )


def _chosen(job: Job, only: str | None) -> Sequence[ServiceSettings]:
    if only is None:
        return job.services
    names = [service.name for service in job.services]
    if only not in names:
        raise InputError(f"--service {only!r}: the job has no such service; {nearest(only, names)}")
    return [service for service in job.services if service.name == only]
