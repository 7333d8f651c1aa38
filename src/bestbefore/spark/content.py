"""The content of all due windows at once, as triples that say in which windows they count.

Window arithmetic is written as SQL text over whole numbers: columns built operator by operator
would cost a call to the JVM each, in every batch.
"""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import FROM_WINDOW, TIME, TO_WINDOW
from bestbefore.windows import SlidingWindow


@dataclass(frozen=True)
class WindowContent:
    """The elements of the windows `first` to `last` of a sliding window.

    A window's content is a graph: a triple that came more than once counts once, with its latest
    time. So an occurrence of a triple counts in the windows that hold it and not its next one:
    a range of windows, which is carried instead of a copy of the triple per window.

    `together` puts all rows into one partition: few rows are done before a shuffle has begun.
    """

    elements: DataFrame
    window: SlidingWindow
    first: int
    last: int
    together: bool = False

    def spread_by(self, frame: DataFrame, *columns: str) -> DataFrame:
        """The frame partitioned by columns, unless all rows stay together."""
        return frame.coalesce(1) if self.together else frame.repartition(*columns)

    def triples(self, wanted: Column) -> DataFrame:
        """The wanted triples: `s`, `p`, `o`, `time`, and the range of due windows they count in."""
        opening, _ = self.window.bounds(self.first)
        _, closing = self.window.bounds(self.last)
        elements = self.elements.coalesce(1) if self.together else self.elements
        inside = elements.filter(f"{TIME} > {opening} AND {TIME} <= {closing}").filter(wanted)
        times = F.expr(f"array_sort(collect_set({TIME})) AS times")
        grouped = inside.groupBy("s", "p", "o").agg(times)
        next_time = f"CASE WHEN place + 1 < size(times) THEN times[place + 1] END AS next_{TIME}"
        occurrences = grouped.selectExpr(
            "s", "p", "o", "times", f"posexplode(times) AS (place, {TIME})"
        ).selectExpr("s", "p", "o", TIME, next_time)
        return occurrences.selectExpr(
            "s",
            "p",
            "o",
            TIME,
            f"greatest({self._first_with(TIME)}, {self.first}L) AS {FROM_WINDOW}",
            f"least({self._last_with(TIME)}, {self._first_with(f'next_{TIME}')} - 1, {self.last}L)"
            f" AS {TO_WINDOW}",
        ).filter(f"{FROM_WINDOW} <= {TO_WINDOW}")

    def span(self) -> DataFrame:
        """One row with the range of all due windows."""
        span = {FROM_WINDOW: pa.array([self.first]), TO_WINDOW: pa.array([self.last])}
        # As data, not as literals: Spark 4 loses columns when it explodes a constant.
        frame = self.elements.sparkSession.createDataFrame(pa.table(span))
        return frame.coalesce(1) if self.together else frame

    def remaining(self, window: str) -> str:
        """L = ⌈(time + ω − c)/β⌉ with c = t0 + i·β (equation 3 of acqua), for window i."""
        return f"({self._last_with(TIME)} - {window} + 1)"

    def _first_with(self, time: str) -> str:
        """The first window that closes at `time` or later."""
        return _ceiling_division(f"({time} - {self.window.t0_ms})", self.window.slide_ms)

    def _last_with(self, time: str) -> str:
        """The last window that opens before `time`."""
        beyond = f"({time} - {self.window.t0_ms} + {self.window.width_ms})"
        return f"({_ceiling_division(beyond, self.window.slide_ms)} - 1)"


def _ceiling_division(dividend: str, divisor: int) -> str:
    """⌈dividend / divisor⌉ in whole numbers: doubles would lose milliseconds of far times."""
    return f"(({dividend} + pmod(-{dividend}, {divisor}L)) div {divisor}L)"
