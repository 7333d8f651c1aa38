"""What carries a question: an HTTP request or a SQL statement, and what reads the reply."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from bestbefore.service.redirects import next_url
from bestbefore.service.reply import Reply
from bestbefore.service.results import Reader, Rows

OpenReader = Callable[[Mapping[str, str]], Reader]
"""A function from the headers of a 200 reply (names in lower case) to its reader."""

RowsOf = Callable[[Sequence[str], Iterable[Sequence[object]]], Rows]
"""A function from the names of columns, and their values row by row, to rows."""


@dataclass(frozen=True, slots=True)
class Message:
    """Method, address and body of an HTTP request, and the reader of its reply.

    An `exact` address is sent as it is: what is percent-encoded in it stays so.
    """

    method: str
    url: str
    reader: OpenReader
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False

    def redirected(self, reply: Reply) -> Self:
        """The same message as a redirect has it; See Other (303) leads to a finished result."""
        url = next_url(reply, self.url)
        if reply.status == 303:
            return replace(self, method="GET", url=url, body=None, headers={}, exact=False)
        return replace(self, url=url, exact=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """A SQL statement, the values of its parameters, and what makes rows of its result."""

    text: str
    values: tuple[object, ...]
    rows_of: RowsOf
