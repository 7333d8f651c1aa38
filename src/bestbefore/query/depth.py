"""Depth: how far the operators of a query may nest, so that all may walk it by recursion."""

from collections.abc import Sized

from bestbefore.errors import QueryError
from bestbefore.query.algebra import PathPattern, Pattern, children, expressions_of
from bestbefore.query.expressions import Exists, Expression, operands
from bestbefore.query.paths import Path, steps

# Whoever walks a query by recursion has Python's usual thousand frames for it.
_DEEPEST = 200
_Part = Pattern | Expression | Path


def check_depth(pattern: Pattern) -> None:
    """Refuse a pattern that nests too deep."""
    pending: list[tuple[_Part, int]] = [(pattern, 1)]
    while pending:
        part, depth = pending.pop()
        if depth > _DEEPEST:
            raise _too_deep()
        pending.extend((each, depth + 1) for each in _below(part))


def check_number(elements: Sized) -> None:
    """Refuse elements of which each is one operator around those before it, if they are many."""
    if len(elements) > _DEEPEST:
        raise _too_deep()


def _below(part: _Part) -> tuple[_Part, ...]:
    if isinstance(part, Exists):
        return (part.pattern,)
    if isinstance(part, PathPattern):
        return (part.path,)
    if isinstance(part, Pattern):
        return (*children(part), *expressions_of(part))
    return steps(part) if isinstance(part, Path) else operands(part)


def _too_deep() -> QueryError:
    return QueryError(f"the query nests more than {_DEEPEST} operators; simplify it")
