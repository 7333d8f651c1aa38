"""The continuous query: what RSP-QL text means, apart from how it is written."""

from dataclasses import dataclass
from enum import StrEnum

from bestbefore.query.algebra import Form, Pattern


class OutputOperator(StrEnum):
    """What of an evaluation's answer goes to the output stream."""

    RSTREAM = "RSTREAM"


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """A sliding time window over a stream: `FROM NAMED WINDOW name ON stream [RANGE … STEP …]`."""

    name: str
    stream: str
    width_ms: int
    slide_ms: int

    @property
    def tumbling(self) -> bool:
        """Whether each window starts where the one before it ends."""
        return self.width_ms == self.slide_ms


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    """A registered query: its windows, its pattern and the form of its answers."""

    output: OutputOperator
    name: str
    windows: tuple[NamedWindow, ...]
    form: Form
    pattern: Pattern
