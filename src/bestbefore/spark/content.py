"""The content of all due windows at once, as triples that say in which windows they count.

Window arithmetic is written as SQL text over whole numbers: columns built operator by operator
would cost a call to the JVM each, in every batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import (
    EVALUATION,
    FROM_EVALUATION,
    STREAM,
    TIME,
    TO_EVALUATION,
    TRIPLE,
)
from bestbefore.windows import Instants, SlidingWindow, Symbol


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

    def triples(self, wanted: Column, parts: Sequence[str] = TRIPLE) -> DataFrame:
        """The wanted triples: `parts`, `time`, and the range of due windows they count in."""
        opening, _ = self.window.bounds(self.first)
        _, closing = self.window.bounds(self.last)
        elements = self.elements.coalesce(1) if self.together else self.elements
        inside = elements.filter(f"{TIME} > {opening} AND {TIME} <= {closing}").filter(wanted)
        same = f"PARTITION BY {', '.join(parts)}" if parts else ""
        occurrences = inside.selectExpr(
            *parts, TIME, f"lead({TIME}) OVER ({same} ORDER BY {TIME}) AS next_{TIME}"
        )
        first, last = self.window.first_with(Symbol(TIME)), self.window.last_with(Symbol(TIME))
        next_ = self.window.first_with(Symbol(f"next_{TIME}"))
        return occurrences.selectExpr(
            *parts,
            TIME,
            f"greatest({first}, {self.first}L) AS {FROM_EVALUATION}",
            f"least({last}, {next_ - 1}, {self.last}L) AS {TO_EVALUATION}",
        ).filter(f"{FROM_EVALUATION} <= {TO_EVALUATION}")

    def span(self) -> DataFrame:
        """One row with the range of all due windows."""
        span = {FROM_EVALUATION: pa.array([self.first]), TO_EVALUATION: pa.array([self.last])}
        # As data, not as literals: Spark 4 loses columns when it explodes a constant.
        frame = self.elements.sparkSession.createDataFrame(pa.table(span))
        return frame.coalesce(1) if self.together else frame

    def remaining(self, window: str) -> str:
        """L of a mapping's time, in SQL, counted from a window by its number."""
        return str(self.window.remaining(Symbol(TIME), self.window.closing(Symbol(window))))

    def changes(self) -> DataFrame:
        """The numbers, `evaluation`, of windows whose content differs from that of the one before.

        The content of the window before the first is looked at too: give it one earlier.
        """
        order = "OVER (PARTITION BY s, p, o ORDER BY from_evaluation)"
        runs = self.triples(F.lit(True)).selectExpr(  # noqa: FBT003
            FROM_EVALUATION,
            TO_EVALUATION,
            f"lag({TO_EVALUATION}) {order} AS earlier",
            f"lead({FROM_EVALUATION}) {order} AS later",
        )
        came = f"IF(earlier IS NULL OR earlier < {FROM_EVALUATION} - 1, {FROM_EVALUATION}, NULL)"
        went = f"IF(later IS NULL OR later > {TO_EVALUATION} + 1, {TO_EVALUATION} + 1, NULL)"
        changed = runs.selectExpr(f"explode(array({came}, {went})) AS {EVALUATION}").distinct()
        return changed.filter(f"{EVALUATION} > {self.first} AND {EVALUATION} <= {self.last}")

    def filled(self) -> DataFrame:
        """The numbers, `evaluation`, of the windows that have any content."""
        ranges = self.triples(F.lit(True)).select(FROM_EVALUATION, TO_EVALUATION).distinct()  # noqa: FBT003
        spread = f"explode(sequence({FROM_EVALUATION}, {TO_EVALUATION})) AS {EVALUATION}"
        return ranges.selectExpr(spread).distinct()


@dataclass(frozen=True)
class WindowContents:
    """The content of all windows of a query, for the evaluations from `first` to `last`.

    `streams` names the streams of each window; elements without a column `stream` are of them all.
    """

    elements: DataFrame
    instants: Instants
    streams: tuple[tuple[str, ...], ...]
    first: int
    last: int
    together: bool = False

    def of(self, window: int) -> WindowContent:
        """What these evaluations see of a window of the query, by its own numbers."""
        elements = self.elements
        if STREAM in elements.columns:
            elements = elements.filter(F.col(STREAM).isin(*self.streams[window]))
        return WindowContent(
            elements,
            self.instants.windows[window],
            self.instants.index(window, self.first),
            self.instants.index(window, self.last),
            together=self.together,
        )

    def triples(self, wanted: Column, parts: Sequence[str] = TRIPLE) -> DataFrame:
        """The wanted triples of any window, with the range of evaluations that see them."""
        frames = []
        for window in range(len(self.instants.windows)):
            first, last = self._range(window)
            seen = (f"{first} AS {FROM_EVALUATION}", f"{last} AS {TO_EVALUATION}")
            found = self.of(window).triples(wanted, parts)
            frames.append(found.selectExpr(*parts, TIME, *seen))
        return reduce(DataFrame.unionByName, frames)

    def spread_by(self, frame: DataFrame, *columns: str) -> DataFrame:
        """The frame partitioned by columns, unless all rows stay together."""
        return frame.coalesce(1) if self.together else frame.repartition(*columns)

    def evaluations(self, window: int) -> str:
        """The evaluations, in SQL, that see `from_evaluation` to `to_evaluation` of a window."""
        first, last = self._range(window)
        return f"sequence({first}, {last})"

    def _range(self, window: int) -> tuple[str, str]:
        first = self.instants.first_seeing(window, Symbol(FROM_EVALUATION))
        last = self.instants.last_seeing(window, Symbol(TO_EVALUATION))
        return f"greatest({first}, {self.first}L)", f"least({last}, {self.last}L)"

    def seeing(self, numbers: DataFrame, window: int, *, first_only: bool = False) -> DataFrame:
        """The evaluations, `evaluation`, that see some numbers of a window, or see them first."""
        first = self.instants.first_seeing(window, Symbol(EVALUATION))
        last = self.instants.last_seeing(window, Symbol(EVALUATION))
        seen = f"sequence({first}, {first if first_only else last})"
        found = numbers.selectExpr(f"explode({seen}) AS {EVALUATION}")
        return found.filter(f"{EVALUATION} BETWEEN {self.first} AND {self.last}").distinct()

    def own_number(self, window: int, evaluation: str) -> str:
        """The number of a window, in SQL, that an evaluation sees."""
        return str(self.instants.index(window, Symbol(evaluation)))

    def taking_place(self) -> str:
        """The condition, in SQL, that an evaluation takes place."""
        instants, windows = self.instants, range(len(self.instants.windows))
        if any(instants.stride(window) == 1 for window in windows):
            return "TRUE"
        return " OR ".join(
            f"{(Symbol(EVALUATION) - instants.offset(window)) % instants.stride(window)} = 0"
            for window in windows
        )
