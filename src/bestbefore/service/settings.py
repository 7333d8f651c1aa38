"""The settings of a client: where the endpoint is, and how hard it may be asked."""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import inf
from urllib.parse import SplitResult, unquote, urlsplit

from bestbefore.errors import InputError

_MEBIBYTE = 1024 * 1024
_OWN_HEADERS = {
    "accept": "the client reads SPARQL JSON results only",
    "authorization": "set `authorization`, which is kept out of messages",
    "content-length": "the client writes it",
    "content-type": "the client writes it",
    "host": "it follows from the endpoint",
    "user-agent": "set `user_agent`",
}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


def default_user_agent() -> str:
    """The name by which endpoints know this client."""
    try:
        release = version("bestbefore")
    except PackageNotFoundError:
        release = "0"
    return f"bestbefore/{release} (+SPARQL refresh client)"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Where a SPARQL endpoint is and what one client may ask of it.

    `units_per_request` = 1 writes queries without VALUES, for SPARQL 1.0 endpoints. A Retry-After
    beyond `max_retry_after_s` makes the service unavailable until that moment. A reply of exactly
    `max_rows` rows counts as truncated, because endpoints cut there without saying so. `page_rows`
    loads in pages of that size. Loading reads everything at once and has a timeout of its own.

    Secrets (`authorization`, a `user:password@` in the endpoint, header values, the endpoint's
    query string) are sent and appear neither in `repr` nor in messages, which show `address`.
    """

    endpoint: str = field(repr=False)
    units_per_request: int = 50
    connections: int = 4
    timeout_s: float = 10.0
    load_timeout_s: float = 60.0
    attempts: int = 3
    max_retry_after_s: float = 30.0
    page_rows: int | None = None
    max_rows: int | None = 10_000
    max_response_bytes: int = 64 * _MEBIBYTE
    user_agent: str = field(default_factory=default_user_agent)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    authorization: str | None = field(default=None, repr=False)
    address: str = field(init=False, default="")

    def __post_init__(self) -> None:
        parts = _split(self.endpoint)
        if self.authorization is not None and parts.username is not None:
            raise InputError(
                f"{_hidden(self.endpoint)} carries a user and `authorization` is set too;"
                " keep one of them"
            )
        object.__setattr__(self, "address", _address(parts))
        self._check_numbers()
        self._check_headers()

    @property
    def url(self) -> str:
        """The endpoint as it is called: without user, password and fragment."""
        parts = _split(self.endpoint)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()

    @property
    def request_headers(self) -> dict[str, str]:
        """Every header that goes with a query."""
        own = {"Accept": "application/sparql-results+json", "User-Agent": self.user_agent}
        secret = self.authorization or _basic(_split(self.endpoint))
        return {**dict(self.headers), **own, **({"Authorization": secret} if secret else {})}

    def redact(self, foreign: str) -> str:
        """A text that may quote the service, with this client's secrets blotted out."""
        for secret in sorted(filter(None, self._secrets()), key=len, reverse=True):
            foreign = foreign.replace(secret, "***")
        return foreign

    def _secrets(self) -> Iterator[str]:
        parts = _split(self.endpoint)
        yield from (parts.password or "", unquote(parts.password or ""), parts.query)
        # A short value is a switch such as `true`; blotting it out would garble every message.
        yield from (value for _, value in self.headers if len(value) >= 8)
        authorization = self.request_headers.get("Authorization", "")
        yield from (authorization, authorization.partition(" ")[2])

    def _check_numbers(self) -> None:
        least = {"units_per_request": 1, "connections": 1, "attempts": 1, "max_response_bytes": 1}
        for name, low in {**least, "page_rows": 2, "max_rows": 1}.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise InputError(f"{name} = {value} asks for nothing; it must be at least {low}")
        for name in ("timeout_s", "load_timeout_s"):
            if not 0 < getattr(self, name) < inf:
                raise InputError(f"{name} = {getattr(self, name)} is no time to wait for an answer")
        if not 0 <= self.max_retry_after_s < inf:
            raise InputError(f"max_retry_after_s = {self.max_retry_after_s} is not a waiting time")
        if self.page_rows and self.max_rows and self.page_rows > self.max_rows:
            raise InputError(
                f"page_rows = {self.page_rows} is more than max_rows = {self.max_rows}, so every"
                " page would be cut; make the pages smaller"
            )

    def _check_headers(self) -> None:
        for name, value in (*self.headers, ("User-Agent", self.user_agent)):
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise InputError(f"the header {name!r} holds characters that HTTP does not allow")
        if self.authorization is not None and not _HEADER_VALUE.fullmatch(self.authorization):
            raise InputError("`authorization` holds characters that HTTP does not allow")
        for name, _ in self.headers:
            if why := _OWN_HEADERS.get(name.lower()):
                raise InputError(f"the header {name!r} cannot be set: {why}")


def _split(endpoint: str) -> SplitResult:
    """The parts of a URL that can be called; any other is an `InputError`."""
    try:
        parts = urlsplit(endpoint)
        sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[^\s\x00-\x1f\x7f]+", endpoint):
        raise InputError(f"{_hidden(endpoint)!r} is not the URL of an endpoint; write http(s)://…")
    if parts.scheme not in ("http", "https"):
        raise InputError(
            f"{_hidden(endpoint)!r} is neither http nor https; SPARQL is asked by HTTP"
        )
    return parts


def _hidden(endpoint: str) -> str:
    """The endpoint for a message although it may be malformed: no user, no query string."""
    if "@" not in endpoint:
        return endpoint.partition("?")[0]
    scheme = re.match(r"https?://", endpoint, re.IGNORECASE)
    return f"{scheme[0] if scheme else ''}***"


def _address(parts: SplitResult) -> str:
    user = "***@" if "@" in parts.netloc else ""
    query = "?…" if parts.query else ""
    return f"{parts.scheme}://{user}{parts.netloc.rpartition('@')[2]}{parts.path}{query}"


def _basic(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + b64encode(login.encode()).decode()
