"""Recording: what the windows of a job need is polled, and what came is written as traces.

The engine runs as ever, but with a policy that asks at each evaluation for all that the window
needs, the longest not asked for first; its answers go nowhere.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from bestbefore.engine.recorded_texts import ValueTexts, measured_in, text_of
from bestbefore.errors import JobError
from bestbefore.job.job import NO_QOS, UNLIMITED, Job, SinkSettings, ViewSettings
from bestbefore.maintenance import Outcome, resolve_policy
from bestbefore.rdf.terms import Row
from bestbefore.spark.buffer import Buffer
from bestbefore.spark.columns import FROM_EVALUATION, TIME, column_of
from bestbefore.spark.content import bounds_of
from bestbefore.spark.relation import name_table
from bestbefore.spark.session import FEW_ROWS
from bestbefore.spark.timed_mappings import RECORDED_VIEW, timed_mappings
from bestbefore.traces import (
    BACKGROUND,
    LINKS,
    STREAM,
    Traces,
    add_rows,
    begin_traces,
    order_traces,
)
from bestbefore.view import LocalView
from bestbefore.windows import Due, Instants, ReportSetting, SlidingWindow

_POLLING = "WSJ-LRU"

Element = tuple[int, *tuple[str, ...]]
"""A row of the stream: a time, a join key and, where there is more of a mapping, an event."""
Found = tuple[int, str, Sequence[Row]]
"""A time, a unit, and the rows that the service had of it then."""


def polling_job(job: Job) -> Job:
    """The job that polls all that the windows of a job need, within the limits of the service.

    Its requests are counted where the job counts them, for the service counts them together. Its
    windows are those of a simulation: from multiples of the slide on, evaluated as they close.
    """
    if len(job.services) != 1 or len(job.plan.windows) != 1 or job.counts_elements:
        raise JobError(
            f"a trace is of one SERVICE and one WINDOW in time, and this query has "
            f"{len(job.services)} SERVICE and {len(job.plan.windows)} WINDOW clauses"
            f"{', which count elements' if job.counts_elements else ''}: record a query with one "
            "of each"
        )
    (service,) = job.services
    linked = service.refresh_key != service.join_key
    polled = replace(
        service,
        policy=resolve_policy(_POLLING),
        budget=UNLIMITED,
        start=0,
        ahead=False,
        qos=NO_QOS,
        view=ViewSettings(refresh_key=service.view.refresh_key, fill=not linked),
        ledger=service.ledger or job.checkpoint,
    )
    return replace(
        job,
        services=(polled,),
        sink=SinkSettings(format="stdout"),
        report=ReportSetting(),
        t0_ms=None,
        full_windows_only=False,
    )


@dataclass
class Recorder:
    """Writes what the evaluations of a polling job see and get as trace files, batch by batch.

    A background row has the time of the evaluation that found the value. The first value of a unit
    is taken to have been there when the stream began, since nobody knows since when it was.

    `needed` and `polled` count units by evaluation, `polls` counts those of each unit, `limited`
    the evaluations that each limit kept from more.
    """

    job: Job
    folder: Path
    needed: list[int] = field(default_factory=list)
    polled: list[int] = field(default_factory=list)
    polls: Counter[str] = field(default_factory=Counter)
    limited: Counter[str] = field(default_factory=Counter)
    _begin_ms: int | None = None
    _loaded: dict[str, list[Row]] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)
    _links: set[tuple[str, str]] = field(default_factory=set)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self._service,), (self._window,) = self.job.services, self.job.plan.windows
        shape = (self._window.window.width_ms, self._window.window.slide_ms)
        self._linked = self._service.refresh_key != self._service.join_key
        trial = timed_mappings(self._window, Instants.starting([shape], earliest_ms=1), first=True)
        self._key = [column_of(name) for name in self._service.join_key]
        own = (TIME, FROM_EVALUATION, *self._key)
        self._event = [column for column in trial.columns if column not in own]

    def begin(self, view: LocalView) -> None:
        """Begin with what a view was loaded with."""
        self._texts = ValueTexts(view.variables, view.key, measured_in(self.job))
        self._joins = [view.variables.index(name) for name in view.join_key]
        begin_traces(self.folder, events=bool(self._event), links=self._linked)
        self._loaded = {text_of(key): view.rows_of(unit) for unit, key in enumerate(view.keys)}

    def record(
        self,
        spark: SparkSession,
        buffer: Buffer,
        due: Due,
        *,
        view: LocalView,
        outcomes: Sequence[Outcome],
    ) -> None:
        """Write the mappings that came with the due windows, and what was found out for them."""
        closed = self._elements(spark, buffer, due)
        add_rows(self.folder / STREAM, closed)
        if self._begin_ms is None and closed:
            self._begin_ms = self._start_of(due, earliest_ms=closed[0][0])
        found = [*self._at_begin(), *self._found(view, outcomes)]
        if self._linked:
            add_rows(self.folder / LINKS, self._new_links(found))
        add_rows(self.folder / BACKGROUND, self._changes(found))

    def close(self) -> Traces | None:
        """Put the files in order; return what they hold, None if nothing was recorded."""
        if not self._known:
            return None
        add_rows(self.folder / STREAM, self._open)
        return order_traces(self.folder, links=self._linked)

    def _elements(self, spark: SparkSession, buffer: Buffer, due: Due) -> list[Element]:
        """The mappings that are new in the due windows, by time; those after them are kept.

        It takes an element after its end for a simulation to evaluate the last window.
        """
        few = buffer.elements < FEW_ROWS
        name_table(buffer.read(spark, few=few), RECORDED_VIEW)
        statement = timed_mappings(self._window, due.instants, first=self._begin_ms is None)
        bounds = bounds_of(due.instants, due.first, due.last + 1)
        rows = statement.on(spark, bounds).toArrow().sort_by(TIME)
        closed = pc.field(FROM_EVALUATION) <= due.last
        self._open = self._texts_of(rows.filter(~closed))
        return self._texts_of(rows.filter(closed))

    def _texts_of(self, rows: pa.Table) -> list[Element]:
        columns = [self._key, self._event] if self._event else [self._key]
        parts = [zip(*(rows[name].to_pylist() for name in names), strict=True) for names in columns]
        times = rows[TIME].to_pylist()
        return [(time, *map(text_of, texts)) for time, *texts in zip(times, *parts, strict=True)]

    def _start_of(self, due: Due, *, earliest_ms: int) -> int:
        """When the view of a simulation is loaded: before the first window, or at time 0."""
        window = self._window.window
        first = SlidingWindow.starting(window.width_ms, window.slide_ms, earliest_ms=earliest_ms)
        return max(0, min(first.t0_ms, due.timeline.t0_ms))

    def _at_begin(self) -> list[Found]:
        """What was loaded, as soon as it is known when the stream began."""
        if self._begin_ms is None:
            return []
        loaded, self._loaded = self._loaded, {}
        return [(self._begin_ms, unit, rows) for unit, rows in loaded.items()]

    def _found(self, view: LocalView, outcomes: Sequence[Outcome]) -> Iterator[Found]:
        """What evaluations were answered, and how much of what they needed."""
        for outcome in outcomes:
            reply = outcome.reply
            self.needed.append(outcome.candidates + outcome.waiting)
            self.polled.append(len(reply.answered))
            self.limited.update([outcome.bound_by] if outcome.bound_by else ())
            for number, rows in zip(reply.answered.tolist(), reply.content, strict=True):
                unit = text_of(view.keys[number])
                self.polls[unit] += 1
                yield outcome.t_ms, unit, rows

    def _changes(self, found: Sequence[Found]) -> Iterator[tuple[int, str, str]]:
        """The values that units had not had before."""
        for t_ms, unit, rows in found:
            value, known = self._texts.of(rows), self._known.get(unit)
            if value != known:
                self._known[unit] = value
                begin_ms = t_ms if self._begin_ms is None else self._begin_ms
                yield begin_ms if known is None else t_ms, unit, value

    def _new_links(self, found: Sequence[Found]) -> list[tuple[str, str]]:
        """The links between join keys and units that no row had made before."""
        made = dict.fromkeys(
            (text_of(tuple(row[column] for column in self._joins)), unit)
            for _, unit, rows in found
            for row in rows
        )
        new = [link for link in made if link not in self._links]
        self._links.update(new)
        return new
