"""The HTTP request that carries a query, by any of the three ways of the SPARQL protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, assert_never
from urllib.parse import urlencode

from bestbefore.service.redirects import next_url
from bestbefore.service.reply import Reply
from bestbefore.service.settings import ClientSettings


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


def message_of(query: str, settings: ClientSettings) -> Message:
    """The message that asks a query."""
    url, form = settings.url, urlencode({"query": query})
    match settings.method:
        case "post":
            kind = "application/x-www-form-urlencoded"
            return Message("POST", url, form.encode(), {"Content-Type": kind})
        case "post-direct":
            kind = "application/sparql-query"
            return Message("POST", url, query.encode(), {"Content-Type": kind})
        case "get":
            return Message("GET", f"{url}{'&' if '?' in url else '?'}{form}")
    assert_never(settings.method)
