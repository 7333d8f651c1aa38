"""The algebra: frozen, typed nodes, one for each operator of the SPARQL 1.1 algebra.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra, with `Window` as RSP-QL adds it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from bestbefore.query.expressions import Expression, Variable
from bestbefore.rdf.terms import IRI, BlankNode, Literal

__all__ = [
    "BGP",
    "Construct",
    "Filter",
    "Form",
    "Join",
    "Pattern",
    "PatternTerm",
    "Select",
    "Service",
    "TriplePattern",
    "Variable",
    "Window",
    "children",
    "outside_clauses",
    "services_of",
    "triple_variables",
    "variables",
    "walk",
    "windows_of",
]

PatternTerm = Variable | IRI | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple in which any place may be a variable."""

    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class BGP:
    """A basic graph pattern: triple patterns that one graph must match together."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """The compatible mappings of two patterns, put together."""

    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class Filter:
    """The mappings of a pattern for which a condition is true."""

    condition: Expression
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Window:
    """A pattern over the content of a named window."""

    name: str
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Service:
    """A pattern that a remote SPARQL endpoint answers."""

    iri: str
    pattern: "Pattern"
    silent: bool = False


Pattern = BGP | Join | Filter | Window | Service


@dataclass(frozen=True, slots=True)
class Select:
    """An answer of mappings, restricted to the projected variables."""

    projection: tuple[Variable, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Construct:
    """An answer of triples, made from a template for each mapping."""

    template: tuple[TriplePattern, ...]


Form = Select | Construct


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below one, in the order they are written."""
    match pattern:
        case BGP():
            return ()
        case Join(left, right):
            return (left, right)
        case Filter(_, inner) | Window(_, inner) | Service(_, inner):
            return (inner,)
    assert_never(pattern)


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and all patterns below it, outer before inner, left before right."""
    pending = [pattern]
    while pending:
        yield (node := pending.pop())
        pending.extend(reversed(children(node)))


def outside_clauses(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and those below it, but for what stands inside WINDOW or SERVICE."""
    yield pattern
    if not isinstance(pattern, Window | Service):
        for child in children(pattern):
            yield from outside_clauses(child)


def windows_of(pattern: Pattern) -> tuple[Window, ...]:
    """The WINDOW clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Window))


def services_of(pattern: Pattern) -> tuple[Service, ...]:
    """The SERVICE clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Service))


def variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope in a pattern, in order of first appearance.

    A FILTER brings no variable into scope, and a blank node never is one.
    """
    match pattern:
        case BGP(patterns):
            return triple_variables(patterns)
        case Join() | Filter() | Window() | Service():
            found = (each for child in children(pattern) for each in variables(child))
            return tuple(dict.fromkeys(found))
    assert_never(pattern)


def triple_variables(patterns: tuple[TriplePattern, ...]) -> tuple[Variable, ...]:
    """The variables of triple patterns, in order of first appearance."""
    terms = (term for each in patterns for term in (each.subject, each.predicate, each.object))
    return tuple(dict.fromkeys(term for term in terms if isinstance(term, Variable)))
