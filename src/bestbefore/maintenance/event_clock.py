"""What time it is in the stream's own time."""

from dataclasses import dataclass

from bestbefore.time import Clock, is_live


@dataclass(frozen=True, slots=True)
class EventClock:
    """Tells the time of the stream while evaluations run.

    The time of a live stream is that of the clock. In one that is replayed no time passes during an
    evaluation, so that whoever replays it finds the same. By the batch before, `writing_ms` is how
    long it takes from the maintenance to the written answer, `busy_ms` how long an evaluation takes
    in all but its requests, and `asking_ms` how long these take.
    """

    clock: Clock
    begun_ms: int
    live: bool
    writing_ms: int = 0
    busy_ms: int = 0
    asking_ms: int = 0

    def now_ms(self, t_ms: int) -> int:
        """The time now, during the evaluation at t; never before t."""
        return max(t_ms, self.clock()) if self.live else t_ms

    def spent_ms(self, t_ms: int) -> int:
        """How long the answer of the evaluation at t has been waited for."""
        return max(0, self.clock() - (t_ms if self.live else self.begun_ms))

    def written_ms(self, t_ms: int) -> int:
        """When the answer of the evaluation at t will be written, if that is the next thing."""
        return self.now_ms(t_ms) + self.writing_ms if self.live else t_ms


def event_clock(clock: Clock, latest_ms: int) -> EventClock:
    """The clock of a batch that begins now, whose latest evaluation is at a time of the stream."""
    begun_ms = clock()
    return EventClock(clock, begun_ms, is_live(latest_ms, begun_ms))
