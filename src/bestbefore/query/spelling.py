"""The spelling of a query for rdflib: every term is the number of its token.

WINDOW and SERVICE are spelled GRAPH, because rdflib knows no WINDOW and parses the whole text again
for each SERVICE; the token before the name tells the three apart. So does the `^` before an IRI in
`!(^p)`, which is left out because rdflib would lose the IRI. The text between tokens is lost, so a
place in the spelling is a token, and the token knows its place in the text of the user.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

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
    for number in range(1, len(tokens)):
        gap = "" if _belong_together(tokens, number) else " "
        length += len(pieces[-1]) + len(gap)
        offsets.append(length)
        pieces[-1] += gap
        pieces.append(_spell_token(tokens, number))
    return Spelling(tokens, "".join(pieces), tuple(offsets))


def _belong_together(tokens: Sequence[Token], number: int) -> bool:
    """Whether rdflib must see a token right after the one before: literals, signs and paths."""
    before, token, after = tokens[number - 1], tokens[number], tokens[number + 1 : number + 2]
    if token.kind is Kind.LANGUAGE or token.is_mark("^^", "*", "?") or before.is_mark("^^"):
        return True
    if token.is_mark("+") and not any(map(token.touches, after)):
        return True
    return before.touches(token) and (token.is_mark("+", "-") or before.is_mark("+", "-"))


def _spell_token(tokens: Sequence[Token], number: int) -> str:
    token = tokens[number]
    if token.kind is Kind.WORD:
        return _spell_word(tokens, number)
    if token.is_mark("^") and _in_negated_set(tokens, number):
        return ""
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


def _in_negated_set(tokens: Sequence[Token], number: int) -> bool:
    """Whether a `^` stands in a negated property set, such as `!^p` or `!(p|^q)`."""
    before = number - 1
    if tokens[before].is_mark("!"):
        return True
    while tokens[before].is_mark("|", "^") or _is_predicate(tokens[before]):
        before -= 1
    return tokens[before].is_mark("(") and tokens[before - 1].is_mark("!")


def _is_predicate(token: Token) -> bool:
    return token.kind in (Kind.IRI, Kind.NAME) or token.text == "a"
