"""The heartbeat of a live query: windows close although no element comes.

It is a thread beside Spark's, since Spark calls nobody for a batch without rows. Most of its beats
are a comparison in the driver: only one that makes an evaluation due is a transaction.
"""

from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from typing import Protocol

from pyspark.sql.streaming.query import StreamingQuery

_LONGEST_STEP_S = 0.5


class Beat(Protocol):
    """Lets silent streams go on with the clock."""

    def __call__(self, pause_ms: int, /, *, is_waiting: Callable[[], bool]) -> None:
        """Beat once; `is_waiting` tells whether no batch is on its way."""
        ...


def start_heartbeat(query: StreamingQuery, beat: Beat, pause_ms: int) -> Callable[[], None]:
    """Beat while a query runs; return what ends it. A beat that fails ends the query."""
    ended = Event()
    arguments = (query, partial(beat, pause_ms, is_waiting=partial(_is_waiting, query)), ended)
    step_s = min(pause_ms / 4_000, _LONGEST_STEP_S)
    Thread(target=_run, args=(*arguments, step_s), name="heartbeat", daemon=True).start()
    return ended.set


def _run(query: StreamingQuery, beat: Callable[[], None], ended: Event, step_s: float) -> None:
    while not ended.wait(step_s):
        try:
            beat()
        except Exception:
            # Whoever waits for the query hears of it.
            query.stop()
            return


def _is_waiting(query: StreamingQuery) -> bool:
    """Whether Spark has looked for elements, found none or is done with them, and waits."""
    return bool(query.status["message"].startswith("Waiting"))
