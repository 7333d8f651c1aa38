"""Basic graph patterns that are joined next to each other become one."""

from collections.abc import Iterable
from functools import reduce

from bestbefore.query.algebra import BGP, Join, Pattern, Service, with_children
from bestbefore.rdf.terms import BlankNode


def merge_bgps(pattern: Pattern) -> Pattern:
    """A pattern in which no two basic graph patterns are joined next to each other."""
    if isinstance(pattern, Service):
        return pattern
    if not isinstance(pattern, Join):
        return with_children(pattern, merge_bgps)
    merged: list[Pattern] = []
    for operand in map(merge_bgps, join_operands(pattern)):
        last = merged[-1] if merged else None
        if (
            isinstance(last, BGP)
            and isinstance(operand, BGP)
            and not _labels(last) & _labels(operand)
        ):
            merged[-1] = BGP(last.patterns + operand.patterns)
        else:
            merged.append(operand)
    return join_all(merged)


def _labels(pattern: BGP) -> set[str]:
    """The blank nodes of a pattern; one of the same name in another pattern is another one."""
    terms = (term for triple in pattern.patterns for term in triple.terms)
    return {term.label for term in terms if isinstance(term, BlankNode)}


def join_operands(pattern: Pattern) -> list[Pattern]:
    """The patterns that a join puts together, in the order they are written."""
    if isinstance(pattern, Join):
        return [*join_operands(pattern.left), *join_operands(pattern.right)]
    return [pattern]


def join_all(operands: Iterable[Pattern]) -> Pattern:
    """The join of some patterns, from left to right."""
    return reduce(Join, operands)
