"""The HTTP request that carries a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from bestbefore.service.redirects import next_url
from bestbefore.service.reply import Reply


@dataclass(frozen=True, slots=True)
class Message:
    """Method, address and body of an HTTP request."""

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def redirected(self, reply: Reply) -> Self:
        """The same message as a redirect has it; See Other (303) leads to a finished result."""
        url = next_url(reply, self.url)
        if reply.status == 303:
            return replace(self, method="GET", url=url, body=None, headers={})
        return replace(self, url=url)
