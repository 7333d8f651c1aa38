"""SPARQL as a dialect: queries by any of the three ways of its protocol, results in its formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never
from urllib.parse import urlencode

from bestbefore.rdf.terms import Key
from bestbefore.service import request
from bestbefore.service.call import Question
from bestbefore.service.message import Message, OpenReader
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import Wanted, open_reader
from bestbefore.service.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class Sparql:
    """How a SPARQL 1.1 (or, one unit at a time, 1.0) endpoint is asked."""

    settings: ClientSettings
    pattern: ServicePattern

    def refusal(self, key: Key) -> str | None:
        """The reason why a key can never be sent, or `None` if it can."""
        return request.refusal(self.pattern, key)

    def units(self, keys: Sequence[Key]) -> Question:
        """The query for units: with VALUES, or for a single one without."""
        pattern, most = self.pattern, self.settings.max_rows
        if self.settings.units_per_request > 1 and pattern.key:
            query, wanted = request.refresh_query(pattern, keys), Wanted(pattern.variables, most)
            return self._question(query, wanted)
        query, wanted = request.single_query(pattern, keys[0]), Wanted(pattern.others, most)
        return self._question(query, wanted, unit=keys[0])

    def page(self, offset: int) -> Question:
        """The query for all mappings, or for one page of them."""
        limit = self.settings.page_rows
        query = request.load_query(self.pattern, limit=limit, offset=offset)
        wanted = Wanted(self.pattern.variables, self.settings.max_rows, limit)
        return self._question(query, wanted, load=True)

    def _question(
        self, query: str, wanted: Wanted, *, unit: Key | None = None, load: bool = False
    ) -> Question:
        settings = self.settings
        return Question(
            _message(query, settings, partial(open_reader, wanted=wanted)),
            settings.load_timeout_s if load else settings.timeout_s,
            unit=unit,
            comparable=not load,
        )


def _message(query: str, settings: ClientSettings, reader: OpenReader) -> Message:
    """The message that asks a query."""
    url, form = settings.url, urlencode({"query": query})
    match settings.method:
        case "post":
            kind, body = "application/x-www-form-urlencoded", form.encode()
        case "post-direct":
            kind, body = "application/sparql-query", query.encode()
        case "get":
            return Message("GET", f"{url}{'&' if '?' in url else '?'}{form}", reader)
        case _:
            assert_never(settings.method)
    return Message("POST", url, reader, body=body, headers={"Content-Type": kind})
