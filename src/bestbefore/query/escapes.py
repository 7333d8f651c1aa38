"""Escapes: the values that strings, IRIs and local names write with a backslash."""

import re

from bestbefore.query.text import Token, error_at

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_FORBIDDEN_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")


def string_value(token: Token) -> str:
    """The value of a string token, without its quotes."""
    quotes = 3 if token.text[:3] in ('"""', "'''") else 1
    return _unescape(token, token.text[quotes:-quotes])


def iri_value(token: Token) -> str:
    """The text between the angle brackets of an IRI token."""
    value = _unescape(token, token.text[1:-1])
    if forbidden := _FORBIDDEN_IN_IRI.search(value):
        raise error_at(token, f"the IRI {token} holds {forbidden[0]!r}; write it percent-encoded")
    return value


def local_value(local: str) -> str:
    """The local part of a prefixed name, in which a backslash only protects a character."""
    return re.sub(r"\\(.)", r"\1", local)


def _unescape(token: Token, text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2]
        if code is None and escape[3] in "tbnrf\"'\\":
            return _CHARACTERS.get(escape[3], escape[3])
        if code is None or not _is_character(int(code, 16)):
            raise error_at(
                token, f"{escape[0]!r} in {token} is not an escape; for a backslash write \\\\"
            )
        return chr(int(code, 16))

    return _ESCAPE.sub(character, text)


def _is_character(code: int) -> bool:
    return 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
