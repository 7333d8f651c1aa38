"""What can be said of a property path before it is evaluated."""

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


def can_be_empty(path: Path) -> bool:
    """Whether a path connects a term with itself without a step."""
    match path:
        case ZeroOrMore() | ZeroOrOne():
            return True
        case Link() | NegatedSet():
            return False
        case Inverse(inner) | OneOrMore(inner):
            return can_be_empty(inner)
        case Sequence(left, right):
            return can_be_empty(left) and can_be_empty(right)
        case Alternative(left, right):
            return can_be_empty(left) or can_be_empty(right)
    assert_never(path)
