"""Windows: RSP-QL's `FROM NAMED WINDOW`, C-SPARQL's `FROM STREAM`, CQELS's `STREAM`.

WindowClause ::= 'WINDOW' iri 'ON' iri ( ',' iri )* Extent
StreamClause ::= 'STREAM' iri Extent
Extent       ::= '[' ( Range | Elements | UntilNow ) ']'
Range        ::= 'RANGE' Duration ( ( 'STEP' | 'SLIDE' ) Duration | 'TUMBLING' )?
Elements     ::= 'RANGE'? ( 'ELEMENTS' | 'TRIPLES' ) INTEGER ( ( 'STEP' | 'SLIDE' ) INTEGER )?
UntilNow     ::= 'FROM'? 'NOW' '-' Duration ( 'TO' 'NOW' )? ( 'STEP' | 'SLIDE' ) Duration
"""

from dataclasses import replace

from bestbefore.errors import InputError
from bestbefore.query.algebra import (
    BGP,
    Graph,
    PathPattern,
    Pattern,
    Service,
    Window,
    walk,
    with_children,
    with_expressions,
)
from bestbefore.query.continuous import CountWindow, NamedWindow, TimeWindow
from bestbefore.query.expressions import Exists, Expression, with_operands
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.terms import IRI_FIRST
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.refusals import Refusal
from bestbefore.time import parse_duration_ms

_MOST_ELEMENTS = 10**9
_COUNTED = first("ELEMENTS", "ELEMENTS", "TRIPLES")
_SLIDE = first("STEP", "STEP", "SLIDE")
_UNITS = {"MILLISECOND": "ms", "SECOND": "s", "MINUTE": "m", "HOUR": "h", "DAY": "d"}
_AFTER_UNIT = ("STEP", "SLIDE", "TO", "TUMBLING", "AS")


def read_window(reader: Reader, start: Token) -> None:
    """Read and declare `w ON s […]`; several streams stand with commas between them."""
    name = reader.expect(IRI_FIRST, "the IRI of the window")
    reader.expect("ON", f"ON and a stream after the window {name.text}")
    streams = [_read_stream_name(reader)]
    while reader.accept(","):
        streams.append(_read_stream_name(reader))
    window = NamedWindow(reader.prologue.resolve(name), tuple(streams), _read_extent(reader))
    _declare(reader, window, start)


def read_default_stream(reader: Reader, start: Token, default: str | None) -> str:
    """Read and declare `s […]`: the window of the patterns outside of any clause, by its name.

    Several such streams make one window over all of them, which is named like the first.
    """
    stream = _read_stream_name(reader)
    extent = _read_extent(reader)
    if default is None:
        _declare(reader, NamedWindow(stream, (stream,), extent), start)
        return stream
    window = reader.windows[default]
    if extent != window.extent:
        raise Refusal.DIFFERENT_EXTENTS.at(start.place, "FROM STREAM with a different extent")
    streams = tuple(dict.fromkeys((*window.streams, stream)))
    reader.windows[default] = widened = replace(window, streams=streams)
    reader.places.note(widened, start.place)
    return default


def read_inner_stream(reader: Reader) -> str:
    """Read and declare `s […]` inside a group; the window is named like the stream."""
    token = reader.token
    stream = _read_stream_name(reader)
    window = NamedWindow(stream, (stream,), _read_extent(reader))
    if reader.windows.setdefault(stream, window) != window:
        construct = f"the stream <{stream}> with two different windows"
        raise Refusal.DIFFERENT_EXTENTS.at(token.place, construct)
    return stream


def _read_stream_name(reader: Reader) -> str:
    return reader.prologue.resolve(reader.expect(IRI_FIRST, "the IRI of the stream"))


def _declare(reader: Reader, window: NamedWindow, start: Token) -> None:
    if reader.windows.setdefault(window.name, window) is not window:
        raise start.error(f"the window <{window.name}> is declared twice")
    reader.places.note(window, start.place)


def _read_extent(reader: Reader) -> TimeWindow | CountWindow:
    reader.expect("[", "[RANGE … STEP …] after the stream")
    extent = _read_inside(reader)
    reader.expect("]", "STEP or ']' after the duration")
    return extent


def _read_inside(reader: Reader) -> TimeWindow | CountWindow:
    if reader.at("NOW") or reader.at("FROM"):
        return _read_until_now(reader)
    ranged = reader.accept("RANGE")
    if reader.at(_COUNTED):
        return _read_elements(reader)
    if not ranged:
        raise reader.missing("RANGE and a duration such as PT10M, or ELEMENTS and a number")
    width_ms = read_duration(reader, "RANGE")
    return TimeWindow(width_ms, _read_slide(reader) or width_ms)


def _read_until_now(reader: Reader) -> TimeWindow:
    """`[NOW - 10m TO NOW SLIDE 1m]`: what other engines make of one without a slide differs."""
    reader.accept("FROM")
    reader.expect("NOW", "NOW")
    reader.expect("-", "- and a duration after NOW")
    width_ms = read_duration(reader, "NOW -")
    if reader.accept("TO"):
        reader.expect("NOW", "NOW after TO")
    slide_ms = _read_slide(reader)
    if slide_ms is None:
        raise reader.missing("SLIDE and a duration after the duration")
    return TimeWindow(width_ms, slide_ms)


def _read_slide(reader: Reader) -> int | None:
    """The slide of a window, None if it is tumbling."""
    if keyword := reader.accept(_SLIDE):
        return read_duration(reader, keyword.terminal)
    reader.accept("TUMBLING")
    return None


def _read_elements(reader: Reader) -> CountWindow:
    size = _read_number(reader, reader.take())
    if keyword := reader.accept(_SLIDE):
        return CountWindow(size, _read_number(reader, keyword))
    reader.accept("TUMBLING")
    return CountWindow(size, size)


def _read_number(reader: Reader, clause: Token) -> int:
    token = reader.expect(Kind.NUMBER, f"a number after {clause.text}")
    if not token.text.isdecimal() or not 0 < int(token.text[:20]) <= _MOST_ELEMENTS:
        raise token.error(f"{clause.text} takes a whole number above 0, not {token}")
    return int(token.text)


def read_duration(reader: Reader, clause: str) -> int:
    """Read a duration such as `PT10M`, `10m` or `10 MINUTES`, in milliseconds."""
    first_token = last = reader.take()
    text = first_token.text
    while last.touches(reader.token) and reader.token.terminal not in ("]", Kind.END):
        last = reader.take()
        text += last.text
    if first_token is last and last.kind is Kind.NUMBER:
        text += _read_unit(reader)
    return _duration_ms(text, clause, first_token)


def _read_unit(reader: Reader) -> str:
    """The unit of a number that stands apart from it, such as `10 m` or `10 MINUTES`."""
    if reader.token.kind is not Kind.WORD or reader.token.terminal in _AFTER_UNIT:
        return ""
    word = reader.take()
    return _UNITS.get(word.terminal.removesuffix("S"), word.text)


def _duration_ms(text: str, clause: str, token: Token) -> int:
    try:
        duration_ms = parse_duration_ms(text)
    except InputError as problem:
        raise token.error(f"{clause}: {problem}") from None
    if not duration_ms:
        raise token.error(f"{clause} {text[:30]} is too short; write it such as PT10M")
    return duration_ms


def enclose(pattern: Pattern, window: str, reader: Reader) -> Pattern:
    """A pattern in which what matches triples outside of any clause is in a WINDOW clause.

    The clause is put around as much as holds no other clause.
    """

    def below(inner: Pattern) -> Pattern:
        return enclose(inner, window, reader)

    def tested(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return Exists(below(expression.pattern), expression.negated)
        return reader.note(with_operands(expression, tested), expression)

    nodes = list(walk(pattern))
    if isinstance(pattern, Window | Service | Graph) or not any(map(_matches, nodes)):
        return pattern
    if any(isinstance(node, Window | Service | Graph) for node in nodes):
        rebuilt = with_expressions(with_children(pattern, below), tested)
        return reader.note(rebuilt, pattern)
    noted = next(node for node in nodes if reader.places.of(node))
    return reader.note(Window(window, pattern), noted)


def _matches(pattern: Pattern) -> bool:
    return isinstance(pattern, PathPattern) or (isinstance(pattern, BGP) and bool(pattern.patterns))
