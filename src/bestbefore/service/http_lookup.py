"""HTTP with JSON as a dialect: a URL per unit or per batch, and pointers into what comes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from bestbefore.errors import InputError
from bestbefore.rdf.terms import Key
from bestbefore.service.call import Question
from bestbefore.service.json_pointer import MISSING, Pointer
from bestbefore.service.lookup import (
    MODIFIED,
    Column,
    KeyColumn,
    LookupRows,
    Plain,
    PlainKey,
    Units,
)
from bestbefore.service.message import Message, OpenReader
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import Rows, Wanted
from bestbefore.service.results.json_document import JSON, JsonDocument
from bestbefore.service.url_template import UrlTemplate, encoded
from bestbefore.service.validators import Validators

KEYS = "keys"
"""The name that stands for all keys of a batch."""

_PLACE = f"{{{KEYS}}}"
# Who says that of a unit says that it does not exist.
_ABSENT = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class JsonBatch:
    """How several units are asked for at once: in a URL, or in the JSON body of a POST.

    In the URL keys are separated by `separator`; in the body a list of them stands where the text
    `{keys}` does. `key` leads from a row of the reply to the key that it is of.
    """

    url: UrlTemplate = field(repr=False)
    key: Pointer
    separator: str = ","
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class JsonLookup:
    """A service that answers with JSON: where units are asked for, and where columns are found.

    The `url` of a single unit names its keys, or none if there is only the one of a `batch`.
    `columns` are pointers into a row: the whole reply, or each item of the list that `rows` leads
    to; `modified` is the one to the time at which the unit has last changed.
    """

    url: UrlTemplate = field(repr=False)
    columns: tuple[Column, ...]
    keys: tuple[KeyColumn, ...] = ()
    rows: Pointer | None = None
    batch: JsonBatch | None = None
    modified: Pointer | None = None

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns, with the time of the last change where there is one."""
        if self.modified is None:
            return self.columns
        return (*self.columns, Column(MODIFIED, self.modified.text))


@dataclass(frozen=True, slots=True)
class Http:
    """How an HTTP service with JSON is asked."""

    lookup: JsonLookup
    pattern: ServicePattern
    timeout_s: float
    max_rows: int | None
    with_secrets: Callable[[str], str] = str
    validators: Validators = field(default_factory=Validators)

    def refusal(self, key: Key) -> str | None:
        """The reason why a key can never be sent, or `None` if it can."""
        try:
            if self.lookup.url.names:
                self._alone(key)
            if self.lookup.batch is not None:
                self._together(self.lookup.batch, [key])
        except InputError as error:
            return f"never sent: {error}"
        return None

    def units(self, keys: Sequence[Key]) -> Question:
        """The request for one unit by its own URL, or for several by that of batches."""
        if self.lookup.batch is not None and not (len(keys) == 1 and self.lookup.url.names):
            return self._together(self.lookup.batch, keys)
        return self._alone(keys[0])

    def page(self, offset: int) -> Question:  # noqa: ARG002 - whatever the offset
        """Nobody knows how to ask for all units: jobs that would are refused."""
        raise NoAnswerError("a lookup by HTTP cannot be asked for all that it has")

    @property
    def _units(self) -> Units:
        return Units(self.pattern, self.lookup.keys)

    def _alone(self, key: Key) -> Question:
        values = zip(self.pattern.key, self._units.plain(key), strict=True)
        url = self.lookup.url.fill({name: encoded(str(value)) for name, value in values})
        reader = self.validators.noting(key, partial(JsonDocument, rows_of=self._rows))
        version = self.validators.of(key)
        headers, unchanged = ({}, None) if version is None else (version.headers, version.rows)
        message = Message("GET", self.with_secrets(url), reader, headers=headers, exact=True)
        return Question(message, self.timeout_s, unit=key, absent=_ABSENT, unchanged=unchanged)

    def _together(self, batch: JsonBatch, keys: Sequence[Key]) -> Question:
        asked = self._units.by_plain(keys)
        rows_of = partial(self._rows, batch=batch, asked=asked)
        reader = partial(JsonDocument, rows_of=rows_of)
        message = _batch_message(batch, [plain for (plain,) in asked], reader)
        return Question(replace(message, url=self.with_secrets(message.url)), self.timeout_s)

    def _rows(
        self,
        document: Any,  # noqa: ANN401 - any JSON
        *,
        batch: JsonBatch | None = None,
        asked: Mapping[PlainKey, Sequence[Key]] | None = None,
    ) -> Rows:
        """The rows of a reply: of the one unit that it is about, or of those of a batch."""
        names: tuple[str, ...] = self.pattern.others
        keys: tuple[KeyColumn, ...] = ()
        places = self.lookup.rows
        if batch is not None:
            names, keys = self.pattern.variables, self._units.columns
            places = places or Pointer("")
        columns = [one for one in self.lookup.all_columns if one.name in self.pattern.others]
        pointers = [Pointer(column.place) for column in columns]
        rows = LookupRows(Wanted(names, self.max_rows), columns, keys, asked)
        for item in _items(document, places):
            key = [batch.key.resolve(item)] if batch is not None else []
            values = [pointer.resolve(item) for pointer in pointers]
            if MISSING not in key and not (values and all(one is MISSING for one in values)):
                rows.add([None if one is MISSING else one for one in values], key)
            elif places is None:
                raise NoAnswerError(f"the reply has nothing at {', '.join(map(str, pointers))}")
            else:
                rows.add_unreadable()
        return rows.finish()


def _items(document: Any, places: Pointer | None) -> Sequence[object]:  # noqa: ANN401 - any JSON
    """The rows of a document: the items of a list in it, or the document itself."""
    if places is None:
        return (document,)
    match places.resolve(document):
        case list() as items:
            return items
        case None:
            return ()
    raise NoAnswerError(f"the reply has no list at {places}")


def _batch_message(batch: JsonBatch, values: Sequence[Plain], reader: OpenReader) -> Message:
    if batch.body is not None:
        body = json.dumps(_with_keys(batch.body, list(values))).encode()
        kind = {"Content-Type": JSON}
        return Message("POST", batch.url.text, reader, body=body, headers=kind, exact=True)
    texts = [str(value) for value in values]
    for text in texts:
        if batch.separator in text:
            raise InputError(
                f"{text!r} holds the separator {batch.separator!r} of batches; choose another, or "
                "send keys in a JSON body"
            )
    between = quote(batch.separator, safe=",;:")
    url = batch.url.fill({KEYS: between.join(map(encoded, texts))})
    return Message("GET", url, reader, exact=True)


def _with_keys(value: Any, keys: list[Plain]) -> Any:  # noqa: ANN401 - any JSON
    """A JSON value with the keys where `{keys}` stands."""
    match value:
        case str() if value == _PLACE:
            return keys
        case dict():
            return {name: _with_keys(one, keys) for name, one in value.items()}
        case list():
            return [_with_keys(one, keys) for one in value]
    return value


def has_place(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether `{keys}` stands somewhere in a JSON value."""
    return bool(_with_keys(value, []) != value)
