"""The durable buffer: the last ω of the stream, in one Parquet segment per batch.

Few elements are collected and written by the driver, which keeps them at hand; many are written and
read by Spark.
"""

import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import (
    ELEMENT_FIELDS,
    ELEMENTS,
    EVENT,
    FINGERPRINT,
    INTAKE,
    STREAM,
    TIME,
    UNSEEN,
)
from bestbefore.spark.inbox import json_columns
from bestbefore.spark.needed_elements import NeededElements
from bestbefore.spark.session import FEW_ROWS
from bestbefore.spark.sql import quote
from bestbefore.storage import Storage

# Spark lists more than 32 paths with a job of its own.
_MOST_SEGMENTS, _MERGED_AT_LEAST = 24, 8
# A segment is merged with those after it when it has at most so many times as many elements.
_TIMES_AS_LARGE = 4
# Looking for values that come again takes time where nearly all differ.
_WITHOUT_DICTIONARY = {
    f"parquet.enable.dictionary#{name}": "false" for name in (TIME, "o", *UNSEEN)
}
_AHEAD = "the timestamp lies ahead of the clock"
_LONG_AGO = -9_000_000_000_000_000_000
# What becomes of a row of a batch.
NEEDED, NOT_NEEDED, LATE, AHEAD, UNREADABLE = range(5)
_VERDICT = "verdict"
_QUARANTINED = ("reason", "raw", STREAM)


@dataclass(frozen=True)
class Segment:
    """The elements that one batch added (or merged) to the buffer, and how many it brought."""

    name: str
    latest_ms: int
    elements: int = 0
    brought: int = 0


@dataclass(frozen=True)
class Elements:
    """The elements of a segment in the driver."""

    table: pa.Table

    @cached_property
    def json(self) -> str:
        """The elements as JSON, for an inbox."""
        return json_columns(self.table.drop_columns(list(UNSEEN)))


@dataclass(frozen=True)
class Intake:
    """What one batch brought: counts, and the span of its elements' times."""

    elements: int
    needed: int
    late: int
    quarantined: int
    earliest_ms: int | None
    latest_ms: int | None
    latest_of: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What the rows of a batch are judged by.

    Elements that are not `needed` are counted but not written; without a word on it, all are.
    Elements before the watermark are late: counted and left out. Elements after the horizon are
    put into quarantine: one wrong clock must not close every window before its time. Elements of
    streams in time of `arrival` are never late: where the clock was set back, they have the time of
    the watermark.
    """

    watermark_ms: int | None
    horizon_ms: int
    streams: tuple[str, ...] = ()
    needed: NeededElements | None = None
    arrival: tuple[str, ...] = ()

    def judged(self, batch: DataFrame) -> DataFrame:
        """The rows of a batch with the verdict on each."""
        watermark_ms = _LONG_AGO if self.watermark_ms is None else self.watermark_ms
        # An array and an index that is no constant: the code that Spark generates stays the same.
        limits = f"array({watermark_ms}L, {self.horizon_ms}L)"
        watermark, horizon = (
            f"get({limits}, int({TIME} % 1) + {position})" for position in range(2)
        )
        late, ahead = f"{TIME} < {watermark}", f"{TIME} > {horizon}"
        if self.arrival:
            arrived = f"{STREAM} IN ({', '.join(map(quote, self.arrival))})"
            time = f"IF({arrived}, greatest({TIME}, {watermark}), {TIME})"
            batch = batch.withColumn(TIME, F.expr(time))
        needed = "TRUE" if self.needed is None else self.needed.condition
        verdict = (
            f"CASE WHEN reason IS NOT NULL THEN {UNREADABLE} WHEN {late} THEN {LATE} "
            f"WHEN {ahead} THEN {AHEAD} WHEN {needed} THEN {NEEDED} ELSE {NOT_NEEDED} END"
        )
        shown = f"CASE WHEN {ahead} THEN to_json(struct({TIME}, s, p, o)) ELSE raw END"
        return batch.selectExpr(
            *(TIME, "s", "p", "o", STREAM, EVENT, f"xxhash64(s, p, o) AS {FINGERPRINT}"),
            *(f"{shown} AS raw", "reason"),
            f"{verdict} AS {_VERDICT}",
        )


@dataclass(frozen=True)
class Buffer:
    """The segments that still hold elements of a window to come.

    `at_hand` has the elements of segments that were read or written here, by their names.
    """

    storage: Storage
    segments: tuple[Segment, ...] = ()
    at_hand: dict[str, "Elements"] = field(default_factory=dict, compare=False)

    def add(
        self, batch: DataFrame, name: str, limits: Limits, *, expected: int = 0
    ) -> tuple["Buffer", Intake]:
        """Write a batch as a segment; a repeated batch overwrites its own segment.

        What cannot be read goes into quarantine. `expected` is how many rows are likely to come.
        """
        judged = limits.judged(batch)
        if expected < FEW_ROWS:
            rows = judged.limit(FEW_ROWS).toArrow()
            if rows.num_rows < FEW_ROWS:
                return self._add_few(rows, name, limits)
        return self._add_many(judged, name, limits)

    def _add_few(self, rows: pa.Table, name: str, limits: Limits) -> tuple["Buffer", Intake]:
        """Write a segment of rows that were collected."""
        verdict = rows[_VERDICT].to_numpy()
        intake = _intake_of(rows, verdict, limits.streams)
        elements = rows.filter(pa.array(verdict == NEEDED)).select(ELEMENT_FIELDS)
        self._write_few(elements.cast(_NO_ELEMENTS.schema), name)
        self._quarantine(rows.filter(pa.array(verdict >= AHEAD)), name)
        return self._with(name, intake), intake

    def _write_few(self, elements: pa.Table, name: str) -> None:
        """Write a segment of elements that are here, and keep them at hand."""
        self.storage.delete(_folder(name))
        content = io.BytesIO()
        pq.write_table(elements, content)
        self.storage.write(f"{_folder(name)}/elements.parquet", content.getvalue())
        if self.elements >= FEW_ROWS:
            self.at_hand.clear()
        self.at_hand[name] = Elements(elements)

    def _quarantine(self, rows: pa.Table, name: str) -> None:
        if not rows.num_rows:
            return
        lines = [
            json.dumps({key: row[key] for key in _QUARANTINED if row[key] is not None})
            for row in _with_reason(rows).to_pylist()
        ]
        self.storage.write(f"quarantine/{name}/rows.json", "\n".join([*lines, ""]).encode())

    def _add_many(self, judged: DataFrame, name: str, limits: Limits) -> tuple["Buffer", Intake]:
        """Let Spark write a segment, in one job, and what is in quarantine in another."""
        observation = Observation()
        counted = judged.observe(observation, *_counts(limits.streams))
        self._write_many(_kept(counted), name)
        intake = _intake_observed(observation.get, limits.streams)
        if intake.quarantined:
            self._quarantine_many(judged.sparkSession, name)
        return self._with(name, intake), intake

    def _write_many(self, rows: DataFrame, name: str) -> None:
        writer = rows.write.mode("overwrite").options(**_WITHOUT_DICTIONARY)
        writer.parquet(f"{self.storage.root}/{_folder(name)}")

    def _quarantine_many(self, spark: SparkSession, name: str) -> None:
        rows = spark.read.schema(INTAKE).parquet(f"{self.storage.root}/{_folder(name)}")
        bad = rows.filter("reason IS NOT NULL").select(*_QUARANTINED)
        bad.write.mode("overwrite").json(f"{self.storage.root}/quarantine/{name}")

    def _with(self, name: str, intake: Intake) -> "Buffer":
        """The buffer with one more segment."""
        segment = Segment(name, intake.latest_ms or 0, intake.needed, brought=intake.elements)
        return replace(self, segments=(*self.segments, segment))

    def merge(
        self, spark: SparkSession, names: Sequence[str], name: str, *, opening_ms: int | None
    ) -> "Buffer":
        """Let a new segment take the place of some that came one after the other.

        It has those of their elements that came after a time.
        """
        parts = self.only(names)
        if parts.elements < FEW_ROWS:
            live = parts._live(opening_ms)
            elements = live.num_rows
            self._write_few(live, name)
        else:
            observation = Observation()
            after_ms = _LONG_AGO if opening_ms is None else opening_ms
            live = parts.read(spark).filter(f"{TIME} > {after_ms}")
            self._write_many(live.observe(observation, F.count("*").alias("elements")), name)
            elements = observation.get["elements"]
        latest_ms = max(segment.latest_ms for segment in parts.segments)
        merged = Segment(name, latest_ms, elements, brought=parts.segments[-1].brought)
        place = self.segments.index(parts.segments[0])
        after = self.segments[place + len(parts.segments) :]
        return replace(self, segments=(*self.segments[:place], merged, *after))

    @property
    def elements(self) -> int:
        """How many elements the segments hold."""
        return sum(segment.elements for segment in self.segments)

    @property
    def latest_ms(self) -> int:
        """The time of the latest element."""
        return max(segment.latest_ms for segment in self.segments)

    def only(self, names: Sequence[str]) -> "Buffer":
        """The buffer with some of its segments."""
        return replace(self, segments=tuple(one for one in self.segments if one.name in names))

    def read(
        self, spark: SparkSession, *, opening_ms: int | None = None, few: bool = False
    ) -> DataFrame:
        """The elements of all segments, or those that came after a time.

        With `few` they are those at hand.
        """
        if few:
            # In one piece: Spark takes an empty first piece for the end.
            return spark.createDataFrame(self._live(opening_ms).combine_chunks())
        paths = [f"{self.storage.root}/{_folder(segment.name)}" for segment in self.segments]
        rows = spark.read.schema(INTAKE).parquet(*paths)
        return rows.filter("reason IS NULL").select(*ELEMENT_FIELDS)

    def _live(self, opening_ms: int | None) -> pa.Table:
        """The elements that came after a time, in the driver."""
        tables = [self._elements(segment.name).table for segment in self.segments]
        table = pa.concat_tables([_NO_ELEMENTS, *tables])
        return table if opening_ms is None else table.filter(pc.field(TIME) > opening_ms)

    def json_parts(self) -> list[str]:
        """The elements as JSON, each segment by itself."""
        return [self._elements(segment.name).json for segment in self.segments]

    def fingerprints(self) -> pa.ChunkedArray:
        """The fingerprints of the elements."""
        return self._live(None)[FINGERPRINT]

    def _elements(self, name: str) -> "Elements":
        """The elements of a segment, which are read if they are not at hand."""
        if name not in self.at_hand:
            files = [one for one in self.storage.names(_folder(name)) if one.endswith(".parquet")]
            contents = [self.storage.read(f"{_folder(name)}/{file}") or b"" for file in files]
            read = [_NO_ELEMENTS, *map(_elements_in, contents)]
            self.at_hand[name] = Elements(pa.concat_tables(read))
        return self.at_hand[name]

    def without_before(self, opening_ms: int) -> "Buffer":
        """The buffer less the segments that no window from `opening_ms` on can need."""
        kept = tuple(segment for segment in self.segments if segment.latest_ms > opening_ms)
        return replace(self, segments=kept)


def worth_merging(segments: Sequence[Segment], known: Collection[str] = ()) -> list[str]:
    """The segments, of so many that some should be merged, that are one from now on; or none.

    They came one after the other. A large one is merged with smaller ones only when these are many:
    so no element is written often, and of what is no longer needed little stays. Those that are
    `known`, who came first, are not merged with others.
    """
    if len(segments) < _MOST_SEGMENTS:
        return []
    first = sum(1 for _ in takewhile(lambda one: one.name in known, segments))
    pool = max(segments[:first], segments[first:], key=len)
    chosen, elements = list[str](), 0
    for segment in reversed(pool):
        large = segment.elements > _TIMES_AS_LARGE * elements
        if large and len(chosen) >= _MERGED_AT_LEAST:
            break
        chosen.insert(0, segment.name)
        elements += segment.elements
    return chosen


def _folder(name: str) -> str:
    return f"buffer/{name}"


_ARROW_TYPES = {"bigint": pa.int64(), "string": pa.string()}
_NO_ELEMENTS = pa.schema(
    [(one.name, _ARROW_TYPES[one.dataType.simpleString()]) for one in ELEMENTS.fields]
).empty_table()


def _elements_in(content: bytes) -> pa.Table:
    table = pq.read_table(io.BytesIO(content))
    if "reason" in table.column_names:
        table = table.filter(pc.field("reason").is_null())
    return table.select(ELEMENT_FIELDS).cast(_NO_ELEMENTS.schema)


def _with_reason(rows: pa.Table) -> pa.Table:
    """Quarantined rows, those of the future with the reason why they are."""
    ahead = pc.equal(rows[_VERDICT], AHEAD)
    reason = pc.if_else(ahead, pa.scalar(_AHEAD), rows["reason"])
    return rows.set_column(rows.column_names.index("reason"), "reason", reason)


def _kept(judged: DataFrame) -> DataFrame:
    """The elements, and the quarantined with their raw text and reason."""
    columns = [f"IF({_VERDICT} = {NEEDED}, {name}, NULL) AS {name}" for name in (TIME, *"spo")]
    reason = f"IF({_VERDICT} = {AHEAD}, '{_AHEAD}', reason) AS reason"
    return judged.filter(f"{_VERDICT} IN ({NEEDED}, {AHEAD}, {UNREADABLE})").selectExpr(
        *columns, STREAM, EVENT, FINGERPRINT, "raw", reason
    )


def _counts(streams: Sequence[str]) -> list[Column]:
    """What the batch brought, to be observed while it is written."""
    element = f"{_VERDICT} <= {NOT_NEEDED}"
    return [
        F.expr(f"count_if({element}) AS elements"),
        F.expr(f"count_if({_VERDICT} = {NEEDED}) AS needed"),
        F.expr(f"count_if({_VERDICT} = {LATE}) AS late"),
        F.expr(f"count_if({_VERDICT} >= {AHEAD}) AS quarantined"),
        F.expr(f"min(IF({element}, {TIME}, NULL)) AS earliest"),
        *(
            F.max(F.when(F.expr(element) & (F.col(STREAM) == name), F.col(TIME))).alias(
                f"latest{number}"
            )
            for number, name in enumerate(streams)
        ),
    ]


def _intake_observed(metrics: dict[str, int | None], streams: Sequence[str]) -> Intake:
    times = {name: metrics[f"latest{number}"] for number, name in enumerate(streams)}
    latest_of = {name: time for name, time in times.items() if time is not None}
    return Intake(
        **{name: metrics[name] or 0 for name in ("elements", "needed", "late", "quarantined")},
        earliest_ms=metrics["earliest"],
        latest_ms=max(latest_of.values(), default=None),
        latest_of=latest_of,
    )


def _intake_of(rows: pa.Table, verdict: np.ndarray, streams: Sequence[str]) -> Intake:
    """What the collected rows of a batch are."""
    elements = rows.filter(pa.array(verdict <= NOT_NEEDED))
    latest = pa.TableGroupBy(elements, STREAM).aggregate([(TIME, "max"), (TIME, "min")])
    spans = {row[STREAM]: row for row in latest.to_pylist()}
    latest_of = {name: spans[name][f"{TIME}_max"] for name in streams if name in spans}
    earliest = [row[f"{TIME}_min"] for row in spans.values()]
    return Intake(
        elements=elements.num_rows,
        needed=int((verdict == NEEDED).sum()),
        late=int((verdict == LATE).sum()),
        quarantined=int((verdict >= AHEAD).sum()),
        earliest_ms=min(earliest, default=None),
        latest_ms=max(latest_of.values(), default=None),
        latest_of=latest_of,
    )
