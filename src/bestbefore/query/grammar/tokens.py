"""Tokens of query text: the terminals of SPARQL 1.1, each with the place where it stands.

https://www.w3.org/TR/sparql11-query/#sparqlGrammar, productions [139] to [173]. `()` and `[]` are
two tokens each, and so are a sign and its number: whoever reads them sees whether they touch.
Unicode escapes (`\\u0041`) are read in strings and IRIs only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from bestbefore.errors import QueryError
from bestbefore.query.continuous import Place
from bestbefore.query.refusals import Refusal, error_at
from bestbefore.rdf.iris import SCHEME

_LETTER = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_WORD_CHAR = f"_0-9\u00b7\u0300-\u036f\u203f-\u2040{_LETTER}"
_NAME_CHAR = rf"\-{_WORD_CHAR}"
_LOCAL_ESCAPE = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = (
    rf"(?:[_:0-9{_LETTER}]|{_LOCAL_ESCAPE})"
    rf"(?:(?:[.:{_NAME_CHAR}]|{_LOCAL_ESCAPE})*(?:[:{_NAME_CHAR}]|{_LOCAL_ESCAPE}))?"
)
_UNICODE_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"

VARIABLE_NAME = re.compile(rf"[_0-9{_LETTER}][{_WORD_CHAR}]*")
BLANK_LABEL = re.compile(rf"[_0-9{_LETTER}](?:[.{_NAME_CHAR}]*[{_NAME_CHAR}])?")
WORD = re.compile(rf"[_{_LETTER}][{_WORD_CHAR}]*")
NUMBERS = {
    "double": re.compile(r"[0-9]+\.[0-9]*[eE][+\-]?[0-9]+|\.?[0-9]+[eE][+\-]?[0-9]+"),
    "decimal": re.compile(r"[0-9]*\.[0-9]+"),
    "integer": re.compile(r"[0-9]+"),
}


class Kind(StrEnum):
    """What a token is, in the words of messages; of words and marks the text tells more."""

    IRI = "an IRI"
    STRING = "a string"
    LANGUAGE = "a language tag"
    BLANK = "a blank node"
    NAME = "a prefixed name"
    VARIABLE = "a variable"
    NUMBER = "a number"
    WORD = "a word"
    MARK = "a mark"
    END = "the end of the query"


_PATTERNS = {
    Kind.IRI: rf'<(?:[^<>"{{}}|^`\\\x00-\x20]|{_UNICODE_ESCAPE})*>',
    Kind.STRING: (
        r'"""(?:"{0,2}+(?:[^"\\]|\\.))*+"""|' + r"'''(?:'{0,2}+(?:[^'\\]|\\.))*+'''|"
        r'"(?!"")(?:[^"\\\n\r]|\\.)*+"|' + r"'(?!'')(?:[^'\\\n\r]|\\.)*+'"
    ),
    Kind.LANGUAGE: r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*",
    Kind.BLANK: f"_:{BLANK_LABEL.pattern}",
    Kind.NAME: rf"(?:[{_LETTER}](?:[.{_NAME_CHAR}]*[{_NAME_CHAR}])?)?:(?:{_LOCAL})?",
    Kind.VARIABLE: rf"[?$]{VARIABLE_NAME.pattern}",
    Kind.NUMBER: "|".join(form.pattern for form in NUMBERS.values()),
    Kind.WORD: WORD.pattern,
    Kind.MARK: r"\^\^|&&|\|\||!=|<=|>=|[{}()\[\].,;*/+\-=<>!|^?]",
}
_GAP = re.compile(r"(?:\A\ufeff)?(?:[ \t\r\n]+|#[^\r\n]*)*+")
_LEXEME = re.compile(
    "|".join(f"(?P<{kind.name}>{pattern})" for kind, pattern in _PATTERNS.items()), re.DOTALL
)
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
CLOSED_BY = {"{": "}", "(": ")", "[": "]"}


class Token(NamedTuple):
    """A piece of the text and its place; lines and columns count from 1.

    `terminal` is what a production asks for: a mark, a keyword in upper case, or else the kind. The
    keyword `a` is the only one that SPARQL writes in lower case.
    """

    kind: Kind
    text: str
    offset: int
    line: int
    column: int
    terminal: str

    @property
    def place(self) -> Place:
        """Where the token starts."""
        return Place(self.line, self.column)

    def error(self, message: str) -> QueryError:
        """The error that something is wrong where the token stands."""
        return error_at(self.place, message)

    def touches(self, following: "Token") -> bool:
        """Whether nothing stands between this token and the following one."""
        return self.offset + len(self.text) == following.offset

    def __str__(self) -> str:
        if self.kind is Kind.END:
            return str(self.kind)
        return repr(self.text if len(self.text) <= 30 else self.text[:29] + "…")


def tokenize(text: str) -> list[Token]:
    """The tokens of a query; the last one is its end."""
    if hit := _NOT_TEXT.search(text):
        before = text[: hit.start()]
        place = Place(1 + before.count("\n"), hit.start() - before.rfind("\n"))
        raise _unreadable(hit[0], place)
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    offset = _after_gap(text, 0)
    while offset < len(text):
        line = bisect_right(line_starts, offset)
        column = offset - line_starts[line - 1] + 1
        hit = _LEXEME.match(text, offset)
        if hit is None or hit.lastgroup is None:
            raise _unreadable(text[offset], Place(line, column))
        kind, lexeme = Kind[hit.lastgroup], hit[0]
        yield Token(kind, lexeme, offset, line, column, _terminal(kind, lexeme))
        offset = _after_gap(text, hit.end())
    column = offset - line_starts[-1] + 1
    yield Token(Kind.END, "", offset, len(line_starts), column, Kind.END)


def _after_gap(text: str, offset: int) -> int:
    gap = _GAP.match(text, offset)
    return gap.end() if gap else offset


def _terminal(kind: Kind, lexeme: str) -> str:
    if kind is Kind.WORD:
        return lexeme if lexeme == "a" else lexeme.upper()
    return lexeme if kind is Kind.MARK else kind.value


def _unreadable(character: str, place: Place) -> QueryError:
    if character == "\\":
        return Refusal.ESCAPED_NAME.at(place)
    if character in "\"'":
        return error_at(place, f"the string that starts with {character} is never closed")
    return error_at(
        place, f"the character {character!r} (U+{ord(character):04X}) cannot stand here"
    )


def split_comparison(token: Token, following: Token) -> list[Token]:
    """The tokens of an IRI that stands where an operator must, and of what follows it.

    By the letter of SPARQL `?a<?b&&?c>?d` holds the IRI `<?b&&?c>`. No IRI can follow an operand,
    so one that is not absolute is read as people mean it; what reads as nothing stays an IRI.
    """
    if SCHEME.match(token.text, 1) or "#" in token.text:
        return [token, following]
    try:
        pieces = tokenize(token.text[1:])[:-1]
    except QueryError:
        return [token, following]
    start = token._replace(kind=Kind.MARK, text="<", terminal="<")
    moved = (
        piece._replace(
            offset=token.offset + 1 + piece.offset,
            line=token.line,
            column=token.column + piece.column,
        )
        for piece in pieces
    )
    return _joined([start, *moved, following])


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Tokens of which a `<` or `>` and the `=` that touches it are one."""
    joined: list[Token] = []
    for token in tokens:
        if joined and token.text == "=" and joined[-1].text in "<>" and joined[-1].touches(token):
            mark = f"{joined[-1].text}="
            joined[-1] = joined[-1]._replace(text=mark, terminal=mark)
        else:
            joined.append(token)
    return joined


def bracket_error(tokens: Sequence[Token]) -> QueryError | None:
    """What is wrong with the brackets of a text, if anything is."""
    opened: list[Token] = []
    for token in tokens:
        if token.terminal in CLOSED_BY:
            opened.append(token)
        elif token.terminal in CLOSED_BY.values():
            if not opened:
                return token.error(f"{token} closes nothing; remove it or open a bracket before it")
            opening, wanted = opened[-1], CLOSED_BY[opened.pop().text]
            if token.text != wanted:
                at = f"line {opening.line}, column {opening.column}"
                message = f"{token} stands where {wanted!r} should close {opening} of {at}"
                return token.error(message)
    if opened:
        opening = opened[-1]
        return opening.error(f"{opening} is never closed; add {CLOSED_BY[opening.text]!r}")
    return None
