"""Which evaluations of a job are due: its windows against the watermark of its streams."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from bestbefore.checkpoint.state import State
from bestbefore.job.job import Job
from bestbefore.query import CountWindow
from bestbefore.spark.buffer import Intake, Segment
from bestbefore.spark.compiled_query import ELEMENTS_VIEW
from bestbefore.spark.element_numbers import count_elements
from bestbefore.spark.relation import name_table
from bestbefore.windows import Due, Instants, SlidingWindow, Timeline


def watermark_of(job: Job, state: State) -> int | None:
    """The time before which no element of any stream is expected any more.

    It follows the stream that is furthest behind, and begins when all have had an element.
    """
    if state.latest_ms is None or any(stream.iri not in state.latest for stream in job.streams):
        return None
    return state.latest_ms - job.allowed_lateness_ms


def with_intake(
    job: Job, state: State, batch: int, segments: tuple[Segment, ...], intake: Intake
) -> State:
    """The state after a batch's elements came."""
    state = replace(
        state,
        batch=batch,
        segments=segments,
        elements=state.elements + intake.elements,
        late=state.late + intake.late,
        quarantined=state.quarantined + intake.quarantined,
    )
    if intake.earliest_ms is None:
        return state
    return _started(job, advanced(state, intake.latest_of), intake.earliest_ms)


def advanced(state: State, latest: Mapping[str, int]) -> State:
    """The state after streams have come to later times; a stream never goes back."""
    later = {iri: max(time, state.latest.get(iri, time)) for iri, time in latest.items()}
    return replace(state, latest={**state.latest, **later})


def is_worth(job: Job, before: State, after: State) -> bool:
    """Whether an advance from one state to another makes an evaluation due.

    Windows of so many elements have to be counted for that: they are once all elements are past.
    """
    reached = watermark_of(job, after)
    if reached is None:
        return False
    if not job.counts_elements:
        due = _due_in_time(job, after, reached)
        return due is not None and due.takes_place
    last, watermark = _last_element(before), watermark_of(job, before)
    return last is not None and reached > last and (watermark is None or watermark <= last)


def end_of(job: Job, state: State) -> int | None:
    """The time that streams come to when they end, None if no window holds an element any more."""
    last, instants = _last_element(state), _instants(job, state)
    if last is None or (instants is None and not job.counts_elements):
        return None
    closing = last if instants is None else instants.at(instants.last_with(last))
    watermark = watermark_of(job, state)
    if watermark is not None and watermark > closing:
        return None
    return closing + 1 + job.allowed_lateness_ms


def _last_element(state: State) -> int | None:
    """The time of the last element that a window to come may hold."""
    return max((segment.latest_ms for segment in state.segments), default=None)


def _started(job: Job, state: State, earliest_ms: int) -> State:
    """The state after the first element: t0 is the last slide boundary before it."""
    if state.t0_ms is not None or job.counts_elements:
        return state
    windows = [plan.window for plan in job.plan.windows]
    instants = Instants.starting(
        [(window.width_ms, window.slide_ms) for window in windows],
        earliest_ms=earliest_ms,
        t0_ms=job.t0_ms,
    )
    first = instants.first_evaluation(earliest_ms, full_windows_only=job.full_windows_only)
    starts = tuple(window.t0_ms for window in instants.windows)
    return replace(state, t0_ms=starts, first_evaluation=first, next_evaluation=first)


def opening(job: Job, state: State) -> int | None:
    """The time after which the windows begin that are not evaluated yet, None if not known."""
    if job.counts_elements:
        return state.anchor.time_ms - 1
    instants = _instants(job, state)
    return None if instants is None else instants.opening_ms(state.next_evaluation)


def due_evaluations(
    job: Job, state: State, elements: Callable[[], DataFrame]
) -> tuple[Due | None, State]:
    """What became due with the elements of the buffer.

    Where windows are of so many elements these are numbered, and then known to their session.
    """
    watermark = watermark_of(job, state)
    if watermark is None:
        return None, state
    extent = job.plan.windows[0].window.extent
    if isinstance(extent, CountWindow):
        counted = count_elements(
            elements(),
            SlidingWindow(extent.size, extent.step),
            state.anchor,
            watermark_ms=watermark,
            first=state.next_evaluation,
        )
        name_table(counted.elements, ELEMENTS_VIEW)
        return counted.due, replace(state, anchor=counted.anchor)
    return _due_in_time(job, state, watermark), state


def _due_in_time(job: Job, state: State, watermark_ms: int) -> Due | None:
    instants = _instants(job, state)
    if instants is None:
        return None
    due = Due(Timeline(instants), state.next_evaluation, instants.last_before(watermark_ms))
    return due if len(due) else None


def _instants(job: Job, state: State) -> Instants | None:
    if state.t0_ms is None:
        return None
    windows = [plan.window for plan in job.plan.windows]
    return Instants(
        tuple(
            SlidingWindow(window.width_ms, window.slide_ms, t0_ms)
            for window, t0_ms in zip(windows, state.t0_ms, strict=True)
        )
    )
