"""The content of all due windows at once, as triples that say in which windows they count.

Which windows are due differs from batch to batch, while the text stays the same: their numbers and
bounds are parameters (`bounds_of`). They stand in it as one array, and an index that Spark does not
take for a constant: the code that Spark generates then refers to them instead of containing them,
and is compiled once and not in every batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bestbefore.spark.columns import (
    EVALUATION,
    FROM_EVALUATION,
    RANGE,
    STREAM,
    TIME,
    TO_EVALUATION,
    TRIPLE,
)
from bestbefore.spark.relation import Relation, union_all
from bestbefore.spark.sql import inline_table, name, one_of, parameter
from bestbefore.windows import Instants, SlidingWindow, Symbol

_BOUNDS = parameter("bounds")
_OF_WINDOW = 4


def bounds_of(instants: Instants, first: int, last: int) -> dict[str, str]:
    """The parameters of the statements over windows: those that `first` to `last` see."""
    numbers, spans = [first, last], {}
    for window, sliding in enumerate(instants.windows):
        own = [instants.index(window, evaluation) for evaluation in (first, last)]
        numbers += [*own, sliding.bounds(own[0])[0], sliding.bounds(own[1])[1]]
        # As a table, not as constants: Spark 4 loses columns when it explodes a constant.
        spans[f"span{window}"] = inline_table(dict.fromkeys(RANGE, "BIGINT"), [own])
    listed = ", ".join(f"{number}L" for number in numbers)
    return {"bounds": f"array({listed})", **spans}


def due_bound(position: int, column: str) -> str:
    """A bound by its position, looked up by a whole number that is never null.

    The first two are the first and the last evaluation that is due.
    """
    return f"get({_BOUNDS}, int({column} % 1) + {position})"


def gathered(relation: Relation) -> Relation:
    """All rows in one partition: few rows are done before a shuffle has begun."""
    return relation.keep(relation.columns, hint="/*+ COALESCE(1) */ ")


@dataclass(frozen=True)
class WindowContent:
    """The elements of the due windows of a sliding window, by its place among the query's.

    A window's content is a graph: a triple that came more than once counts once, with its latest
    time. So an occurrence of a triple counts in the windows that hold it and not its next one:
    a range of windows, which is carried instead of a copy of the triple per window.

    `earlier` is how many windows before the due ones are looked at, too. Where `repeating` is
    false, no triple came more than once.
    """

    elements: Relation
    window: SlidingWindow
    place: int = 0
    earlier: int = 0
    repeating: bool = True

    def triples(self, wanted: str, parts: Sequence[str] = TRIPLE) -> Relation:
        """The wanted triples: `parts`, `time`, and the range of due windows they count in."""
        opening = f"{self._own(2, TIME)} - {self.earlier * self.window.slide_ms}L"
        inside = self.elements.filter(f"{TIME} > {opening} AND {TIME} <= {self._own(3, TIME)}")
        own = {part: name(part) for part in (*parts, TIME)}
        occurrences = inside.filter(wanted)
        first, last = self.window.first_with(Symbol(TIME)), self.window.last_with(Symbol(TIME))
        ends = [last, self._last(TIME)]
        if self.repeating:
            next_ = f"next_{TIME}"
            occurrences = occurrences.select({**own, next_: _next_time(parts)})
            ends.append(self.window.first_with(Symbol(next_)) - 1)
        seen = {
            FROM_EVALUATION: f"greatest({first}, {self._first(TIME)})",
            TO_EVALUATION: f"least({', '.join(map(str, ends))})",
        }
        return occurrences.select({**own, **seen}).filter(f"{FROM_EVALUATION} <= {TO_EVALUATION}")

    def _own(self, position: int, column: str) -> str:
        return due_bound(2 + self.place * _OF_WINDOW + position, column)

    def _first(self, column: str) -> str:
        return f"({self._own(0, column)} - {self.earlier}L)"

    def _last(self, column: str) -> str:
        return self._own(1, column)

    def span(self) -> Relation:
        """One row with the range of all due windows."""
        return gathered(Relation(RANGE, ("SELECT * FROM ", parameter(f"span{self.place}"))))

    def remaining(self, window: str) -> str:
        """L of a mapping's time, in SQL, counted from a window by its number."""
        return str(self.window.remaining(Symbol(TIME), self.window.closing(Symbol(window))))

    def changes(self) -> Relation:
        """The numbers, `evaluation`, of windows whose content differs from that of the one before.

        The window before the first is looked at, too.
        """
        order = "OVER (PARTITION BY s, p, o ORDER BY from_evaluation)"
        runs = (
            replace(self, earlier=1)
            .triples("TRUE")
            .select(
                {
                    FROM_EVALUATION: FROM_EVALUATION,
                    TO_EVALUATION: TO_EVALUATION,
                    "earlier": f"lag({TO_EVALUATION}) {order}",
                    "later": f"lead({FROM_EVALUATION}) {order}",
                }
            )
        )
        came = f"IF(earlier IS NULL OR earlier < {FROM_EVALUATION} - 1, {FROM_EVALUATION}, NULL)"
        went = f"IF(later IS NULL OR later > {TO_EVALUATION} + 1, {TO_EVALUATION} + 1, NULL)"
        changed = runs.select({EVALUATION: f"explode(array({came}, {went}))"}).distinct()
        return changed.filter(
            f"{EVALUATION} IS NOT NULL AND {EVALUATION} >= {self._first(EVALUATION)} "
            f"AND {EVALUATION} <= {self._last(EVALUATION)}"
        )

    def filled(self) -> Relation:
        """The numbers, `evaluation`, of the windows that have any content."""
        ranges = self.triples("TRUE").keep(RANGE).distinct()
        return ranges.select({EVALUATION: f"explode(sequence({', '.join(RANGE)}))"}).distinct()


def _next_time(parts: Sequence[str]) -> str:
    """When a triple came next; its parts, most of which begin alike, are sorted by a hash first."""
    if not parts:
        return f"lead({TIME}) OVER (ORDER BY {TIME})"
    same = ", ".join(parts)
    return f"lead({TIME}) OVER (PARTITION BY xxhash64({same}), {same} ORDER BY {TIME})"


@dataclass(frozen=True)
class WindowContents:
    """The content of all windows of a query, for the evaluations that are due.

    `streams` names the streams of each window; elements without a column `stream` are of them all.
    `together` says that all rows are in one partition, `repeating` that a triple may have come
    more than once.
    """

    elements: Relation
    instants: Instants
    streams: tuple[tuple[str, ...], ...]
    together: bool = False
    repeating: bool = True

    def of(self, window: int) -> WindowContent:
        """What these evaluations see of a window of the query, by its own numbers."""
        elements = self.elements
        if STREAM in elements.columns:
            elements = elements.filter(one_of(STREAM, self.streams[window]))
        sliding = self.instants.windows[window]
        return WindowContent(elements, sliding, window, repeating=self.repeating)

    def triples(self, wanted: str, parts: Sequence[str] = TRIPLE) -> Relation:
        """The wanted triples of any window, with the range of evaluations that see them."""
        relations = []
        for window in range(len(self.instants.windows)):
            own = {part: name(part) for part in (*parts, TIME)}
            seen = dict(zip(RANGE, self._range(window), strict=True))
            relations.append(self.of(window).triples(wanted, parts).select({**own, **seen}))
        return union_all(relations)

    def spread_by(self, relation: Relation, *columns: str) -> Relation:
        """The rows partitioned by columns, unless all of them stay together."""
        if self.together:
            return gathered(relation)
        listed = ", ".join(map(name, columns))
        return relation.keep(relation.columns, hint=f"/*+ REPARTITION({listed}) */ ")

    def evaluations(self, window: int) -> str:
        """The evaluations, in SQL, that see `from_evaluation` to `to_evaluation` of a window."""
        first, last = self._range(window)
        return f"sequence({first}, {last})"

    def _range(self, window: int) -> tuple[str, str]:
        first = self.instants.first_seeing(window, Symbol(FROM_EVALUATION))
        last = self.instants.last_seeing(window, Symbol(TO_EVALUATION))
        return (
            f"greatest({first}, {due_bound(0, FROM_EVALUATION)})",
            f"least({last}, {due_bound(1, FROM_EVALUATION)})",
        )

    def seeing(self, numbers: Relation, window: int, *, first_only: bool = False) -> Relation:
        """The evaluations, `evaluation`, that see some numbers of a window, or see them first."""
        first = self.instants.first_seeing(window, Symbol(EVALUATION))
        last = self.instants.last_seeing(window, Symbol(EVALUATION))
        seen = f"explode(sequence({first}, {first if first_only else last}))"
        low, high = due_bound(0, EVALUATION), due_bound(1, EVALUATION)
        found = numbers.select({EVALUATION: seen})
        return found.filter(f"{EVALUATION} BETWEEN {low} AND {high}").distinct()

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
