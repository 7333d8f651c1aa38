"""Intake rows: what every source makes of its events.

An event comes with its `raw` text, its timestamp as text in `stamp`, and in `wrong` why it cannot
be used, where that is known already. A good event becomes one row per triple, a bad one a row with
its raw text and the reason: nothing is dropped silently.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pyspark.sql import DataFrame

from bestbefore.spark.columns import EVENT, TIME, TRIPLE
from bestbefore.spark.ntriples import encoded, unescaped
from bestbefore.spark.sql import Cheap, aliased, quote

TimestampUnit = Literal["ms", "s", "us", "ns"]

# A batch that is repeated has the same timestamp: Spark writes it down with the batch's offsets.
ARRIVAL = "string(unix_millis(current_timestamp()))"
"""The `stamp` of an event that is taken in now."""

RAW, STAMP, WRONG, REASON = map(Cheap, ("raw", "stamp", "wrong", "reason"))
EACH = Cheap("triple")

_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# As many digits as give no time beyond the year 33658.
_DIGITS = {"s": 12, "ms": 15, "us": 18, "ns": 21}
_INSTANT = quote(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
_WITHOUT_SECONDS = quote(r"^(.{16})(?!:)")
_ZONE = quote(r"(?:Z|[+-]\d{2}(?::?\d{2})?)\z")
_SHOWN = 40


def timed(events: DataFrame, *identity: str, unit: TimestampUnit = "ms") -> DataFrame:
    """The events with their `time`, and with `event`: a hash of `identity` and the time."""
    with_time = events.selectExpr("*", f"{_time_of(STAMP, unit)} AS {TIME}")
    return with_time.selectExpr("*", f"xxhash64({', '.join(identity)}, {TIME}) AS {EVENT}")


def judged(
    events: DataFrame, faults: Iterable[tuple[str, str]], unit: TimestampUnit = "ms"
) -> DataFrame:
    """Timed events with the `reason` why they are bad: the first of some faults that they have.

    A fault is a condition and what is then said.
    """
    what = quote(f"the timestamp is neither {_NAMES[unit]} nor ISO 8601: ")
    untimely = f"concat({what}, coalesce({shown(STAMP)}, 'nothing'))"
    known = (f"{WRONG} IS NOT NULL", WRONG)
    cases = (known, *faults, (f"{TIME} IS NULL", untimely))
    reason = " ".join(f"WHEN {condition} THEN {said}" for condition, said in cases)
    return events.selectExpr("*", f"CASE {reason} END AS {REASON}")


def shown(text: str) -> str:
    """As much of a text as a reason shows."""
    return f"left({text}, {_SHOWN})"


def each_triple(events: DataFrame, triples: str) -> DataFrame:
    """A row per `triple` of an array that a good event has, one without it per bad event."""
    found = f"CASE WHEN {REASON} IS NULL THEN {triples} ELSE array(NULL) END"
    return events.selectExpr("*", f"explode({found}) AS {EACH}")


def intake_of_statements(
    rows: DataFrame,
    statement: Cheap,
    *,
    gap: str = " ",
    first: int = 0,
    scope: str | None = None,
    raw: str = RAW,
) -> DataFrame:
    """The intake rows of judged events with a right statement each.

    The terms are its parts from the `first` on, with a `gap` between them. Neither a subject nor a
    predicate has a space or a tab in it, even when its escapes are replaced.
    """
    parts = f"split({unescaped(statement)}, {quote(gap)}, {first + 3})"
    cut = rows.selectExpr("*", f"CASE WHEN {REASON} IS NULL THEN {parts} END AS terms")
    s, p, o = (Cheap(f"get(terms, {number})") for number in range(first, first + 3))
    return intake_of(cut, encoded(s, p, o, scope=scope), raw=raw)


def intake_of(
    rows: DataFrame, terms: Mapping[str, str] | None = None, *, raw: str = RAW
) -> DataFrame:
    """The intake rows of judged events with a triple each; the terms of a bad one are null."""
    terms = terms or {part: f"{EACH}.{part}" for part in TRIPLE}
    time = f"CASE WHEN {REASON} IS NULL THEN {TIME} END"
    kept = f"CASE WHEN {REASON} IS NOT NULL THEN {raw} END"
    columns = {TIME: time, **terms, EVENT: EVENT, RAW: kept, REASON: REASON}
    return rows.selectExpr(*aliased(columns))


def _time_of(stamp: Cheap, unit: TimestampUnit) -> str:
    """Milliseconds since 1970; null for a text that is neither a number nor ISO 8601."""
    whole = f"regexp_replace({stamp}, {_WITHOUT_SECONDS}, '$1:00')"
    zoned = f"CASE WHEN {stamp} RLIKE {_ZONE} THEN {whole} ELSE concat({whole}, 'Z') END"
    digits = rf"^\d{{1,{_DIGITS[unit]}}}"
    if unit == "ms":
        form, number = quote(rf"{digits}\z"), f"try_cast({stamp} AS BIGINT)"
    else:
        # Spark writes a number of JSON that has decimals with an exponent.
        form = quote(rf"{digits}(?:\.\d{{1,20}})?(?:[eE]\+?\d{{1,2}})?\z")
        scale = {"s": "* 1000", "us": "/ 1000", "ns": "/ 1000000"}[unit]
        number = f"try_cast(floor(try_cast({stamp} AS DECIMAL(30, 9)) {scale}) AS BIGINT)"
    return (
        f"CASE WHEN {stamp} RLIKE {form} THEN {number} WHEN {stamp} RLIKE {_INSTANT} "
        f"THEN unix_millis(try_cast({zoned} AS TIMESTAMP)) END"
    )
