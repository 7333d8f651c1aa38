"""What time it is in the stream's own time."""

from dataclasses import dataclass

from bestbefore.time import Clock, is_live


@dataclass(frozen=True, slots=True)
class EventClock:
    """Tells the time of the stream while evaluations run.

    The time of a live stream is that of the clock. In one that is replayed it is the evaluation's
    time when the batch begins, and passes from there. `writing_ms` is how long it takes from the
    maintenance to the written answer.
    """

    clock: Clock
    begun_ms: int
    live: bool
    writing_ms: int = 0

    def now_ms(self, t_ms: int) -> int:
        """The time now, during the evaluation at t; never before t."""
        now_ms = self.clock()
        return max(t_ms, now_ms if self.live else t_ms + now_ms - self.begun_ms)

    def written_ms(self, t_ms: int) -> int:
        """When the answer of the evaluation at t will be written, if that is the next thing."""
        return self.now_ms(t_ms) + self.writing_ms


def event_clock(clock: Clock, latest_ms: int, *, writing_ms: int = 0) -> EventClock:
    """The clock of a batch that begins now, whose latest evaluation is at a time of the stream."""
    begun_ms = clock()
    return EventClock(clock, begun_ms, is_live(latest_ms, begun_ms), writing_ms)
