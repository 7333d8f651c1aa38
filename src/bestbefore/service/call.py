"""One load or fetch of a client, and the questions that it asks."""

from dataclasses import dataclass, field

from bestbefore.rdf.terms import Key
from bestbefore.service.message import Message, Statement
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.results import Rows

_GIVE_UP_AFTER = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent, and how long the whole reply may take.

    Rows that come for a `unit` lack its key. A status in `absent` says that there are none; 304
    (Not Modified) that they are the `unchanged` ones, where it was asked whether they are.
    Questions for units are alike (`comparable`), so the time of one says something of the
    service's load; that of a load does not.
    """

    message: Message | Statement
    timeout_s: float
    unit: Key | None = None
    absent: frozenset[int] = frozenset()
    unchanged: Rows | None = None
    comparable: bool = True


@dataclass(slots=True)
class Call:
    """The requests of one load or fetch: how many were sent, how many may be, how they went.

    `answered` had an HTTP reply of any kind, `not_modified` one that says that nothing has changed;
    `seconds` are those of requests that brought results. After a few queries in a row without a
    usable answer the rest of the call is not sent: it would wait for as many timeouts and count as
    abuse with services that ban by errors.
    """

    allowed: int | None = None
    sent: int = 0
    answered: int = 0
    not_modified: int = 0
    lost_in_a_row: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def exhausted(self) -> bool:
        """Whether no request may be sent any more."""
        return self.allowed is not None and self.sent >= self.allowed

    def check(self) -> None:
        """Raise `NoAnswerError` if nothing may be sent any more."""
        if self.lost_in_a_row >= _GIVE_UP_AFTER:
            raise NoAnswerError(f"{_GIVE_UP_AFTER} queries in a row failed, so no more were sent")
        if self.exhausted:
            reason = f"no request was left of the {self.allowed} allowed"
            raise NoAnswerError(reason, unsent=True)

    def take(self) -> None:
        """Count one request that is about to be sent, or raise `NoAnswerError`."""
        self.check()
        self.sent += 1
