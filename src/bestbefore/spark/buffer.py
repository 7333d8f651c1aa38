"""The durable buffer: the last ω of the stream, in one Parquet segment per batch."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import ELEMENT_FIELDS, EVENT, INTAKE, STREAM, TIME
from bestbefore.spark.needed_elements import NeededElements

# Spark lists more than 32 paths with a job of its own.
_MOST_SEGMENTS = 24
_AHEAD = "the timestamp lies ahead of the clock"


@dataclass(frozen=True)
class Segment:
    """The elements that one batch added (or merged) to the buffer, and how many it brought."""

    name: str
    latest_ms: int
    elements: int = 0
    brought: int = 0


@dataclass(frozen=True)
class Intake:
    """What one batch brought: counts, and the span of its elements' times."""

    elements: int
    needed: int
    late: int
    ahead: int
    quarantined: int
    earliest_ms: int | None
    latest_ms: int | None
    latest_of: Mapping[str, int] = field(default_factory=dict)


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
        streams: tuple[str, ...] = (),
        needed: NeededElements | None = None,
    ) -> tuple["Buffer", Intake]:
        """Write a batch as a segment, in one job; a repeated batch overwrites its own segment.

        Elements that are not `needed` are counted but not written; without a word on it, all are.
        Elements before the watermark are late: counted and left out. Elements after the horizon
        are put into quarantine: one wrong clock must not close every window before its time.
        When segments become many, the new one takes over the elements of the old ones.
        """
        condition = "true" if needed is None else needed.condition
        judgement = _Judgement(watermark_ms, horizon_ms, streams, condition)
        observation = Observation()
        written = judgement.kept(batch.observe(observation, *judgement.counts()))
        merge = len(self.segments) >= _MOST_SEGMENTS
        if merge:
            old = self.read(batch.sparkSession)
            written = written.unionByName(old, allowMissingColumns=True)
        written.write.mode("overwrite").parquet(f"{self.root}/{name}")
        intake = _intake(observation.get, streams)
        merged = [segment.latest_ms for segment in self.segments] if merge else []
        elements = intake.needed + (self.elements if merge else 0)
        latest_ms = max([intake.latest_ms or 0, *merged])
        segment = Segment(name, latest_ms, elements, brought=intake.elements)
        return replace(self, segments=(*(() if merge else self.segments), segment)), intake

    @property
    def elements(self) -> int:
        """How many elements the segments hold."""
        return sum(segment.elements for segment in self.segments)

    def read(self, spark: SparkSession) -> DataFrame:
        """The elements of all segments."""
        paths = [f"{self.root}/{segment.name}" for segment in self.segments]
        rows = spark.read.schema(INTAKE).parquet(*paths)
        return rows.filter(F.col("reason").isNull()).select(*ELEMENT_FIELDS)

    def quarantined(self, spark: SparkSession, name: str) -> DataFrame:
        """The lines of a segment that could not be read, each with the reason."""
        rows = spark.read.schema(INTAKE).parquet(f"{self.root}/{name}")
        return rows.filter(F.col("reason").isNotNull()).select("reason", "raw", STREAM)

    def without_before(self, opening_ms: int) -> "Buffer":
        """The buffer less the segments that no window from `opening_ms` on can need."""
        kept = tuple(segment for segment in self.segments if segment.latest_ms > opening_ms)
        return replace(self, segments=kept)


@dataclass(frozen=True)
class _Judgement:
    """Which rows of a batch are elements, which are late, and which lie ahead of the clock."""

    watermark_ms: int | None
    horizon_ms: int
    streams: tuple[str, ...] = ()
    needed: str = "true"

    @property
    def _late(self) -> str:
        return "false" if self.watermark_ms is None else f"time < {self.watermark_ms}"

    @property
    def _element(self) -> str:
        return f"(reason IS NULL AND NOT ({self._late}) AND time <= {self.horizon_ms})"

    def counts(self) -> list[Column]:
        """What the batch brought, to be observed while it is written."""
        return [
            F.expr(f"count_if({self._element}) AS elements"),
            F.expr(f"count_if({self._element} AND ({self.needed})) AS needed"),
            F.expr(f"count_if(reason IS NULL AND {self._late}) AS late"),
            F.expr(f"count_if(reason IS NULL AND time > {self.horizon_ms}) AS ahead"),
            F.expr(f"count_if(reason IS NOT NULL OR time > {self.horizon_ms}) AS quarantined"),
            F.expr(f"min(CASE WHEN {self._element} THEN time END) AS earliest"),
            F.expr(f"max(CASE WHEN {self._element} THEN time END) AS latest"),
            *(self._latest_of(number, name) for number, name in enumerate(self.streams)),
        ]

    def _latest_of(self, number: int, name: str) -> Column:
        mine = F.expr(self._element) & (F.col(STREAM) == name)
        return F.max(F.when(mine, F.col(TIME))).alias(f"latest{number}")

    def kept(self, batch: DataFrame) -> DataFrame:
        """The elements, and the quarantined with their raw text and reason."""
        ahead = f"(reason IS NULL AND time > {self.horizon_ms})"
        columns = [
            f"CASE WHEN {self._element} THEN {name} END AS {name}" for name in (TIME, *"spo")
        ]
        raw = f"CASE WHEN {ahead} THEN to_json(struct(time, s, p, o)) ELSE raw END AS raw"
        reason = f"CASE WHEN {ahead} THEN '{_AHEAD}' ELSE reason END AS reason"
        good = f"NOT ({self._late}) AND (({self.needed}) OR {ahead})"
        return batch.filter(f"reason IS NOT NULL OR ({good})").selectExpr(
            *columns, STREAM, EVENT, raw, reason
        )


def _intake(metrics: dict[str, int | None], streams: tuple[str, ...]) -> Intake:
    times = {name: metrics[f"latest{number}"] for number, name in enumerate(streams)}
    counts = ("elements", "needed", "late", "ahead", "quarantined")
    return Intake(
        **{name: metrics[name] or 0 for name in counts},
        earliest_ms=metrics["earliest"],
        latest_ms=metrics["latest"],
        latest_of={name: time for name, time in times.items() if time is not None},
    )
