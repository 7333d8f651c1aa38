"""The status of an HTTP reply of a SPARQL endpoint, and what it means for the query."""

from collections.abc import Mapping
from dataclasses import dataclass
from http.client import responses

from bestbefore.service.no_answer import NoAnswerError, excerpt

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_QUERY_REFUSED = frozenset({400, 413, 414})


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers (names in lower case) and the beginning of a body that holds no results."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def overloaded(self) -> bool:
        """Whether the status says that the service itself is in trouble."""
        return self.status in (408, 429) or self.status >= 500

    @property
    def title(self) -> str:
        """The status with its name, such as `HTTP 404 Not Found`."""
        return f"HTTP {self.status} {responses.get(self.status, '')}".strip()


def failure(reply: Reply) -> NoAnswerError:
    """What a reply with any status but 200 means."""
    said = excerpt(reply.body)
    return NoAnswerError(
        f"{reply.title}: {said}" if said else reply.title,
        passing=reply.status in _PASSING,
        refused=reply.status in _QUERY_REFUSED,
    )
