"""Extents of windows: what stands in brackets after a stream, in the spellings of several engines.

`[RANGE 10m STEP 1m]` (RSP-QL, C-SPARQL), `[RANGE 10m SLIDE 1m]` (CQELS), `[RANGE 10m TUMBLING]`,
`[NOW - 10m TO NOW SLIDE 1m]` (SPARQLstream), `[ELEMENTS 10 STEP 5]`, `[RANGE TRIPLES 10]`.
"""

from bestbefore.errors import InputError
from bestbefore.query.continuous import CountWindow, TimeWindow
from bestbefore.query.cursor import Cursor
from bestbefore.query.text import Kind, Token, error_at
from bestbefore.time import parse_duration_ms

# Longer than history, and still exact when it is counted in floating point.
_LONGEST_MS = 10**15
_MOST_ELEMENTS = 10**9
_COUNTED = ("ELEMENTS", "TRIPLES")
_SLIDES = ("STEP", "SLIDE")
_UNITS = {
    "MILLISECOND": "ms",
    "SECOND": "s",
    "MINUTE": "m",
    "HOUR": "h",
    "DAY": "d",
}


def read_extent(cursor: Cursor) -> TimeWindow | CountWindow:
    """Read the brackets after a stream."""
    if not cursor.token.is_mark("["):
        raise cursor.error("[RANGE … STEP …] after the stream")
    cursor.take()
    extent = _read_inside(cursor)
    if not cursor.token.is_mark("]"):
        raise cursor.error("STEP or ']' after the duration")
    cursor.take()
    return extent


def _read_inside(cursor: Cursor) -> TimeWindow | CountWindow:
    if cursor.token.is_word("NOW", "FROM"):
        return _read_until_now(cursor)
    ranged = cursor.take_words("RANGE")
    if cursor.token.is_word(*_COUNTED):
        return _read_count(cursor)
    if not ranged:
        raise cursor.error("RANGE and a duration such as PT10M, or ELEMENTS and a number")
    width_ms = _read_duration(cursor, "RANGE")
    return TimeWindow(width_ms, _read_slide(cursor) or width_ms)


def _read_until_now(cursor: Cursor) -> TimeWindow:
    """`[NOW - 10m TO NOW SLIDE 1m]`: what other engines make of one without a slide differs."""
    cursor.take_words("FROM")
    cursor.expect_word("NOW", wanted="NOW")
    if not cursor.token.is_mark("-"):
        raise cursor.error("- and a duration after NOW")
    cursor.take()
    width_ms = _read_duration(cursor, "NOW -")
    if cursor.take_words("TO"):
        cursor.expect_word("NOW", wanted="NOW after TO")
    slide_ms = _read_slide(cursor)
    if slide_ms is None:
        raise cursor.error("SLIDE and a duration after the duration")
    return TimeWindow(width_ms, slide_ms)


def _read_slide(cursor: Cursor) -> int | None:
    """The slide of a window, None if it is tumbling."""
    clause = cursor.token
    if clause.is_word(*_SLIDES):
        return _read_duration(cursor, cursor.take().text.upper())
    cursor.take_words("TUMBLING")
    return None


def _read_count(cursor: Cursor) -> CountWindow:
    size = _read_number(cursor, cursor.take())
    if cursor.token.is_word(*_SLIDES):
        return CountWindow(size, _read_number(cursor, cursor.take()))
    cursor.take_words("TUMBLING")
    return CountWindow(size, size)


def _read_number(cursor: Cursor, clause: Token) -> int:
    token = cursor.expect(Kind.NUMBER, wanted=f"a number after {clause.text}")
    if not token.text.isdecimal() or not 0 < int(token.text[:20]) <= _MOST_ELEMENTS:
        raise error_at(token, f"{clause.text} takes a whole number above 0, not {token}")
    return int(token.text)


def _read_duration(cursor: Cursor, clause: str) -> int:
    first = last = cursor.take()
    text = first.text
    while last.touches(cursor.token) and not cursor.token.is_mark("]"):
        last = cursor.take()
        text += last.text
    if first is last and first.kind is Kind.NUMBER:
        text += _read_unit(cursor)
    return _duration_ms(text, clause, first)


def _read_unit(cursor: Cursor) -> str:
    """The unit of a number that stands apart from it, such as `10 m` or `10 MINUTES`."""
    if cursor.token.kind is not Kind.WORD or cursor.token.is_word(*_SLIDES, "TO", "TUMBLING"):
        return ""
    word = cursor.take().text
    return _UNITS.get(word.upper().removesuffix("S"), word)


def _duration_ms(text: str, clause: str, place: Token) -> int:
    try:
        duration_ms = parse_duration_ms(text)
    except InputError as problem:
        raise error_at(place, f"{clause}: {problem}") from None
    except OverflowError:
        duration_ms = _LONGEST_MS + 1
    if not 0 < duration_ms <= _LONGEST_MS:
        extreme = "short" if duration_ms == 0 else "long"
        raise error_at(place, f"{clause} {text[:30]} is too {extreme}; write it such as PT10M")
    return duration_ms
