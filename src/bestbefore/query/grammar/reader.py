"""The reader of a query: a cursor over its tokens that knows what could have stood there.

Every question that a production asks of the token at the cursor is noted until the cursor moves on.
When nothing fits, what was asked for is what was expected.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from typing import TypeVar

from bestbefore.errors import QueryError, nearest
from bestbefore.query.algebra import PathPattern, Pattern, Variable, children, expressions_of
from bestbefore.query.continuous import NamedWindow, Node, Places
from bestbefore.query.expressions import AGGREGATES, FUNCTIONS, Exists, operands
from bestbefore.query.grammar.prologue import Prologue, read_name
from bestbefore.query.grammar.tokens import (
    CLOSED_BY,
    Kind,
    Token,
    bracket_error,
    split_comparison,
    tokenize,
)
from bestbefore.query.paths import Path, steps
from bestbefore.query.refusals import DEEPEST_BRACKETS, DEEPEST_OPERATORS, Refusal

# fmt: off
_KEYWORDS = {
    "AS", "ASC", "ASK", "BASE", "BIND", "BY", "CONSTRUCT", "DESC", "DESCRIBE", "DISTINCT", "EXISTS",
    "FILTER", "FROM", "GRAPH", "GROUP", "HAVING", "IN", "LIMIT", "MINUS", "NAMED", "NOT", "OFFSET",
    "OPTIONAL", "ORDER", "PREFIX", "REDUCED", "REGISTER", "SELECT", "SEPARATOR", "SERVICE",
    "SILENT", "STREAM", "UNDEF", "UNION", "VALUES", "WHERE", "WINDOW",
}
# fmt: on
_CALLED = {*FUNCTIONS, *AGGREGATES}
_TOGETHER = {
    "a term": ("a variable", "an IRI", "a literal"),
    "an operator": ("an arithmetic operator", "a comparison", "&&", "||"),
}

AnyNode = TypeVar("AnyNode", bound=Node)


@dataclass(frozen=True, slots=True)
class First:
    """The terminals with which something can begin, and what that is called in messages."""

    name: str
    terminals: frozenset[str]


def first(name: str, *terminals: str) -> First:
    """The beginnings of what has a name."""
    return First(name, frozenset(terminals))


@dataclass(slots=True)
class Reader:
    """A cursor over the tokens of a query, and what reading has found out before it.

    `windows` are those declared so far, of which plain SPARQL, which is not continuous, has none;
    `basic_pattern` numbers the basic graph pattern that is read, None in a template.
    """

    tokens: list[Token]
    prologue: Prologue = field(default_factory=Prologue)
    places: Places = field(default_factory=Places)
    continuous: bool = False
    windows: dict[str, NamedWindow] = field(default_factory=dict)
    basic_pattern: int | None = None
    position: int = 0
    _wanted: list[str] = field(default_factory=list)
    _brackets: int = 0
    _depths: dict[int, tuple[Node, int]] = field(default_factory=dict)
    _owners: dict[str, int] = field(default_factory=dict)
    _counters: dict[str, "count[int]"] = field(default_factory=dict)
    _taken: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, base: str | None = None, *, continuous: bool = False) -> "Reader":
        """A reader at the start of a text."""
        tokens = tokenize(text)
        variables = (read_name(token.text[1:]) for token in tokens if token.kind is Kind.VARIABLE)
        labels = (token.text[2:] for token in tokens if token.kind is Kind.BLANK)
        prologue = Prologue(base=base)
        return cls(tokens, prologue, continuous=continuous, _taken=frozenset((*variables, *labels)))

    @property
    def token(self) -> Token:
        """The token at the cursor."""
        return self.tokens[self.position]

    @property
    def following(self) -> Token:
        """The token after the one at the cursor; after the end comes the end."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The token at the cursor, which moves on; the end is never passed."""
        token = self.tokens[self.position]
        if token.kind is Kind.MARK:
            self._count_bracket(token)
        if token.kind is not Kind.END:
            self.position += 1
        self._wanted.clear()
        return token

    def _count_bracket(self, token: Token) -> None:
        if token.text in CLOSED_BY:
            self._brackets += 1
            if self._brackets > DEEPEST_BRACKETS:
                message = f"brackets nest more than {DEEPEST_BRACKETS} deep"
                raise Refusal.TOO_DEEP.mistake(token.place, message)
        elif token.text in "})]":
            self._brackets -= 1

    def at(self, wanted: str | First) -> bool:
        """Whether a terminal, or one of some, stands at the cursor."""
        terminals = (wanted,) if isinstance(wanted, str) else wanted.terminals
        if self.token.terminal in terminals:
            return True
        self._wanted.append(wanted if isinstance(wanted, str) else wanted.name)
        return False

    def want(self, *names: str) -> None:
        """Note what else could stand at the cursor."""
        self._wanted += names

    def accept(self, wanted: str | First) -> Token | None:
        """The token at the cursor if it is wanted; then the cursor moves on."""
        return self.take() if self.at(wanted) else None

    def expect(self, wanted: str | First, described: str = "") -> Token:
        """The token at the cursor, which must be what is wanted; messages may describe it."""
        if not self.at(wanted):
            raise self.missing(described) if described else self.unexpected()
        return self.take()

    def split_iri(self) -> None:
        """Read the IRI at the cursor, where only an operator can stand, as what it looks like."""
        pieces = split_comparison(self.token, self.following)
        self.tokens[self.position : self.position + 2] = pieces

    def unexpected(self) -> QueryError:
        """The error that what stands at the cursor fits nothing that was asked for."""
        if problem := bracket_error(self.tokens):
            return problem
        token = self.token
        found = (
            "the query ends too early" if token.kind is Kind.END else f"{token} does not fit here"
        )
        after = f", after {self.tokens[self.position - 1]}" if self.position else ""
        expected = " or ".join(self._expected())
        wanted = f"; expected {expected}" if expected else ""
        return token.error(f"{found}{after}{wanted}{self._correction()}")

    def missing(self, described: str) -> QueryError:
        """The error that something else stands at the cursor than what is described."""
        if problem := bracket_error(self.tokens):
            return problem
        return self.token.error(f"expected {described}, found {self.token}")

    def _expected(self) -> list[str]:
        """What was asked for, in words: things, then marks, then keywords."""
        asked = list(dict.fromkeys(self._wanted))
        for whole, parts in _TOGETHER.items():
            if all(part in asked for part in parts):
                asked = [whole, *(name for name in asked if name not in parts)]
        things = [name for name in asked if name.startswith(("a ", "an ", "the "))]
        marks = [f"'{mark}'" for mark in asked if not mark[0].isalpha()]
        return [*things, *marks, *(word for word in asked if word.isupper() and word.isalpha())]

    def _correction(self) -> str:
        """The keyword or function that a word may have been meant as."""
        token = self.token
        known = _CALLED if self.following.terminal == "(" else _KEYWORDS
        if token.kind is not Kind.WORD or token.terminal in {"a", *_CALLED, *_KEYWORDS}:
            return ""
        hint = nearest(token.terminal, known)
        return f"; {hint}" if hint.startswith("did you mean") else ""

    def note(self, node: AnyNode, origin: Token | Node) -> AnyNode:
        """A node, noted with the place of its first token or of the node that it was made of.

        Its operators must not nest too deep.
        """
        place = origin.place if isinstance(origin, Token) else self.places.of(origin)
        below = (self._depths.get(id(inner), (inner, 0)) for inner in _below(node))
        depth = 1 + max((depth for _, depth in below), default=0)
        if depth > DEEPEST_OPERATORS:
            message = f"the query nests more than {DEEPEST_OPERATORS} operators"
            raise Refusal.TOO_DEEP.mistake(place, message)
        self._depths[id(node)] = node, depth
        if place is not None:
            self.places.note(node, place)
        return node

    def fold(
        self,
        operator: Callable[[AnyNode, AnyNode], AnyNode],
        nodes: Iterable[AnyNode],
        token: Token,
    ) -> AnyNode:
        """Nodes put together two by two from the left, each pair noted with its place."""
        return reduce(lambda left, right: self.note(operator(left, right), token), nodes)

    def new_variable(self, kind: str) -> Variable:
        """A hidden variable that occurs nowhere else in the query."""
        return Variable(self._new_name(f".{kind}"))

    def new_label(self) -> str:
        """A label for a blank node that has none in the text."""
        return self._new_name("anon")

    def _new_name(self, start: str) -> str:
        numbers = self._counters.setdefault(start, count(1))
        return next(
            name for name in (f"{start}{number}" for number in numbers) if name not in self._taken
        )

    def claim(self, token: Token) -> None:
        """Note which basic graph pattern uses a blank node.

        A label in two of them is what SPARQL forbids: it would look like a join and be none.
        """
        if self.basic_pattern is None:
            return
        if self._owners.setdefault(token.text, self.basic_pattern) != self.basic_pattern:
            message = f"the blank node {token.text} stands in two groups"
            raise token.error(f"{message}; use a variable to join them")


def _below(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one: patterns, expressions and paths."""
    if isinstance(node, Exists):
        return (node.pattern,)
    if isinstance(node, PathPattern):
        return (node.path,)
    if isinstance(node, Pattern):
        return (*children(node), *expressions_of(node))
    if isinstance(node, Path):
        return steps(node)
    return () if isinstance(node, NamedWindow) else operands(node)
