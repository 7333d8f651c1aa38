"""SPARQL 1.1 results in JSON, read binding by binding.

The grammar is a generator that stops where the text ends and goes on when more has come; single
values are read by the standard library's scanner.
"""

import codecs
import json
import re
from collections.abc import Callable, Generator, Mapping
from typing import Any

from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.results.rows import RowCollector, Rows

_Steps = Generator[None, None, Any]

_SPACE = re.compile(r"[ \t\n\r]*")
_AFTER_BINDING = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")
_OTHER_SHAPE = "the reply is no SPARQL 1.1 JSON result of a SELECT"
_CUT = "the reply was cut or is no JSON"


class JsonReader:
    """A reader of `application/sparql-results+json`."""

    def __init__(self, rows: RowCollector) -> None:
        self._rows = rows
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        decoder = json.JSONDecoder(object_pairs_hook=_members)
        self._scan = decoder.scan_once  # type: ignore[attr-defined]
        self._text, self._at = "", 0
        self._pieces: list[str] = []
        self._more, self._enough = 0, 1
        self._listed = self._done = False
        self._steps = self._document()

    def feed(self, data: bytes) -> None:
        """Read the next piece of the body."""
        try:
            piece = self._decoder.decode(data)
        except UnicodeDecodeError:
            raise NoAnswerError(_CUT) from None
        self._pieces.append(piece)
        self._more += len(piece)
        if self._more >= self._enough:
            self._go_on()

    def close(self) -> Rows:
        """The rows, once the whole body has been fed."""
        self._go_on()
        if not self._done:
            raise NoAnswerError(_CUT)
        if not self._listed:
            raise NoAnswerError(_OTHER_SHAPE)
        return self._rows.finish()

    def _go_on(self) -> None:
        self._text = self._text[self._at :] + "".join(self._pieces)
        self._at = self._more = 0
        self._pieces.clear()
        next(self._steps, None)
        # A value that is still incomplete is not read again before it may be twice as long.
        self._enough = max(1, len(self._text) - self._at)

    def _document(self) -> _Steps:
        yield from self._object({"head": self._head, "results": self._results})
        self._done = True
        while True:
            self._skip_space()
            if self._at < len(self._text):
                raise NoAnswerError(_OTHER_SHAPE)
            yield

    def _head(self) -> _Steps:
        match (yield from self._value()):
            case {"vars": list(names)} if all(isinstance(name, str) for name in names):
                self._rows.name(names)
            case _:
                raise NoAnswerError(_OTHER_SHAPE)

    def _results(self) -> _Steps:
        yield from self._object({"bindings": self._bindings})

    def _bindings(self) -> _Steps:
        yield from self._mark("[")
        if self._listed:
            raise NoAnswerError(_OTHER_SHAPE)
        self._listed = True
        if (yield from self._peek()) == "]":
            self._at += 1
            return
        while not self._read_bindings():
            yield

    def _read_bindings(self) -> bool:
        """Read the bindings that the text has whole; whether the last one was among them."""
        scan, add, after = self._scan, self._rows.add, _AFTER_BINDING.match
        text = self._text
        # The text may have ended between a comma and the space after it.
        self._skip_space()
        while True:
            try:
                binding, end = scan(text, self._at)
            except (StopIteration, ValueError, RecursionError):
                return False
            if (mark := after(text, end)) is None:
                return False
            if type(binding) is not dict:
                raise NoAnswerError(_OTHER_SHAPE)
            add(binding)
            self._at = mark.end()
            if mark[1] == "]":
                return True

    def _object(self, readers: Mapping[str, Callable[[], _Steps]]) -> _Steps:
        """An object; members that matter have readers, the others are read and forgotten."""
        yield from self._mark("{")
        if (yield from self._peek()) == "}":
            self._at += 1
            return
        mark = ","
        while mark == ",":
            name = yield from self._value()
            if not isinstance(name, str):
                raise NoAnswerError(_OTHER_SHAPE)
            yield from self._mark(":")
            yield from readers.get(name, self._value)()
            mark = yield from self._mark(",}")

    def _mark(self, marks: str) -> _Steps:
        """The next character, which must be one of `marks`."""
        if (found := (yield from self._peek())) not in marks:
            raise NoAnswerError(_OTHER_SHAPE)
        self._at += 1
        return found

    def _peek(self) -> _Steps:
        """The next character that is no white space, left where it is."""
        self._skip_space()
        while self._at >= len(self._text):
            yield
            self._skip_space()
        return self._text[self._at]

    def _value(self) -> _Steps:
        """The next value; a number at the end of the text may still go on, so one must follow."""
        yield from self._peek()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except (StopIteration, ValueError, RecursionError):
                end = len(self._text)
            if end < len(self._text):
                self._at = end
                return value
            yield

    def _skip_space(self) -> None:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; of two by one name nobody knows which is meant."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NoAnswerError(_OTHER_SHAPE)
    return members
