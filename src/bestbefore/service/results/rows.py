"""The rows of a reply as they are collected, and how many of them are believed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bestbefore.errors import ServiceError
from bestbefore.rdf.foreign_terms import NotATermError
from bestbefore.rdf.terms import Row
from bestbefore.service.no_answer import NoAnswerError, excerpt

EncodeTerm = Callable[[Any], str]
"""A function from a term as a result format has it to its encoding."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reply must hold: its variables, and how many rows are too many to be all of them.

    `limit` is the LIMIT of the query: that many rows are a full page and no sign of a cut.
    """

    variables: tuple[str, ...]
    max_rows: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a complete reply; `invalid` ones have None for what is no RDF term."""

    rows: list[Row]
    invalid: list[Row]

    def __len__(self) -> int:
        return len(self.rows) + len(self.invalid)


class Reader(Protocol):
    """One reply being read; whatever shows that it is not what was asked for raises."""

    def feed(self, data: bytes) -> None:
        """Read the next piece of the body."""
        ...

    def close(self) -> Rows:
        """The rows, once the whole body has been fed."""
        ...


class RowCollector:
    """The rows of one reply, encoded and counted one by one.

    A reply with as many rows as the service ever sends counts as truncated, because services cut
    there without saying so; one with more cannot be trusted about the limit either.
    """

    def __init__(self, wanted: Wanted, encode: EncodeTerm, *, ceiling: int | None = None) -> None:
        self._wanted, self._encode = wanted, encode
        self.variables = wanted.variables
        ceilings = [most for most in (wanted.max_rows, ceiling) if most is not None]
        self._ceiling = min(ceilings, default=None)
        self._first_refused = self._ceiling if wanted.limit is None else wanted.limit + 1
        self._named = False
        self._count = 0
        self._rows: list[Row] = []
        self._invalid: list[Row] = []

    def name(self, variables: Iterable[object]) -> None:
        """Take note of the variables that the reply says it has."""
        known = set(variables)
        if missing := [name for name in self._wanted.variables if name not in known]:
            raise NoAnswerError(f"the reply lacks the variables {', '.join(missing)}")
        self._named = True

    def add(self, terms: Mapping[str, Any]) -> None:
        """Take one row: the terms of the variables that it binds."""
        self._count += 1
        if self._count == self._first_refused:
            self._refuse()
        try:
            self._rows.append(self._row(terms))
        except NotATermError:
            self._invalid.append(tuple(self._cell(terms, name) for name in self._wanted.variables))
        except ServiceError as error:
            raise NoAnswerError(
                excerpt(f"a row of the reply is malformed: {error}".encode())
            ) from None

    def finish(self) -> Rows:
        """All rows, if they can be all."""
        if not self._named:
            raise NoAnswerError("the reply does not name its variables, so it is no SELECT result")
        full_page = self._count == self._wanted.limit
        if self._ceiling is not None and self._count >= self._ceiling and not full_page:
            self._refuse()
        return Rows(self._rows, self._invalid)

    def _row(self, terms: Mapping[str, Any]) -> Row:
        encode = self._encode
        return tuple(
            [encode(terms[name]) if name in terms else None for name in self._wanted.variables]
        )

    def _cell(self, terms: Mapping[str, Any], name: str) -> str | None:
        try:
            return self._encode(terms[name]) if name in terms else None
        except (NotATermError, ServiceError):
            return None

    def _refuse(self) -> None:
        limit = self._wanted.limit
        if limit is not None and self._count > limit:
            raise NoAnswerError(f"the service ignores LIMIT: asked for {limit} rows, got more")
        raise NoAnswerError(
            f"the reply has {self._count} rows or more, the most this service sends, so it counts"
            " as truncated; ask for less at once (page_rows, units_per_request) or raise max_rows"
        )
