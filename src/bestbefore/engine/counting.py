"""Windows of so many elements: the elements are numbered, and their number is the time.

Numbers are given in the order of time (then of the triple) to elements that nothing can come before
any more. Elements up to the `anchor` are needed by no window to come; numbering goes on from there.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from bestbefore.engine.schedule import Due
from bestbefore.engine.state import Anchor, State
from bestbefore.job.job import Job
from bestbefore.query import CountWindow
from bestbefore.spark.columns import TIME
from bestbefore.spark.sql import quote
from bestbefore.windows import Instants, SlidingWindow
from bestbefore.windows.timeline import Timeline

_ORDER = (TIME, "s", "p", "o")


@dataclass(frozen=True)
class Counted:
    """The numbered elements, what became due with them, and where numbering will go on from."""

    elements: DataFrame
    due: Due | None
    anchor: Anchor


def count_elements(elements: DataFrame, job: Job, state: State, *, watermark_ms: int) -> Counted:
    """Number the elements before the watermark; one Spark job finds which close a window."""
    window = _window(job)
    numbered = _numbered(elements, state.anchor, watermark_ms)
    marks = _marks(numbered, window)
    instants = Instants((window,))
    last = max((number for number in marks), default=0) // window.slide_ms
    if last < state.next_evaluation:
        return Counted(numbered, None, state.anchor)
    timeline = _timeline(instants, marks, state, last)
    opening, _ = window.bounds(last + 1)
    anchor = marks.get(opening, state.anchor)
    return Counted(numbered, Due(timeline, state.next_evaluation, last), anchor)


def _window(job: Job) -> SlidingWindow:
    extent = job.plan.windows[0].window.extent
    assert isinstance(extent, CountWindow)  # noqa: S101 - asked for by the caller
    return SlidingWindow(extent.size, extent.step)


def _numbered(elements: DataFrame, anchor: Anchor, watermark_ms: int) -> DataFrame:
    place = ", ".join(_ORDER)
    final = elements.filter(f"{TIME} < {watermark_ms}")
    if anchor.number:
        final = final.filter(f"struct({place}) > {_struct(anchor)}")
    number = f"dense_rank() OVER (ORDER BY {place}) + {anchor.number}L"
    kept = [name for name in elements.columns if name != TIME]
    return final.selectExpr(f"CAST({number} AS BIGINT) AS {TIME}", f"{TIME} AS at", *kept)


def _struct(anchor: Anchor) -> str:
    terms = map(quote, (anchor.s, anchor.p, anchor.o))
    return f"struct({anchor.time_ms}L AS {TIME}, {', '.join(terms)})"


def _marks(numbered: DataFrame, window: SlidingWindow) -> dict[int, Anchor]:
    """The elements that close windows, and those after which windows open, by their number."""
    step, before = window.slide_ms, -window.width_ms % window.slide_ms
    marked = numbered.filter(f"pmod({TIME}, {step}) IN (0, {before})").distinct()
    rows = marked.select(TIME, "at", "s", "p", "o").collect()
    return {
        row[TIME]: Anchor(row[TIME], time_ms=row["at"], s=row["s"], p=row["p"], o=row["o"])
        for row in rows
    }


def _timeline(instants: Instants, marks: dict[int, Anchor], state: State, last: int) -> Timeline:
    window = instants.windows[0]
    evaluations = range(state.next_evaluation, last + 1)
    closings = {each: marks[window.closing(each)].time_ms for each in evaluations}
    openings = {
        each: marks[window.bounds(each)[0]].time_ms
        for each in evaluations
        if window.bounds(each)[0] in marks
    }
    times = sorted(closings.values())
    taken = (times[-1] - times[0]) // max(1, len(times) - 1)
    return Timeline(instants, closings, openings, slide_ms=max(1, taken))
