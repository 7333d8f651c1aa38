"""The continuous query: what RSP-QL text means, apart from how it is written."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from bestbefore.errors import UnsupportedSparql
from bestbefore.query.algebra import Form, Pattern
from bestbefore.query.expressions import Expression
from bestbefore.query.paths import Path


class OutputOperator(StrEnum):
    """What of an evaluation's answer goes to the output stream.

    RSTREAM is all of it, ISTREAM what the answer before it did not have, DSTREAM what only the
    answer before it had.
    """

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window as wide as a duration, which moves on by another: `[RANGE … STEP …]`."""

    width_ms: int
    slide_ms: int


@dataclass(frozen=True, slots=True)
class CountWindow:
    """A window of so many elements, triples, which moves on by so many: `[ELEMENTS … STEP …]`."""

    size: int
    step: int


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """A window over a stream, or over several at once: `FROM NAMED WINDOW name ON stream […]`."""

    name: str
    streams: tuple[str, ...]
    extent: TimeWindow | CountWindow

    @property
    def time(self) -> TimeWindow:
        """The extent of a window in time."""
        if isinstance(self.extent, CountWindow):
            raise UnsupportedSparql(
                f"the window <{self.name}> counts elements; this version runs windows in time, "
                "such as [RANGE PT10M STEP PT1M]"
            )
        return self.extent

    @property
    def width_ms(self) -> int:
        """How long an element stays in the window."""
        return self.time.width_ms

    @property
    def slide_ms(self) -> int:
        """The time between two evaluations."""
        return self.time.slide_ms


Node = Pattern | Expression | Path | NamedWindow


class Place(NamedTuple):
    """A line and a column of the text of a query, which count from 1."""

    line: int
    column: int


@dataclass(slots=True)
class Places:
    """Where the nodes of a query are written; of two equal nodes each has its own place.

    The nodes are told apart by identity. They are kept, so that no other can take their identity.
    """

    found: dict[int, tuple[Node, Place]] = field(default_factory=dict)

    def note(self, node: Node, place: Place) -> None:
        """Note where a node is written."""
        self.found[id(node)] = node, place

    def of(self, node: Node) -> Place | None:
        """Where a node is written, if it was read from text."""
        noted, place = self.found.get(id(node), (None, None))
        return place if noted is node else None


@dataclass(frozen=True, slots=True)
class DatasetClause:
    """The IRIs of the graphs that make the default graph (FROM), and of the named ones."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    """A registered query: its windows and static graphs, its pattern and the form of its answers.

    `places` tells where its nodes are written; how a query is written is no part of it.
    """

    output: OutputOperator
    name: str
    windows: tuple[NamedWindow, ...]
    form: Form
    pattern: Pattern
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    places: Places = field(default_factory=Places, compare=False, repr=False)
