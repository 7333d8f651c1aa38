"""Declarations of windows: `FROM NAMED WINDOW`, C-SPARQL's `FROM STREAM`, CQELS's `STREAM`."""

from dataclasses import dataclass, field, replace

from bestbefore.query.continuous import NamedWindow
from bestbefore.query.cursor import Cursor
from bestbefore.query.extents import read_extent
from bestbefore.query.prologue import Prologue
from bestbefore.query.text import Kind, Token, error_at


@dataclass(slots=True)
class Declarations:
    """The windows that a query declares, by name, and which of them is the default one."""

    prologue: Prologue
    windows: dict[str, NamedWindow] = field(default_factory=dict)
    default_window: str | None = None

    def read_window(self, cursor: Cursor, start: Token) -> None:
        """Read `w ON s […]`; several streams stand with commas between them."""
        name = cursor.expect(Kind.IRI, Kind.NAME, wanted="the IRI of the window")
        cursor.expect_word("ON", wanted=f"ON and a stream after the window {name.text}")
        streams = [self._read_stream_name(cursor)]
        while cursor.token.is_mark(","):
            cursor.take()
            streams.append(self._read_stream_name(cursor))
        extent = read_extent(cursor)
        self._declare(NamedWindow(self.prologue.resolve(name), tuple(streams), extent), start)

    def read_stream(self, cursor: Cursor, start: Token) -> None:
        """Read `s […]` after FROM STREAM: the window of the patterns outside of any clause.

        Several such streams make one window over all of them, which is named like the first.
        """
        stream = self._read_stream_name(cursor)
        extent = read_extent(cursor)
        if self.default_window is None:
            self._declare(NamedWindow(stream, (stream,), extent), start)
            self.default_window = stream
            return
        window = self.windows[self.default_window]
        if extent != window.extent:
            message = "the patterns of a query are over all its FROM STREAM together"
            advice = "give them the same extent, or write FROM NAMED WINDOW for each"
            raise error_at(start, f"{message}; {advice}")
        streams = tuple(dict.fromkeys((*window.streams, stream)))
        self.windows[window.name] = replace(window, streams=streams)

    def stream_follows(self, cursor: Cursor) -> bool:
        """Whether `STREAM s [` comes next, which CQELS writes inside a pattern."""
        _, name, bracket = (
            *cursor.tokens[cursor.position :],
            cursor.tokens[-1],
            cursor.tokens[-1],
        )[:3]
        return name.kind in (Kind.IRI, Kind.NAME) and bracket.is_mark("[")

    def read_inner_stream(self, cursor: Cursor) -> Token:
        """Read `s […]` after STREAM; the window is named like the stream, whose token it gives."""
        token = cursor.token
        stream = self._read_stream_name(cursor)
        window = NamedWindow(stream, (stream,), read_extent(cursor))
        if self.windows.setdefault(stream, window) != window:
            message = f"the stream <{stream}> has two different windows"
            raise error_at(token, f"{message}; declare each by FROM NAMED WINDOW")
        return token

    def _read_stream_name(self, cursor: Cursor) -> str:
        return self.prologue.resolve(
            cursor.expect(Kind.IRI, Kind.NAME, wanted="the IRI of the stream")
        )

    def _declare(self, window: NamedWindow, start: Token) -> None:
        if self.windows.setdefault(window.name, window) is not window:
            raise error_at(start, f"the window <{window.name}> is declared twice")
