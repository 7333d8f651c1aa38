"""Tokens of query text, each with the place where it stands.

RSP-QL clauses are found among these tokens, so a keyword inside a string, a comment or an IRI is
never taken for one, and every message can name a line and a column of the text as it was written.
Unicode escapes (`\\u0041`) are read in strings and IRIs only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from bestbefore.errors import QueryError, UnsupportedSparql

# Every level costs the parser some forty stack frames; no query that people write comes near.
DEEPEST_NESTING = 100

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
ABSOLUTE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


class Kind(StrEnum):
    """What a token is."""

    IRI = "IRI"
    STRING = "string"
    LANGUAGE = "language tag"
    BLANK = "blank node"
    NAME = "prefixed name"
    VARIABLE = "variable"
    NUMBER = "number"
    WORD = "word"
    MARK = "mark"
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
    Kind.NUMBER: (
        r"[0-9]+\.[0-9]*[eE][+\-]?[0-9]+|\.?[0-9]+[eE][+\-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+"
    ),
    Kind.WORD: WORD.pattern,
    Kind.MARK: r"\^\^|&&|\|\||!=|<=|>=|[{}()\[\].,;*/+\-=<>!|^?]",
}
_GAP = re.compile(r"(?:\A\ufeff)?(?:[ \t\r\n]+|#[^\r\n]*)*+")
_LEXEME = re.compile(
    "|".join(f"(?P<{kind.name}>{pattern})" for kind, pattern in _PATTERNS.items()), re.DOTALL
)
_MARK = re.compile(_PATTERNS[Kind.MARK])
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_OPERANDS = (Kind.VARIABLE, Kind.NUMBER, Kind.STRING, Kind.LANGUAGE)
_CLOSED_BY = {"{": "}", "(": ")", "[": "]"}


class Place(NamedTuple):
    """A line and a column of the text, which count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and its place; lines and columns count from 1."""

    kind: Kind
    text: str
    offset: int
    line: int
    column: int

    @property
    def place(self) -> Place:
        """Where the token starts."""
        return Place(self.line, self.column)

    def is_word(self, *words: str) -> bool:
        """Whether the token is one of these keywords, in any case."""
        return self.kind is Kind.WORD and self.text.upper() in words

    def is_mark(self, *marks: str) -> bool:
        """Whether the token is one of these punctuation marks."""
        return self.kind is Kind.MARK and self.text in marks

    def touches(self, following: "Token") -> bool:
        """Whether nothing stands between this token and the following one."""
        return self.offset + len(self.text) == following.offset

    def __str__(self) -> str:
        if self.kind is Kind.END:
            return str(self.kind)
        return repr(self.text if len(self.text) <= 30 else self.text[:29] + "…")


def error_at(token: Token, message: str) -> QueryError:
    """An error in the query at the place of a token."""
    return QueryError(message, line=token.line, column=token.column)


def unsupported_at(token: Token, construct: str, *, instead: str = "") -> UnsupportedSparql:
    """The refusal of a construct at the place of a token."""
    advice = f"; {instead}" if instead else ""
    message = f"{construct} is not supported in this version{advice}"
    return UnsupportedSparql(message, line=token.line, column=token.column)


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a query, its last one the end; brackets match and are not too deep."""
    if hit := _NOT_TEXT.search(text):
        before = text[: hit.start()]
        line, column = 1 + before.count("\n"), hit.start() - before.rfind("\n")
        raise _unreadable(Token(Kind.END, hit[0], hit.start(), line, column))
    tokens = tuple(_tokens(text))
    _check_brackets(tokens)
    return tokens


def _tokens(text: str) -> Iterator[Token]:
    line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    offset, parentheses, after_operand = _after_gap(text, 0), 0, False
    while offset < len(text):
        kind, lexeme = _lexeme(text, offset, in_comparison=after_operand and parentheses > 0)
        line = bisect_right(line_starts, offset)
        token = Token(kind, lexeme, offset, line, offset - line_starts[line - 1] + 1)
        if kind is Kind.END:
            raise _unreadable(token)
        yield token
        parentheses += token.is_mark("(") - token.is_mark(")")
        after_operand = kind in _OPERANDS or token.is_mark(")")
        offset = _after_gap(text, offset + len(lexeme))
    yield Token(Kind.END, "", offset, len(line_starts), offset - line_starts[-1] + 1)


def _after_gap(text: str, offset: int) -> int:
    gap = _GAP.match(text, offset)
    return gap.end() if gap else offset


def _lexeme(text: str, offset: int, *, in_comparison: bool) -> tuple[Kind, str]:
    """The kind and text of the token at `offset`; the kind is END when there is none.

    By the letter of SPARQL `?a<?b&&?c>?d` holds the IRI `<?b&&?c>`. Inside parentheses, after an
    operand, no IRI can follow, so what is not an absolute IRI is read as people mean it.
    """
    hit = _LEXEME.match(text, offset)
    if hit is None or hit.lastgroup is None:
        return Kind.END, text[offset]
    kind, lexeme = Kind[hit.lastgroup], hit[0]
    if kind is Kind.IRI and in_comparison and not ABSOLUTE_IRI.match(lexeme, 1):
        return Kind.MARK, "<=" if lexeme.startswith("<=") else "<"
    return kind, lexeme


def _unreadable(token: Token) -> QueryError:
    character = token.text
    if character in "\"'":
        return error_at(token, f"the string that starts with {character} is never closed")
    return error_at(
        token, f"the character {character!r} (U+{ord(character):04X}) cannot stand here"
    )


def _check_brackets(tokens: tuple[Token, ...]) -> None:
    open_brackets: list[Token] = []
    for token in tokens:
        if token.is_mark(*_CLOSED_BY):
            open_brackets.append(token)
            if len(open_brackets) > DEEPEST_NESTING:
                raise error_at(token, f"brackets nest more than {DEEPEST_NESTING} deep")
        elif token.is_mark(*_CLOSED_BY.values()):
            _check_closing(token, open_brackets.pop() if open_brackets else None)
    if open_brackets:
        opening = open_brackets[-1]
        raise error_at(opening, f"{opening} is never closed; add {_CLOSED_BY[opening.text]!r}")


def _check_closing(token: Token, opening: Token | None) -> None:
    if opening is None:
        raise error_at(token, f"{token} closes nothing; remove it or open a bracket before it")
    wanted = _CLOSED_BY[opening.text]
    if token.text != wanted:
        place = f"line {opening.line}, column {opening.column}"
        raise error_at(token, f"{token} stands where {wanted!r} should close {opening} of {place}")
