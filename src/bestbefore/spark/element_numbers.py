"""Windows of so many elements: the elements are numbered, and their number is the time.

Numbers are given in the order of time (then of the triple) to elements that nothing can come before
any more. Elements up to the `anchor` are needed by no window to come; numbering goes on from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from bestbefore.spark.columns import TIME, TRIPLE
from bestbefore.spark.sql import quote
from bestbefore.windows import Due, Instants, SlidingWindow, Timeline

_ORDER = ", ".join((TIME, *TRIPLE))


@dataclass(frozen=True)
class Anchor:
    """The last element that no window to come needs, and when the last window closed, if one did.

    Number 0 is none: every element is needed.
    """

    number: int = 0
    time_ms: int = 0
    s: str = ""
    p: str = ""
    o: str = ""
    closed_ms: int | None = None


@dataclass(frozen=True)
class Counted:
    """The numbered elements, what became due with them, and where numbering will go on from."""

    elements: DataFrame
    due: Due | None
    anchor: Anchor


def count_elements(
    elements: DataFrame, window: SlidingWindow, anchor: Anchor, *, watermark_ms: int, first: int
) -> Counted:
    """Number the elements before the watermark; one Spark job finds which close a window.

    `first` is the first evaluation that was not due before.
    """
    numbered = _numbered(elements, anchor, watermark_ms)
    marks = _marks(numbered, window, anchor)
    last = max(marks, default=0) // window.slide_ms
    if last < first:
        return Counted(numbered, None, anchor)
    timeline = _timeline(window, marks, anchor, range(first, last + 1))
    opening, _ = window.bounds(last + 1)
    anchor = replace(marks.get(opening, anchor), closed_ms=timeline.at(last))
    return Counted(numbered, Due(timeline, first, last), anchor)


def _numbered(elements: DataFrame, anchor: Anchor, watermark_ms: int) -> DataFrame:
    final = elements.filter(f"{TIME} < {watermark_ms}")
    if anchor.number:
        final = final.filter(f"struct({_ORDER}) > {_struct(anchor)}")
    number = f"dense_rank() OVER (ORDER BY {_ORDER}) + {anchor.number}L"
    kept = [name for name in elements.columns if name != TIME]
    return final.selectExpr(f"bigint({number}) AS {TIME}", f"{TIME} AS at", *kept)


def _struct(anchor: Anchor) -> str:
    terms = ", ".join(map(quote, (anchor.s, anchor.p, anchor.o)))
    return f"struct({anchor.time_ms}L AS {TIME}, {terms})"


def _marks(numbered: DataFrame, window: SlidingWindow, anchor: Anchor) -> dict[int, Anchor]:
    """The elements that close windows, those after which windows open, and the first of all."""
    step, before = window.slide_ms, -window.width_ms % window.slide_ms
    wanted = f"{TIME} = 1 OR pmod({TIME}, {step}) IN (0, {before})"
    rows = numbered.filter(wanted).select(TIME, "at", *TRIPLE).distinct().collect()
    marks = {
        row[TIME]: Anchor(row[TIME], time_ms=row["at"], s=row["s"], p=row["p"], o=row["o"])
        for row in rows
    }
    return {anchor.number: anchor, **marks} if anchor.number else marks


def _timeline(
    window: SlidingWindow, marks: Mapping[int, Anchor], anchor: Anchor, evaluations: range
) -> Timeline:
    closings = {number: marks[window.closing(number)].time_ms for number in evaluations}
    openings = {number: _opening_ms(window.bounds(number)[0], marks) for number in evaluations}
    times = sorted(closings.values())
    taken = (times[-1] - times[0]) // max(1, len(times) - 1)
    if anchor.closed_ms is not None:
        closings[evaluations.start - 1] = anchor.closed_ms
    return Timeline(Instants((window,)), closings, openings, slide_ms=max(1, taken))


def _opening_ms(number: int, marks: Mapping[int, Anchor]) -> int:
    """When the window after the element of this number opens: a leading one, before the first."""
    return marks[number].time_ms if number > 0 else marks[1].time_ms - 1
