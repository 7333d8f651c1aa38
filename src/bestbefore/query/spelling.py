"""The spelling of a query for rdflib: every term is the number of its token.

WINDOW and SERVICE are spelled GRAPH, because rdflib knows no WINDOW and parses the whole text again
for each SERVICE; the token before the name tells the three apart. The text between tokens is lost,
so a place in the spelling is a token, and the token knows its place in the text of the user.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bestbefore.query.text import Kind, Token

IRI_PREFIX = "t:"
BLANK_PREFIX = "t"
_SPELLINGS = {
    Kind.IRI: f"<{IRI_PREFIX}{{}}>",
    Kind.NAME: f"<{IRI_PREFIX}{{}}>",
    Kind.STRING: '"{}"',
    Kind.NUMBER: "{}",
    Kind.VARIABLE: "?{}",
    Kind.BLANK: f"_:{BLANK_PREFIX}{{}}",
}


@dataclass(frozen=True, slots=True)
class Spelling:
    """Tokens as rdflib reads them, and where in the spelling each one starts."""

    tokens: tuple[Token, ...]
    text: str
    offsets: tuple[int, ...]

    def token_at(self, offset: int) -> int:
        """The number of the token that covers a place in the spelling."""
        return bisect_right(self.offsets, offset) - 1


def spell(tokens: tuple[Token, ...]) -> Spelling:
    """Spell the tokens of a query; the last one is its end."""
    pieces, offsets, length = [_spell_token(tokens, 0)], [0], 0
    for number, (before, token) in enumerate(pairwise(tokens), start=1):
        gap = "" if _belong_together(before, token) else " "
        length += len(pieces[-1]) + len(gap)
        offsets.append(length)
        pieces[-1] += gap
        pieces.append(_spell_token(tokens, number))
    return Spelling(tokens, "".join(pieces), tuple(offsets))


def _belong_together(before: Token, token: Token) -> bool:
    """Whether rdflib must see two tokens without a space: literals, signs and path modifiers."""
    if token.kind is Kind.LANGUAGE or token.is_mark("^^", "*", "?") or before.is_mark("^^"):
        return True
    return before.touches(token) and (token.is_mark("+", "-") or before.is_mark("+", "-"))


def _spell_token(tokens: Sequence[Token], number: int) -> str:
    token = tokens[number]
    if token.kind is Kind.WORD:
        return _spell_word(tokens, number)
    spelling = _SPELLINGS.get(token.kind)
    return spelling.format(number) if spelling else token.text


def _spell_word(tokens: Sequence[Token], number: int) -> str:
    token = tokens[number]
    if token.text == "a":
        return _SPELLINGS[Kind.IRI].format(number)
    if token.is_word("TRUE", "FALSE"):
        return _SPELLINGS[Kind.STRING].format(number)
    if token.is_word("WINDOW", "SERVICE"):
        return "GRAPH"
    if token.is_word("SILENT") and tokens[number - 1].is_word("SERVICE"):
        return ""
    return token.text
