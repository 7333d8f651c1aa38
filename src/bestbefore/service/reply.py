"""An HTTP reply of a SPARQL endpoint, and whether its rows can be believed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import responses
from typing import Any
from urllib.parse import urlsplit

from bestbefore.errors import ServiceError
from bestbefore.rdf.json_results import term_from_json
from bestbefore.rdf.terms import Row, encode

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_QUERY_REFUSED = frozenset({400, 413})
_EXCERPT = 200


class NoAnswerError(ServiceError):
    """A reply, or the lack of one, that gives no rows.

    `passing` trouble may be over at the next attempt; `refused` means that the service answered and
    did not want this very query; `unsent` that no request was left to ask it with.
    """

    def __init__(
        self, reason: str, *, passing: bool = False, refused: bool = False, unsent: bool = False
    ) -> None:
        self.passing, self.refused, self.unsent = passing, refused, unsent
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers (names in lower case) and body of one HTTP reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def check_status(reply: Reply) -> None:
    """Raise `NoAnswerError` for every reply but 200."""
    if reply.status == 200:
        return
    status = f"HTTP {reply.status} {responses.get(reply.status, '')}".strip()
    if 300 <= reply.status < 400:
        host = _host(reply.headers.get("location", ""))
        raise NoAnswerError(
            f"{status}: the service redirects to {host}, which is not followed; if you trust it,"
            " make it the endpoint"
        )
    excerpt = _excerpt(reply.body)
    raise NoAnswerError(
        f"{status}: {excerpt}" if excerpt else status,
        passing=reply.status in _PASSING,
        refused=reply.status in _QUERY_REFUSED,
    )


def read_rows(
    reply: Reply, variables: Sequence[str], *, max_rows: int | None, limit: int | None = None
) -> list[Row]:
    """The rows of a reply, encoded; an incomplete or malformed reply raises `NoAnswerError`.

    `limit` is the LIMIT of the query: that many rows are a full page and no sign of a cut.
    """
    bindings = _bindings(reply, variables)
    _check_complete(reply, len(bindings), max_rows=max_rows, limit=limit)
    try:
        return [tuple(_encode(binding, name) for name in variables) for binding in bindings]
    except ServiceError as error:
        raise NoAnswerError(
            _excerpt(f"a row of the reply is malformed: {error}".encode())
        ) from None


def _bindings(reply: Reply, variables: Sequence[str]) -> list[dict[str, Any]]:
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        kind = _excerpt(reply.headers.get("content-type", "no content type").encode())
        raise NoAnswerError(f"the reply was cut or is no JSON ({kind})") from None
    match document:
        case {"head": {"vars": list(names)}, "results": {"bindings": list(bindings)}}:
            if missing := [name for name in variables if name not in names]:
                raise NoAnswerError(f"the reply lacks the variables {', '.join(missing)}")
            if all(isinstance(binding, dict) for binding in bindings):
                return bindings
    raise NoAnswerError("the reply is JSON, but no SPARQL 1.1 SELECT result")


def _check_complete(reply: Reply, rows: int, *, max_rows: int | None, limit: int | None) -> None:
    if limit is not None and rows > limit:
        raise NoAnswerError(f"the service ignores LIMIT: asked for {limit} rows, got {rows}")
    if reply.headers.get("x-sql-state", "").strip().upper() == "S1TAT":
        raise NoAnswerError(
            "the reply is truncated: the service ran out of time (X-SQL-State: S1TAT)"
        )
    announced = reply.headers.get("x-sparql-maxrows", "").strip()
    # Digits only, and few enough of them: the header is the service's text.
    ceiling = int(announced) if announced.isdecimal() and len(announced) < 16 else None
    if max_rows == rows or (ceiling and rows >= ceiling):
        if limit is not None and rows == limit:
            return
        raise NoAnswerError(
            f"the reply has {rows} rows, the most this service sends, so it counts as truncated;"
            " ask for less at once (page_rows, units_per_request) or raise max_rows"
        )


def _encode(binding: Mapping[str, Any], name: str) -> str | None:
    if name not in binding:
        return None
    term = binding[name]
    encoded = encode(term_from_json(term))
    marks = (term.get("xml:lang", ""), term.get("datatype", ""))
    if any(not isinstance(mark, str) or '"' in mark for mark in marks) or not _is_text(encoded):
        raise ServiceError(f"not an RDF term: {term!r}")
    return encoded


def _is_text(value: str) -> bool:
    """Whether a string is whole characters; JSON can smuggle in halves, which no file takes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _host(location: str) -> str:
    try:
        host = urlsplit(location).hostname
    except ValueError:
        host = None
    return repr(host[:_EXCERPT]) if host else "another place on the same host"


def _excerpt(body: bytes) -> str:
    """The beginning of a foreign text on one line, without anything a terminal would obey."""
    text = body[: 4 * _EXCERPT].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
