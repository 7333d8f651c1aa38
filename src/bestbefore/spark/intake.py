"""Intake rows: what every source makes of its events.

An event comes with its `raw` text, its timestamp as text, its `triples` or a `reason` why it has
none. A good event becomes one row per triple, a bad one a row with its raw text and the reason:
nothing is dropped silently.
"""

from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from bestbefore.spark.columns import EVENT, TIME, TRIPLE

TimestampUnit = Literal["ms", "s", "us", "ns"]

STAMP = "stamp"
TRIPLES = "triples"
REASON = "reason"
TRIPLE_TYPE = StructType([StructField(part, StringType()) for part in TRIPLE])

_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# As many digits as give no time beyond the year 33658.
_DIGITS = {"s": 12, "ms": 15, "us": 18, "ns": 21}
_INSTANT = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
_WITHOUT_SECONDS = r"^(.{16})(?!:)"
_ZONE = r"(?:Z|[+-]\d{2}(?::?\d{2})?)\z"
_SHOWN = 40


def timed(events: DataFrame, *identity: str, unit: TimestampUnit = "ms") -> DataFrame:
    """The events with their `time`, and with `event`: a hash of `identity` and the time."""
    with_time = events.withColumn(TIME, _time_of(F.col(STAMP), unit))
    return with_time.withColumn(EVENT, F.xxhash64(*identity, TIME))


def intake_of(
    events: DataFrame, unit: TimestampUnit = "ms", *, raw: Column | None = None
) -> DataFrame:
    """One row per triple of a good event, one row per bad event with its `raw` text."""
    raw = F.col("raw") if raw is None else raw
    shown = F.coalesce(F.substring(STAMP, 1, _SHOWN), F.lit("nothing"))
    wrong = F.concat(F.lit(f"the timestamp is neither {_NAMES[unit]} nor ISO 8601: "), shown)
    judged = events.withColumn(REASON, F.coalesce(REASON, F.when(F.col(TIME).isNull(), wrong)))
    good = F.col(REASON).isNull()
    nothing = F.array(F.lit(None).cast(TRIPLE_TYPE))
    rows = judged.select(
        F.when(good, F.col(TIME)).alias(TIME),
        F.explode(F.when(good, F.col(TRIPLES)).otherwise(nothing)).alias("triple"),
        EVENT,
        F.when(~good, raw).alias("raw"),
        REASON,
    )
    terms = [F.col(f"triple.{name}").alias(name) for name in "spo"]
    return rows.select(TIME, *terms, EVENT, "raw", REASON)


def _time_of(stamp: Column, unit: TimestampUnit) -> Column:
    """Milliseconds since 1970; null for a text that is neither a number nor ISO 8601."""
    whole = F.regexp_replace(stamp, _WITHOUT_SECONDS, "$1:00")
    zoned = F.when(stamp.rlike(_ZONE), whole).otherwise(F.concat(whole, F.lit("Z")))
    instant = F.when(stamp.rlike(_INSTANT), F.unix_millis(zoned.try_cast("timestamp")))
    digits = rf"^\d{{1,{_DIGITS[unit]}}}"
    if unit == "ms":
        return F.when(stamp.rlike(rf"{digits}\z"), stamp.try_cast("long")).otherwise(instant)
    exact = stamp.try_cast("decimal(30,9)")
    scaled = exact * 1000 if unit == "s" else exact / (1000 if unit == "us" else 1_000_000)
    number = F.floor(scaled).try_cast("long")
    # Spark writes a number of JSON that has decimals with an exponent.
    form = rf"{digits}(?:\.\d{{1,20}})?(?:[eE]\+?\d{{1,2}})?\z"
    return F.when(stamp.rlike(form), number).otherwise(instant)
