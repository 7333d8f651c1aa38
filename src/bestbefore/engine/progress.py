"""Spark's progress of a micro-batch, together with the quality of the answers that it gave.

Spark collects observed metrics from the plan of a streaming query, which ends where `foreachBatch`
begins; what an answer is worth is known only after that. So the two are brought together here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from bestbefore.engine.quality import Quality


@dataclass(frozen=True)
class Figures:
    """The quality of a batch's answers: counts are sums over its evaluations.

    The freshness is the mean over all answer rows, the completeness that of the least complete
    evaluation, the latency the longest.
    """

    evaluations: int = 0
    rows: int = 0
    estimated_freshness: float | None = None
    completeness: float | None = None
    refreshes: int = 0
    failed: int = 0
    requests: int = 0
    latency_ms: int | None = None

    def to_dict(self) -> dict[str, float | None]:
        """The figures by their names."""
        return asdict(self)


def figures_of(records: Sequence[Quality]) -> Figures:
    """The figures of the evaluations of one batch."""
    rows = sum(record.answers for record in records)
    fresh = sum((record.estimated_freshness or 0) * record.answers for record in records)
    shares = [record.completeness for record in records if record.completeness is not None]
    delays = [record.latency_ms for record in records if record.latency_ms is not None]
    return Figures(
        evaluations=len(records),
        rows=rows,
        estimated_freshness=fresh / rows if rows else None,
        completeness=min(shares, default=None),
        refreshes=sum(record.refreshed for record in records),
        failed=sum(record.failed for record in records),
        requests=sum(record.requests for record in records),
        latency_ms=max(delays, default=None),
    )


OnProgress = Callable[[StreamingQueryProgress, Figures], None]
Records = Callable[[], Mapping[int, Sequence[Quality]]]


def listen(spark: SparkSession, run: str, *, records: Records, tell: OnProgress) -> None:
    """Tell of the micro-batches of a run that was started in a session, until the run ends.

    `records` are the quality records of its batches, by Spark's numbers.
    """
    spark.streams.addListener(_Listener(spark, run, records, tell))


class _Listener(StreamingQueryListener):
    def __init__(self, spark: SparkSession, run: str, records: Records, tell: OnProgress) -> None:
        self._spark, self._run, self._records, self._tell = spark, run, records, tell

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """A start is no progress."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Tell of a batch, if it is of this run."""
        progress = event.progress
        if str(progress.runId) == self._run:
            self._tell(progress, figures_of(self._records().get(progress.batchId, ())))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Waiting is no progress."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """After its run there is nothing to listen to."""
        if str(event.runId) == self._run:
            self._spark.streams.removeListener(self)
