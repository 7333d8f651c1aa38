"""How the local view comes to be: loaded from the service once, afterwards from the checkpoint."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

from bestbefore.engine.job import Job
from bestbefore.engine.state import State
from bestbefore.maintenance.maintainer import apply_refreshes
from bestbefore.query.printing import print_pattern
from bestbefore.rdf.terms import IRI, to_sparql
from bestbefore.service import Service, ServicePattern
from bestbefore.storage import Storage
from bestbefore.view import (
    ChangeIntervals,
    Journal,
    LocalView,
    load_snapshot,
    read_interval_file,
    save_snapshot,
    view_of,
)
from bestbefore.windows import SlidingWindow

_INTERVAL = "bestbefore_interval"
_INITIAL = "initial"


def service_pattern(job: Job) -> ServicePattern:
    """The SERVICE pattern as the client asks for it, with a change interval that is remote."""
    intervals = change_intervals(job)
    predicate, optional = job.view.interval_predicate, ""
    if predicate:
        subject = job.plan.join_key[0].name
        optional = f"?{subject} {to_sparql(IRI(predicate))} ?{_INTERVAL} ."
    return ServicePattern(
        variables=intervals.variables,
        key=intervals.key,
        text=print_pattern(job.plan.service.pattern),
        optional_text=optional,
    )


def change_intervals(job: Job) -> ChangeIntervals:
    """Where the rows of the service state change intervals, if they do."""
    names = tuple(each.name for each in job.plan.service_variables)
    remote = job.view.interval_predicate is not None
    return ChangeIntervals(
        variables=(*names, _INTERVAL) if remote else names,
        key=tuple(each.name for each in job.plan.join_key),
        column=_INTERVAL if remote else job.view.interval_variable,
        hidden=remote,
        unit_ms=job.view.interval_unit_ms,
    )


def open_view(
    job: Job, storage: Storage, service: Service, intervals: ChangeIntervals, state: State
) -> tuple[LocalView, State]:
    """The view as the last committed batch left it, and the state that refers to it."""
    if not state.snapshot and storage.read(f"view/{_INITIAL}/rows.parquet") is None:
        save_snapshot(_loaded(job, service, intervals), storage, _INITIAL)
    state = state if state.snapshot else replace(state, snapshot=_INITIAL)
    view = load_snapshot(storage, state.snapshot)
    if state.snapshot == _INITIAL and state.t0_ms is not None:
        view.begin(_first_time(job, state))
    journal = Journal(storage)
    committed = [each for each in journal.batches() if state.snapshot_batch < each <= state.batch]
    for refreshed in chain.from_iterable(journal.of_batch(each) for each in committed):
        apply_refreshes(view, refreshed)
    return view, state


def _first_time(job: Job, state: State) -> int:
    window = SlidingWindow(job.plan.window.width_ms, job.plan.window.slide_ms, state.t0_ms or 0)
    return window.closing(state.first_evaluation)


def _loaded(job: Job, service: Service, intervals: ChangeIntervals) -> LocalView:
    rows = service.load().rows
    view = view_of(
        intervals.view_rows(rows),
        intervals.view_variables,
        intervals.key,
        interval_ms=job.view.change_interval_ms or job.plan.window.width_ms,
    )
    view.set_intervals(intervals.stated(rows))
    if job.view.interval_file:
        file, unit = Path(job.view.interval_file), job.view.interval_unit_ms
        view.set_intervals(read_interval_file(file, intervals.key, unit_ms=unit))
    return view
