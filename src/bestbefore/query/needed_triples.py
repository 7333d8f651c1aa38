"""Needed triples: those that a pattern can look at, told by the constants it names.

What no WINDOW can look at need not be kept: the buffer is filtered by these shapes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from bestbefore.query.algebra import BGP, PathPattern, Pattern, PatternTerm, walk
from bestbefore.query.paths import Link, NegatedSet, Path, ZeroOrMore, ZeroOrOne, steps
from bestbefore.rdf.terms import IRI, Literal, to_sparql

Constant = IRI | Literal | None


@dataclass(frozen=True, slots=True)
class TripleShape:
    """Triples with these terms; None is any term."""

    subject: Constant = None
    predicate: Constant = None
    object: Constant = None

    @property
    def terms(self) -> tuple[Constant, Constant, Constant]:
        """Subject, predicate and object."""
        return self.subject, self.predicate, self.object

    def __str__(self) -> str:
        return " ".join("_" if term is None else to_sparql(term) for term in self.terms)


ANY_TRIPLE = TripleShape()


def needed_triples(pattern: Pattern) -> tuple[TripleShape, ...]:
    """The shapes of all triples that can change what a pattern finds, none within another."""
    found = dict.fromkeys(shape for node in walk(pattern) for shape in _shapes(node))
    return tuple(shape for shape in found if not any(wider in found for wider in _wider(shape)))


def _wider(shape: TripleShape) -> Iterator[TripleShape]:
    """The other shapes that cover one: those with fewer terms."""
    choices = product(*({term, None} for term in shape.terms))
    return (wider for wider in (TripleShape(*terms) for terms in choices) if wider != shape)


def _shapes(pattern: Pattern) -> Iterator[TripleShape]:
    match pattern:
        case BGP(patterns):
            for triple in patterns:
                yield TripleShape(*map(_constant, triple.terms))
        case PathPattern(_, path, _):
            yield from _path_shapes(path)


def _path_shapes(path: Path) -> Iterator[TripleShape]:
    match path:
        case Link(predicate):
            yield TripleShape(predicate=predicate)
        case NegatedSet() | ZeroOrMore() | ZeroOrOne():
            # A path of no steps connects each term of the graph with itself.
            yield ANY_TRIPLE
        case _:
            for step in steps(path):
                yield from _path_shapes(step)


def _constant(term: PatternTerm) -> Constant:
    return term if isinstance(term, IRI | Literal) else None
