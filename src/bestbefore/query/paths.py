"""Property paths: typed, frozen nodes (SPARQL 1.1 section 9)."""

from dataclasses import dataclass
from typing import assert_never

from bestbefore.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Link:
    """A single predicate."""

    predicate: IRI


@dataclass(frozen=True, slots=True)
class Inverse:
    """A path from object to subject: `^path`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class Sequence:
    """One path after the other: `left/right`."""

    left: "Path"
    right: "Path"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Either path: `left|right`."""

    left: "Path"
    right: "Path"


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """Any number of steps, each end pair once: `path*`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """At least one step, each end pair once: `path+`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """At most one step, each end pair once: `path?`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """Any predicate but these, forwards or, for `backward`, backwards: `!(a|^b)`."""

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...]


Path = Link | Inverse | Sequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedSet


def steps(path: Path) -> tuple[Path, ...]:
    """The paths directly below one, in the order they are written."""
    match path:
        case Link() | NegatedSet():
            return ()
        case Sequence(left, right) | Alternative(left, right):
            return (left, right)
        case Inverse(one) | ZeroOrMore(one) | OneOrMore(one) | ZeroOrOne(one):
            return (one,)
    assert_never(path)
