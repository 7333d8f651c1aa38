"""Which evaluations are due: the instants of a query's windows against the watermark."""

from collections.abc import Sequence
from dataclasses import dataclass

from bestbefore.engine.state import State
from bestbefore.job.job import Job
from bestbefore.query import CountWindow
from bestbefore.windows import Instants, SlidingWindow
from bestbefore.windows.timeline import Timeline

# A leap in event time may make millions of empty windows due; past this many they are counted, not
# answered one by one.
_MOST_EVALUATIONS = 10_000


@dataclass(frozen=True)
class Due:
    """The evaluations that became due, from first to last."""

    timeline: Timeline
    first: int
    last: int

    @property
    def instants(self) -> Instants:
        """The instants of the query."""
        return self.timeline.instants

    def answered(self, non_empty: Sequence[int]) -> list[int]:
        """Those to answer: all that take place, or the non-empty where there are too many."""
        if self.last - self.first < _MOST_EVALUATIONS:
            return list(self.instants.due(self.first, self.last))
        return [each for each in non_empty if self.instants.takes_place(each)]

    def skipped(self, answered: int) -> int:
        """How many evaluations are left out when so many are answered."""
        if self.last - self.first < _MOST_EVALUATIONS:
            return 0
        return self.last - self.first + 1 - answered

    def __len__(self) -> int:
        return max(0, self.last - self.first + 1)


def counts_elements(job: Job) -> bool:
    """Whether the windows of a query are of so many elements, rather than of so much time."""
    return any(isinstance(each.window.extent, CountWindow) for each in job.plan.windows)


def shapes_of(job: Job) -> list[tuple[int, int]]:
    """The width and slide of each window of the query."""
    return [(each.window.width_ms, each.window.slide_ms) for each in job.plan.windows]


def instants_of(job: Job, t0_ms: Sequence[int]) -> Instants:
    """The instants of a query whose windows in time begin at these times."""
    shapes = zip(shapes_of(job), t0_ms, strict=True)
    return Instants(tuple(SlidingWindow(*shape, start) for shape, start in shapes))


def first_evaluation(job: Job, instants: Instants, earliest_ms: int) -> int:
    """The first evaluation that can see an element."""
    times = [earliest_ms, instants.at(1)]
    if job.full_windows_only:
        times += [each.t0_ms + each.width_ms for each in instants.windows]
    return instants.first_with(max(times))


def watermark_of(job: Job, state: State) -> int | None:
    """The time before which no element of any stream is expected any more.

    It follows the stream that is furthest behind, and begins when all have had an element.
    """
    if state.latest_ms is None or any(each.name not in state.latest for each in job.streams):
        return None
    return state.latest_ms - job.allowed_lateness_ms


def due_evaluations(job: Job, state: State) -> Due | None:
    """What became due with the elements that the state knows of, for windows in time."""
    watermark = watermark_of(job, state)
    if state.t0_ms is None or watermark is None:
        return None
    instants = instants_of(job, state.t0_ms)
    due = Due(Timeline(instants), state.next_evaluation, instants.last_before(watermark))
    return due if len(due) else None
