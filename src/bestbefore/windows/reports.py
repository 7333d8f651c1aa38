"""Report strategies: which evaluations give an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

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
            return [number for number in evaluations if number in wanted]
        case ReportStrategy.PERIODIC:
            every_ms = report.every_ms or 1
            return [number for number in evaluations if _begins_period(number, timeline, every_ms)]
    assert_never(report.strategy)


def _begins_period(evaluation: int, timeline: Timeline, every_ms: int) -> bool:
    """Whether an evaluation is the first in its period."""
    at, before = timeline.at(evaluation), timeline.before(evaluation)
    if before is None:
        return True
    return (at - timeline.t0_ms) // every_ms != (before - timeline.t0_ms) // every_ms
