"""The parse tree of a query: rdflib's grammar, our own nodes.

rdflib serves as the grammar and as nothing else: it reads a spelling in which each term is the
number of its token. So each leaf of the tree leads back to the text and the place it was written,
and nothing that rdflib does to terms (numbers normalised, prefixes known without being declared,
escapes expanded twice) can reach a query. No rdflib object leaves this module.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import SupportsIndex

import rdflib
from pyparsing import ParseBaseException, ParseResults
from rdflib.plugins.sparql.parser import Query
from rdflib.plugins.sparql.parserutils import CompValue

from bestbefore.query.spelling import BLANK_PREFIX, IRI_PREFIX, Spelling
from bestbefore.query.text import Token

_KEYWORDS = {
    "Aggregate_GroupConcat": ("GROUP_CONCAT",),
    "Bind": ("BIND",),
    "Builtin_NOTEXISTS": ("NOT",),
    "DatasetClause": ("FROM",),
    "Filter": ("FILTER",),
    "GraphGraphPattern": ("GRAPH", "SERVICE", "WINDOW"),
    "GroupClause": ("GROUP",),
    "HavingClause": ("HAVING",),
    "InlineData": ("VALUES",),
    "LimitOffsetClauses": ("LIMIT", "OFFSET"),
    "MinusGraphPattern": ("MINUS",),
    "OptionalGraphPattern": ("OPTIONAL",),
    "OrderClause": ("ORDER",),
    "SubSelect": ("SELECT",),
    "ValuesClause": ("VALUES",),
}
# A character of no token: whatever reads up to it has read all that stands before it.
_STOP = " \x01"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term, by the number of its token; of a number also whether a minus belongs to it."""

    token: int
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Anonymous:
    """A blank node that has no token, such as `[]` or a cell of a collection; numbered from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """An IRI that has no token, such as `rdf:first` of a collection."""

    iri: str


@dataclass(frozen=True, slots=True)
class Word:
    """A keyword, an operator or a language tag."""

    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """A production of rdflib's grammar, by rdflib's name, with its named parts.

    `token` is the number of its keyword, or of its first token where it has no keyword.
    """

    name: str
    parts: Mapping[str, "Tree"]
    token: int = 0

    def all(self, part: str) -> "tuple[Tree, ...]":
        """A part that may be missing, single or repeated."""
        tree = self.parts.get(part, ())
        return tree if isinstance(tree, tuple) else (tree,)


Tree = Leaf | Anonymous | Fixed | Word | Node | tuple["Tree", ...]


def parse_tree(spelling: Spelling) -> Node | None:
    """The parse tree of a spelled query, or nothing if it is not SPARQL; then ask `furthest`."""
    try:
        _prologue, query = Query.parse_string(spelling.text, parse_all=True)
    except ParseBaseException:
        return None
    tree = _Conversion(spelling.tokens).convert(query)
    return tree if isinstance(tree, Node) else None


def furthest(text: str) -> int:
    """How far the grammar gets in a spelled text: the offset of what does not fit, or its end."""
    recorder = _Recorder(text + _STOP)
    with suppress(ParseBaseException, RecursionError):
        Query.parse_string(recorder, parse_all=True)
    return recorder.reach


def reads(text: str) -> bool:
    """Whether a spelled text is the beginning of some query."""
    return furthest(text) > len(text)


class _Recorder(str):
    """Text that remembers how far it was read.

    pyparsing drops the error of an optional part, so the place it reports is the start of the
    outermost clause. The furthest character it looked at is the token that does not fit.
    """

    reach = 0

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        if isinstance(at, int):
            self.reach = max(self.reach, at)
        return super().__getitem__(at)

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:  # noqa: ARG002
        return self


@dataclass(slots=True)
class _Conversion:
    """The way from rdflib's parse tree to ours, in the order of the text.

    rdflib keeps no places, but it keeps the order: the keyword of a node is the first of its kind
    after all that was met before. `blanks` numbers the blank nodes that rdflib made up.
    """

    tokens: Sequence[Token]
    next_token: int = 0
    blanks: dict[str, int] = field(default_factory=dict)

    def convert(self, part: object) -> Tree:
        """Our node for a part of rdflib's tree."""
        match part:
            case CompValue():
                token = self._keyword(str(part.name))
                parts = {str(key): self.convert(each) for key, each in part.items()}
                return Node(str(part.name), parts, token)
            case list() | ParseResults():
                return tuple(self.convert(each) for each in part)
            case rdflib.URIRef() if not part.startswith(IRI_PREFIX):
                return Fixed(str(part))
            case rdflib.BNode() if not part.startswith(BLANK_PREFIX):
                return Anonymous(self.blanks.setdefault(str(part), len(self.blanks) + 1))
            case rdflib.URIRef() | rdflib.BNode() | rdflib.Literal() | rdflib.Variable():
                return self._leaf(str(part))
            case str():
                return Word(part)
        raise TypeError(f"rdflib's parser gave a {type(part).__name__}")

    def _leaf(self, text: str) -> Leaf:
        number = int("".join(filter(str.isdigit, text)))
        self.next_token = max(self.next_token, number + 1)
        return Leaf(number, negative=text.startswith("-"))

    def _keyword(self, name: str) -> int:
        """The token of a node's keyword, which is passed; the next one for a node that has none."""
        words = _KEYWORDS.get(name) or _function_words(name)
        for number in range(self.next_token, len(self.tokens)) if words else ():
            if self.tokens[number].is_word(*words):
                self.next_token = number + 1
                return number
        return min(self.next_token, len(self.tokens) - 1)


def _function_words(name: str) -> tuple[str, ...]:
    kind, _, function = name.partition("_")
    return (function.upper(),) if kind in ("Builtin", "Aggregate") else ()
