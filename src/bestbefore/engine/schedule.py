"""Which evaluations of a job are due: its windows against the watermark of its streams."""

from dataclasses import replace

from pyspark.sql import DataFrame

from bestbefore.checkpoint.state import State
from bestbefore.job.job import Job
from bestbefore.query import CountWindow
from bestbefore.spark.buffer import Intake, Segment
from bestbefore.spark.element_numbers import count_elements
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
    latest = {
        iri: max(time, state.latest.get(iri, time))
        for iri, time in {**state.latest, **intake.latest_of}.items()
    }
    return _started(job, replace(state, latest=latest), intake.earliest_ms)


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


def due_evaluations(
    job: Job, state: State, elements: DataFrame
) -> tuple[DataFrame, Due | None, State]:
    """What became due with the elements of the buffer, and the elements as windows see them.

    Where windows are of so many elements these are numbered first.
    """
    watermark = watermark_of(job, state)
    if watermark is None:
        return elements, None, state
    extent = job.plan.windows[0].window.extent
    if isinstance(extent, CountWindow):
        counted = count_elements(
            elements,
            SlidingWindow(extent.size, extent.step),
            state.anchor,
            watermark_ms=watermark,
            first=state.next_evaluation,
        )
        return counted.elements, counted.due, replace(state, anchor=counted.anchor)
    return elements, _due_in_time(job, state, watermark), state


def _due_in_time(job: Job, state: State, watermark_ms: int) -> Due | None:
    if state.t0_ms is None:
        return None
    windows = [plan.window for plan in job.plan.windows]
    instants = Instants(
        tuple(
            SlidingWindow(window.width_ms, window.slide_ms, t0_ms)
            for window, t0_ms in zip(windows, state.t0_ms, strict=True)
        )
    )
    due = Due(Timeline(instants), state.next_evaluation, instants.last_before(watermark_ms))
    return due if len(due) else None
