"""Report strategies: which evaluations give an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bestbefore.windows.timeline import Timeline


class ReportStrategy(StrEnum):
    """When a window's answer is reported."""

    WINDOW_CLOSE = "window-close"
    CONTENT_CHANGE = "content-change"
    NON_EMPTY = "non-empty"
    PERIODIC = "periodic"


@dataclass(frozen=True)
class ReportSetting:
    """The strategy and, for the periodic one, the period."""

    strategy: ReportStrategy = ReportStrategy.WINDOW_CLOSE
    every_ms: int | None = None


def reported(
    report: ReportSetting,
    evaluations: Sequence[int],
    timeline: Timeline,
    *,
    found: Iterable[int],
) -> list[int]:
    """The evaluations that are reported, of those that take place.

    `found` are those that Spark found to have content, or another content than before.
    """
    match report.strategy:
        case ReportStrategy.WINDOW_CLOSE:
            return list(evaluations)
        case ReportStrategy.NON_EMPTY | ReportStrategy.CONTENT_CHANGE:
            wanted = set(found)
        case ReportStrategy.PERIODIC:
            wanted = set(_periodic(evaluations, timeline, report.every_ms or 1))
    return [each for each in evaluations if each in wanted]


def _periodic(evaluations: Sequence[int], timeline: Timeline, every_ms: int) -> Iterable[int]:
    """The first evaluation in each period, counted from the time of evaluation 0."""
    start = timeline.instants.t0_ms
    for each in evaluations:
        period = (timeline.at(each) - start) // every_ms
        before = (timeline.at(each) - start - timeline.instants.step_ms) // every_ms
        if period != before:
            yield each
