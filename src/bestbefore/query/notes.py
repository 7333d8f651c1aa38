"""Notes of a translation: what it must remember from one part of a query to the next."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from bestbefore.query.algebra import Pattern
from bestbefore.query.expressions import Variable
from bestbefore.query.hidden import read_name
from bestbefore.query.text import Kind, Token, error_at


@dataclass(slots=True)
class Notes:
    """Where patterns are written, which blank nodes belong where, which hidden names are taken."""

    places: dict[Pattern, Token] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, tokens: Iterable[Token]) -> "Notes":
        """The notes at the start of a translation."""
        names = (read_name(each.text[1:]) for each in tokens if each.kind is Kind.VARIABLE)
        return cls(taken={name for name in names if name.startswith(".")})

    def at(self, token: Token, pattern: Pattern) -> Pattern:
        """A pattern, noted with the place where it is written; the first of equal ones stays."""
        self.places.setdefault(pattern, token)
        return pattern

    def new_variable(self, kind: str) -> Variable:
        """A hidden variable that occurs nowhere else in the query."""
        names = (f".{kind}{number}" for number in count(1))
        name = next(each for each in names if each not in self.taken)
        self.taken.add(name)
        return Variable(name)

    def claim(self, labels: Iterable[Token], group: int) -> None:
        """Note which group of triples uses some blank nodes.

        A label in two groups is what SPARQL forbids: it would look like a join and be none.
        """
        for token in labels:
            if self.owners.setdefault(token.text, group) != group:
                message = f"the blank node {token.text} stands in two groups; use a variable"
                raise error_at(token, f"{message} to join them")
