"""The operands of joins: a join of joins is a join of many, in any order."""

from collections.abc import Iterable
from functools import reduce

from bestbefore.query.algebra import Join, Pattern


def join_operands(pattern: Pattern) -> list[Pattern]:
    """The patterns that a join puts together, in the order they are written."""
    if isinstance(pattern, Join):
        return [*join_operands(pattern.left), *join_operands(pattern.right)]
    return [pattern]


def join_all(operands: Iterable[Pattern]) -> Pattern:
    """The join of some patterns, from left to right."""
    return reduce(Join, operands)
