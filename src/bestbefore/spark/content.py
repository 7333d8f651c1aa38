"""The content of all due windows at once: an RDF graph per window, in one DataFrame."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.spark.columns import TIME, WINDOW
from bestbefore.windows import SlidingWindow


@dataclass(frozen=True)
class WindowContent:
    """The elements of the windows `first` to `last` of a sliding window.

    A window's content is a graph: a triple that came more than once counts once, with its latest
    time. Repetitions are removed per pane, before a triple is copied to each of its windows.
    """

    elements: DataFrame
    window: SlidingWindow
    first: int
    last: int

    def triples(self, wanted: Column) -> DataFrame:
        """The wanted triples of every window: `window`, `s`, `p`, `o` and the latest `time`."""
        opening, _ = self.window.bounds(self.first)
        _, closing = self.window.bounds(self.last)
        inside = (F.col(TIME) > opening) & (F.col(TIME) <= closing) & wanted
        panes = _latest(self.elements.filter(inside).withColumn("pane", self._pane()), "pane")
        spread = panes.withColumn(WINDOW, F.explode(self._windows(F.col("pane")))).drop("pane")
        return spread if self._one_pane_per_window else _latest(spread, WINDOW)

    @property
    def _one_pane_per_window(self) -> bool:
        return self.window.pane_ms == self.window.width_ms

    def _pane(self) -> Column:
        """Pane k is (t0 + (k − 1)·g, t0 + k·g] with g the pane length."""
        return _ceiling_division(F.col(TIME) - self.window.t0_ms, self.window.pane_ms)

    def _windows(self, pane: Column) -> Column:
        """The due windows i that hold a pane: k·g ≤ i·β < k·g + ω."""
        end = pane * self.window.pane_ms
        from_window = _ceiling_division(end, self.window.slide_ms)
        to_window = _ceiling_division(end + self.window.width_ms, self.window.slide_ms) - 1
        low = F.greatest(from_window, F.lit(self.first))
        high = F.least(to_window, F.lit(self.last))
        return F.when(low <= high, F.sequence(low, high))


def _ceiling_division(dividend: Column, divisor: int) -> Column:
    """⌈dividend / divisor⌉ in whole numbers: doubles would lose milliseconds of far times."""
    padding = F.pmod(-dividend, F.lit(divisor))
    return F.call_function("div", dividend + padding, F.lit(divisor))


def _latest(triples: DataFrame, scope: str) -> DataFrame:
    return triples.groupBy(scope, "s", "p", "o").agg(F.max(TIME).alias(TIME))
