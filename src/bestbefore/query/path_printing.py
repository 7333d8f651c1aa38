"""Printing of property paths, with no more parentheses than their meaning needs."""

from typing import assert_never

from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.rdf.terms import to_sparql

_ALTERNATIVE, _SEQUENCE, _INVERSE, _REPEATED, _PRIMARY = range(5)
_LEVELS: dict[type[Path], int] = {
    Alternative: _ALTERNATIVE,
    Sequence: _SEQUENCE,
    Inverse: _INVERSE,
    ZeroOrMore: _REPEATED,
    OneOrMore: _REPEATED,
    ZeroOrOne: _REPEATED,
    Link: _PRIMARY,
    NegatedSet: _PRIMARY,
}
_SIGNS: dict[type[Path], str] = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}


def print_path(path: Path) -> str:
    """A property path as SPARQL text."""
    match path:
        case Link(predicate):
            return to_sparql(predicate)
        case Alternative(left, right):
            return f"{_part(left, _ALTERNATIVE)}|{_part(right, _SEQUENCE)}"
        case Sequence(left, right):
            return f"{_part(left, _SEQUENCE)}/{_part(right, _INVERSE)}"
        case Inverse(inner):
            return f"^{_part(inner, _REPEATED)}"
        case ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            return f"{_part(inner, _PRIMARY)}{_SIGNS[type(path)]}"
        case NegatedSet(forward, backward):
            steps = (*map(to_sparql, forward), *(f"^{to_sparql(each)}" for each in backward))
            return f"!({'|'.join(steps)})"
    assert_never(path)


def _part(path: Path, level: int) -> str:
    """A path in its place, in parentheses if it binds less than the place needs."""
    text = print_path(path)
    return text if _LEVELS[type(path)] >= level else f"({text})"
