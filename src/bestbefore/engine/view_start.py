"""How the local view comes to be: loaded from the service once, afterwards from the checkpoint."""

import logging
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import isnan
from pathlib import Path

from bestbefore.checkpoint import Journal, load_snapshot, save_snapshot
from bestbefore.checkpoint.changed_job import ANEW, INTERVALS
from bestbefore.checkpoint.state import State, ViewState, batch_name
from bestbefore.errors import ServiceError, StateError
from bestbefore.job import ServiceSettings
from bestbefore.maintenance import apply_outcome
from bestbefore.query import Threshold
from bestbefore.query.algebra import BGP, LeftJoin, TriplePattern, Variable
from bestbefore.query.continuous import CountWindow, TimeWindow
from bestbefore.rdf.lexical_forms import number_of
from bestbefore.rdf.terms import IRI, Key, Row
from bestbefore.service import Service, ServicePattern
from bestbefore.service.kinds import refusal_of, states_changes
from bestbefore.service.lookup import MODIFIED
from bestbefore.storage import Storage
from bestbefore.time import Clock
from bestbefore.view import (
    ChangeIntervals,
    ChangeRates,
    LocalView,
    Measure,
    UnitDefaults,
    read_interval_file,
    view_of,
)

_LOG = logging.getLogger("bestbefore.engine")
_INTERVAL = "bestbefore_interval"
_INITIAL = "initial"


def service_pattern(job: ServiceSettings) -> ServicePattern:
    """The SERVICE pattern as the client asks for it, with a change interval that is remote."""
    intervals, pattern = change_intervals(job), job.plan.service.pattern
    if job.view.interval_predicate:
        subject, predicate = Variable(job.refresh_key[0]), IRI(job.view.interval_predicate)
        stated = TriplePattern(subject, predicate, Variable(_INTERVAL))
        pattern = LeftJoin(pattern, BGP((stated,)))
    if intervals.modified:
        subject = Variable(job.refresh_key[0])
        predicate = IRI(job.view.modified_predicate or MODIFIED)
        stated = TriplePattern(subject, predicate, Variable(MODIFIED))
        pattern = LeftJoin(pattern, BGP((stated,)))
    return ServicePattern(pattern, variables=intervals.variables, key=intervals.key)


def change_intervals(job: ServiceSettings) -> ChangeIntervals:
    """Where the rows of the service state change intervals, if they do."""
    names = tuple(variable.name for variable in job.plan.variables)
    remote = job.view.interval_predicate is not None
    modified = job.view.modified_predicate is not None or states_changes(job.client)
    return ChangeIntervals(
        variables=(*names, *([_INTERVAL] if remote else ()), *([MODIFIED] if modified else ())),
        key=job.refresh_key,
        column=_INTERVAL if remote else job.view.interval_variable,
        hidden=remote,
        unit_ms=job.view.interval_unit_ms or 1_000,
        modified=MODIFIED if modified else None,
    )


def open_view(
    job: ServiceSettings,
    storage: Storage,
    service: Service,
    whole: State,
    *,
    clock: Clock,
    changed: Container[str] = (),
) -> tuple[LocalView, ViewState]:
    """The view as the last committed batch left it, and the state that refers to it.

    Where settings of the service have `changed` that matter to it, it is another from now on.
    """
    state = whole.view(job.name)
    if not state.snapshot or ANEW in changed:
        return _begun(job, storage, service, whole, clock=clock)
    view = restored_view(job, storage, whole)
    if job.view.fill and job.view.capacity is None:
        # Who was needed when is not in the journal: from here on it counts anew.
        view.units.used_ms[:] = view.units.refreshed_ms.max(initial=0)
    _check(view, job, storage)
    if INTERVALS in changed and _restate(view, job):
        state = replace(state, snapshot=_name_of(job, whole), snapshot_batch=whole.batch)
        save_snapshot(view, storage, state.snapshot)
    return view, state


def restored_view(job: ServiceSettings, storage: Storage, whole: State) -> LocalView:
    """The view of a service as the last committed batch left it, which must have left one."""
    state = whole.view(job.name)
    defaults = _defaults(job, change_intervals(job))
    view = load_snapshot(storage, state.snapshot, defaults, _rates(job))
    if state.unused and whole.begun_ms is not None:
        view.begin(whole.begun_ms, slide_ms=slide_of(job))
    _replay(view, Journal(storage), after=state.snapshot_batch, until=whole.batch)
    return view


def _begun(
    job: ServiceSettings, storage: Storage, service: Service, whole: State, *, clock: Clock
) -> tuple[LocalView, ViewState]:
    """A view at its beginning, which a crash before the first commit does not load again."""
    intervals, name = change_intervals(job), _name_of(job, whole)
    if storage.read(f"view/{name}/rows.parquet") is None:
        view = _initial(job, service, intervals, clock)
        if whole.begun_ms is not None and whole.latest_ms is not None:
            view.begin(whole.latest_ms)
        elif whole.begun_ms is not None:
            view.begin(whole.begun_ms, slide_ms=slide_of(job))
        save_snapshot(view, storage, name)
    view = load_snapshot(storage, name, _defaults(job, intervals), _rates(job))
    unused = whole.begun_ms is None
    state = replace(whole.view(job.name), snapshot=name, snapshot_batch=whole.batch, unused=unused)
    return view, state


def slide_of(job: ServiceSettings) -> int:
    """How long one slide of a service's window takes; nothing where that is not known."""
    extent = job.window.extent
    return 0 if isinstance(extent, CountWindow) else extent.slide_ms


def _name_of(job: ServiceSettings, whole: State) -> str:
    """What a snapshot is called that is made between two batches, for some settings."""
    if whole.batch < 0:
        return _INITIAL
    settings = sha256(f"{job.identity} {job.view}".encode()).hexdigest()[:8]
    return f"after-{batch_name(whole.batch)}-{settings}"


def _restate(view: LocalView, job: ServiceSettings) -> bool:
    """Let the units have the change intervals that a job states now; False if it states none.

    What is learned, or comes with the rows, stays as it is until there is more.
    """
    settings = job.view
    if settings.learned or settings.interval_variable or settings.interval_predicate:
        return False
    view.units.interval_ms[:] = settings.change_interval_ms or job.window.width_ms
    view.set_intervals(_file_intervals(job))
    return True


def _replay(view: LocalView, journal: Journal, *, after: int, until: int) -> None:
    """Apply the batches since the snapshot, each as it was applied when it was committed."""
    for batch in journal.batches():
        if after < batch <= until:
            journal.restore_changed(batch, view)
            for outcome in journal.of_batch(batch, view):
                apply_outcome(view, outcome)
                view.refreshes += len(outcome.reply.failed)
            view.compact()
            journal.restore_needed(batch, view)


def _check(view: LocalView, job: ServiceSettings, storage: Storage) -> None:
    """Refuse to go on with a view that the job does not describe."""
    if view.key != job.refresh_key:
        found, wanted = (
            ", ".join(f"?{name}" for name in names) for names in (view.key, job.refresh_key)
        )
        raise StateError(
            f"the checkpoint {storage.root} has units by {found}, the job by {wanted}: restore "
            "view.refresh_key, or use another checkpoint.path"
        )
    held, capacity = int(view.units.held.sum()), job.view.capacity
    if capacity is not None and held > capacity:
        raise StateError(
            f"view.capacity = {capacity}, but the view in the checkpoint {storage.root} holds "
            f"{held} units: give it at least that many, or use another checkpoint.path"
        )


def _initial(
    job: ServiceSettings, service: Service, intervals: ChangeIntervals, clock: Clock
) -> LocalView:
    """All that the service has, or nothing yet where it is filled with what is needed."""
    from_file = _file_intervals(job)
    rows = () if job.view.fill else _loaded(job, service)
    view = view_of(
        intervals.view_rows(rows),
        intervals.view_variables,
        intervals.key,
        join_key=job.join_key,
        defaults=_defaults(job, intervals),
        rates=_rates(job),
    )
    view.set_intervals(intervals.stated(rows))
    view.set_intervals(from_file)
    view.units.refreshed_ms[:] = clock()
    return view


def _loaded(job: ServiceSettings, service: Service) -> tuple[Row, ...]:
    """All that the service has, which may take a while."""
    about = {"service": job.name}
    _LOG.info("loading all that %s has …", job.address, extra=about)
    try:
        loaded = service.load()
    except ServiceError as error:
        if not job.plan.service.silent:
            raise
        _LOG.info("nothing loaded, and it is SILENT: %s", error, extra=about)
        return ()
    _LOG.info(
        "%d rows loaded in %d requests and %.1f s",
        len(loaded.rows),
        loaded.requests,
        loaded.seconds,
        extra=about,
    )
    return loaded.rows


def _rates(job: ServiceSettings) -> ChangeRates:
    """Rates of no unit yet; what is stated of intervals is where learning starts from."""
    extent, stated_ms = job.window.extent, job.view.change_interval_ms
    if isinstance(extent, CountWindow):
        # It has no width in time: a stated interval has to do.
        extent = TimeWindow(stated_ms or 1, max(1, (stated_ms or 1) // 10))
    stated = not job.view.learned
    return ChangeRates(0, width_ms=extent.width_ms, slide_ms=extent.slide_ms, stated=stated)


def _defaults(job: ServiceSettings, intervals: ChangeIntervals) -> UnitDefaults:
    threshold, pattern = job.threshold, service_pattern(job)
    return UnitDefaults(
        interval_ms=job.view.change_interval_ms or job.window.width_ms,
        intervals_ms=_file_intervals(job) if job.fetches_missing else {},
        measure=_nearest(threshold, intervals.view_variables) if threshold else None,
        refusal=refusal_of(job.client, pattern),
    )


def _file_intervals(job: ServiceSettings) -> Mapping[Key, int]:
    if not job.view.interval_file:
        return {}
    file, unit_ms = Path(job.view.interval_file), job.view.interval_unit_ms
    return read_interval_file(file, job.refresh_key, plain_ms=unit_ms)


def _nearest(threshold: Threshold, variables: Sequence[str]) -> Measure:
    """The number nearest to a threshold: the one that the next change may carry across it."""
    column = variables.index(threshold.variable.name)

    def measure(rows: Sequence[Row]) -> float:
        numbers = (number_of(row[column]) for row in rows)
        found = [number for number in numbers if number is not None and not isnan(number)]
        return min(found, key=lambda number: abs(number - threshold.number), default=float("nan"))

    return measure
