"""The durable buffer: the last ω of the stream, in one Parquet segment per batch."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import ELEMENT_FIELDS, INTAKE

# Spark lists more than 32 paths with a job of its own.
_MOST_SEGMENTS = 24


@dataclass(frozen=True)
class Segment:
    """The elements that one batch added (or merged) to the buffer."""

    name: str
    latest_ms: int


@dataclass(frozen=True)
class Intake:
    """What one batch brought: counts, and the span of its elements' times."""

    elements: int
    late: int
    ahead: int
    quarantined: int
    earliest_ms: int | None
    latest_ms: int | None


@dataclass(frozen=True)
class Buffer:
    """The segments that still hold elements of a window to come."""

    root: str
    segments: tuple[Segment, ...] = ()

    def add(
        self,
        batch: DataFrame,
        name: str,
        *,
        watermark_ms: int | None,
        horizon_ms: int,
    ) -> tuple["Buffer", Intake]:
        """Write a batch as a segment, in one job; a repeated batch overwrites its own segment.

        Elements before the watermark are late: counted and left out. Elements after the horizon
        are put into quarantine: one wrong clock must not close every window before its time.
        When segments become many, the new one takes over the elements of the old ones.
        """
        time = F.col("time")
        late = F.lit(False) if watermark_ms is None else time < watermark_ms  # noqa: FBT003
        ahead = time > horizon_ms
        good = F.col("reason").isNull()
        kept = good & ~late & ~ahead
        observation = Observation()
        judged = batch.observe(
            observation,
            F.count_if(kept).alias("elements"),
            F.count_if(good & late).alias("late"),
            F.count_if(good & ahead).alias("ahead"),
            F.count_if(~good).alias("bad"),
            F.min(F.when(kept, time)).alias("earliest"),
            F.max(F.when(kept, time)).alias("latest"),
        )
        reason = F.when(ahead, F.lit("the timestamp lies ahead of the clock"))
        raw = F.to_json(F.struct(*ELEMENT_FIELDS))
        written = judged.filter(~good | ~late).select(
            F.when(kept, time).alias("time"),
            *(F.when(kept, F.col(each)).alias(each) for each in "spo"),
            F.coalesce("raw", F.when(ahead, raw)).alias("raw"),
            F.coalesce("reason", reason).alias("reason"),
        )
        merge = len(self.segments) >= _MOST_SEGMENTS
        if merge:
            old = self.read(batch.sparkSession)
            written = written.unionByName(old, allowMissingColumns=True)
        written.write.mode("overwrite").parquet(f"{self.root}/{name}")
        intake = _intake(observation.get)
        previous = () if merge else self.segments
        latest = max([each.latest_ms for each in self.segments], default=intake.latest_ms or 0)
        segment = Segment(name, max(intake.latest_ms or 0, latest if merge else 0))
        return replace(self, segments=(*previous, segment)), intake

    def read(self, spark: SparkSession) -> DataFrame:
        """The elements of all segments."""
        paths = [f"{self.root}/{each.name}" for each in self.segments]
        rows = spark.read.schema(INTAKE).parquet(*paths)
        return rows.filter(F.col("reason").isNull()).select(*ELEMENT_FIELDS)

    def quarantined(self, spark: SparkSession, name: str) -> DataFrame:
        """The lines of a segment that could not be read, each with the reason."""
        rows = spark.read.schema(INTAKE).parquet(f"{self.root}/{name}")
        return rows.filter(F.col("reason").isNotNull()).select("reason", "raw")

    def without_before(self, opening_ms: int) -> "Buffer":
        """The buffer less the segments that no window from `opening_ms` on can need."""
        kept = tuple(each for each in self.segments if each.latest_ms > opening_ms)
        return replace(self, segments=kept)


def _intake(metrics: dict[str, int | None]) -> Intake:
    return Intake(
        elements=metrics["elements"] or 0,
        late=metrics["late"] or 0,
        ahead=metrics["ahead"] or 0,
        quarantined=(metrics["bad"] or 0) + (metrics["ahead"] or 0),
        earliest_ms=metrics["earliest"],
        latest_ms=metrics["latest"],
    )
