"""The content of all due windows at once: an RDF graph per window, in one DataFrame.

Arithmetic on windows is written as SQL text over whole numbers: a column of it would cost a call to
the JVM per operator, in every batch.
"""

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
        inside = self.elements.filter(f"{TIME} > {opening} AND {TIME} <= {closing}").filter(wanted)
        panes = _latest(inside.selectExpr(f"{self._pane()} AS pane", TIME, "s", "p", "o"), "pane")
        windows = f"explode({self._windows()}) AS {WINDOW}"
        spread = panes.selectExpr(windows, TIME, "s", "p", "o")
        one_pane_per_window = self.window.pane_ms == self.window.width_ms
        return spread if one_pane_per_window else _latest(spread, WINDOW)

    def _pane(self) -> str:
        """Pane k is (t0 + (k − 1)·g, t0 + k·g] with g the pane length."""
        return ceiling_division(f"({TIME} - {self.window.t0_ms})", self.window.pane_ms)

    def _windows(self) -> str:
        """The due windows i that hold a pane: k·g ≤ i·β < k·g + ω."""
        end, slide = f"pane * {self.window.pane_ms}", self.window.slide_ms
        low = f"greatest({ceiling_division(f'({end})', slide)}, {self.first}L)"
        beyond = ceiling_division(f"({end} + {self.window.width_ms})", slide)
        high = f"least({beyond} - 1, {self.last}L)"
        return f"CASE WHEN {low} <= {high} THEN sequence({low}, {high}) END"


def ceiling_division(dividend: str, divisor: int) -> str:
    """⌈dividend / divisor⌉ in whole numbers: doubles would lose milliseconds of far times."""
    return f"(({dividend} + pmod(-{dividend}, {divisor}L)) div {divisor}L)"


def _latest(triples: DataFrame, scope: str) -> DataFrame:
    return triples.groupBy(scope, "s", "p", "o").agg(F.max(TIME).alias(TIME))
