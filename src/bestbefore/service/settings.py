"""The settings of a client: where the endpoint is, and how hard it may be asked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from math import inf
from typing import Literal, Protocol
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from bestbefore.errors import InputError
from bestbefore.service import decoding, results
from bestbefore.service.allow_list import check_host, check_literal_address, read_networks
from bestbefore.service.auth import basic, secrets_in
from bestbefore.service.http_lookup import JsonLookup
from bestbefore.service.results.json_document import JSON

_MEBIBYTE = 1024 * 1024
Method = Literal["post", "get", "post-direct"]
METHODS: tuple[Method, ...] = ("post", "get", "post-direct")
_OWN_HEADERS = {
    "accept": "it follows from the formats that the client reads",
    "accept-encoding": "it follows from what the client unpacks",
    "authorization": "set `authorization`, or token_env, token_file or user in a job file",
    "content-length": "the client writes it",
    "content-type": "the client writes it",
    "host": "it follows from the endpoint",
    "user-agent": "set `user_agent`",
}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


class Asking(Protocol):
    """What the settings of any client say of how hard a service may be asked."""

    @property
    def max_rows(self) -> int | None:
        """So many rows are too many to be all."""
        ...

    @property
    def page_rows(self) -> int | None:
        """The size of the pages in which all is loaded."""
        ...

    @property
    def max_retry_after_s(self) -> float:
        """The longest wait that is sat out."""
        ...

    @property
    def circuit_wait_s(self) -> float:
        """How long nothing is sent to a service that is down."""
        ...

    @property
    def circuit_longest_wait_s(self) -> float:
        """The most that this wait grows to."""
        ...

    @property
    def requests_per_second(self) -> float | None:
        """The pace of requests."""
        ...


def default_user_agent() -> str:
    """The name by which endpoints know this client."""
    try:
        release = version("bestbefore")
    except PackageNotFoundError:
        release = "0"
    return f"bestbefore/{release} (+SPARQL refresh client)"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Where an endpoint is and what one client may ask of it: in SPARQL, or by a `lookup`.

    `units_per_request` = 1 writes queries without VALUES, for SPARQL 1.0 endpoints. `connections`
    is the most that is asked at a time; a service that slows down gets less. A Retry-After
    beyond `max_retry_after_s` makes the service unavailable until that moment. A reply of
    `max_rows` rows or more counts as truncated, because endpoints cut there without saying so.
    `page_rows` loads in pages of that size. Loading reads everything at once and has a timeout of
    its own. After `circuit_failures` failed requests in a row nothing is sent for
    `circuit_wait_s`, then one request, and twice as long if that fails too. `allow_hosts` and
    `allow_addresses` restrict where the endpoint may be; empty, they allow what was configured.

    Secrets (`authorization`, `secret_headers`, `secret_query`, a `user:password@` in the endpoint,
    header values, the endpoint's query string) are sent and appear neither in `repr` nor in
    messages, which show `address`.
    """

    endpoint: str = field(repr=False)
    method: Method = "post"
    units_per_request: int = 50
    connections: int = 4
    timeout_s: float = 10.0
    load_timeout_s: float = 60.0
    attempts: int = 3
    max_retry_after_s: float = 30.0
    page_rows: int | None = None
    max_rows: int | None = 10_000
    max_response_bytes: int = 64 * _MEBIBYTE
    requests_per_second: float | None = None
    circuit_failures: int = 5
    circuit_wait_s: float = 10.0
    circuit_longest_wait_s: float = 300.0
    allow_hosts: tuple[str, ...] = ()
    allow_addresses: tuple[str, ...] = ()
    user_agent: str = field(default_factory=default_user_agent)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secret_query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    authorization: str | None = field(default=None, repr=False)
    lookup: JsonLookup | None = None
    address: str = field(init=False, default="")

    def __post_init__(self) -> None:
        parts = _split(self.endpoint)
        if self.authorization is not None and parts.username is not None:
            raise InputError(
                f"{_hidden(self.endpoint)} carries a user and `authorization` is set too;"
                " keep one of them"
            )
        _login(parts)
        object.__setattr__(self, "address", _address(parts))
        if self.method not in METHODS:
            raise InputError(f"method = {self.method!r}: it must be one of {', '.join(METHODS)}")
        check_host(parts.hostname or "", self.allow_hosts)
        check_literal_address(parts.hostname or "", read_networks(self.allow_addresses))
        check_numbers(self)
        check_waits(self)
        self._check_headers()

    @property
    def meaning(self) -> str | None:
        """What tells rows of a lookup from those of others at its address; None for SPARQL."""
        lookup = self.lookup
        if lookup is None:
            return None
        return meaning_of(self.endpoint, lookup.keys, lookup.columns, lookup.rows)

    @property
    def url(self) -> str:
        """The endpoint as it is called: without user, password and fragment."""
        parts = _split(self.endpoint)
        plain = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
        return self.with_secrets(plain.geturl())

    def with_secrets(self, url: str) -> str:
        """A URL with the parameters that are secret."""
        if not self.secret_query:
            return url
        return f"{url}{'&' if '?' in url else '?'}{urlencode(self.secret_query, quote_via=quote)}"

    @property
    def request_headers(self) -> dict[str, str]:
        """Every header that goes with a query."""
        own = {
            "Accept": results.ACCEPTED if self.lookup is None else JSON,
            "Accept-Encoding": decoding.ACCEPTED,
            "User-Agent": self.user_agent,
        }
        secret = self.authorization or _login(_split(self.endpoint))
        given = dict((*self.headers, *self.secret_headers))
        return {**given, **own, **({"Authorization": secret} if secret else {})}

    def redact(self, foreign: str) -> str:
        """A text that may quote the service, with this client's secrets blotted out."""
        secrets = {form for secret in self._secrets() for form in (secret, quote(secret, safe=""))}
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            foreign = foreign.replace(secret, "***")
        return foreign

    def _secrets(self) -> Iterator[str]:
        parts = _split(self.endpoint)
        yield from (parts.password or "", unquote(parts.password or ""), parts.query)
        yield from (value for _, value in (*self.secret_headers, *self.secret_query))
        yield from (value for _, value in parse_qsl(parts.query) if len(value) >= 8)
        # A short value is a switch such as `true`; blotting it out would garble every message.
        yield from (value for _, value in self.headers if len(value) >= 8)
        yield from secrets_in(self.request_headers.get("Authorization", ""))

    def _check_headers(self) -> None:
        given = (*self.headers, *self.secret_headers)
        for name, value in (*given, ("User-Agent", self.user_agent)):
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise InputError(f"the header {name!r} holds characters that HTTP does not allow")
        if self.authorization is not None and not _HEADER_VALUE.fullmatch(self.authorization):
            raise InputError("`authorization` holds characters that HTTP does not allow")
        names = [name.lower() for name, _ in given]
        for name in names:
            if why := _OWN_HEADERS.get(name):
                raise InputError(f"the header {name!r} cannot be set: {why}")
            if names.count(name) > 1:
                raise InputError(f"the header {name!r} is set twice; keep one of them")


def check_numbers(settings: Asking) -> None:
    """Refuse numbers with which nothing could be asked."""
    counts = ("units_per_request", "connections", "attempts", "circuit_failures")
    least = dict.fromkeys((*counts, "max_response_bytes", "max_rows"), 1)
    for name, low in {**least, "page_rows": 2}.items():
        value = getattr(settings, name)
        if value is not None and value < low:
            raise InputError(f"{name} = {value} asks for nothing; it must be at least {low}")
    if settings.page_rows and settings.max_rows and settings.page_rows > settings.max_rows:
        raise InputError(
            f"page_rows = {settings.page_rows} is more than max_rows = {settings.max_rows}, so"
            " every page would be cut; make the pages smaller"
        )


def check_waits(settings: Asking) -> None:
    """Refuse what is no time to wait, and no pace."""
    for name in ("timeout_s", "load_timeout_s"):
        if not 0 < getattr(settings, name) < inf:
            raise InputError(f"{name} = {getattr(settings, name)} is no time to wait for an answer")
    if not 0 <= settings.max_retry_after_s < inf:
        raise InputError(f"max_retry_after_s = {settings.max_retry_after_s} is not a waiting time")
    if not 0 < settings.circuit_wait_s <= settings.circuit_longest_wait_s < inf:
        raise InputError(
            f"circuit_wait_s = {settings.circuit_wait_s} and circuit_longest_wait_s ="
            f" {settings.circuit_longest_wait_s} must be waiting times, the first the shorter one"
        )
    if settings.requests_per_second is not None and not 0 < settings.requests_per_second < inf:
        raise InputError(
            f"requests_per_second = {settings.requests_per_second} is no pace; leave it out for"
            " no limit"
        )


def meaning_of(*parts: object) -> str:
    """A short text that differs where some settings do, and tells nothing of them."""
    return sha256(repr(parts).encode()).hexdigest()[:12]


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
        raise InputError(f"{_hidden(endpoint)!r} is neither http nor https; it is asked by HTTP")
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


def _login(parts: SplitResult) -> str | None:
    """The Authorization header for the user in a URL; one that cannot be written is refused."""
    if parts.username is None:
        return None
    return basic(unquote(parts.username), unquote(parts.password or ""))
