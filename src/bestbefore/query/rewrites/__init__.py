"""Rewrites: patterns with the same solutions that cost less.

Each is a function of one pattern in a file of its name; their order is `REWRITES`. None looks into
SERVICE, whose text belongs to the endpoint, nor into EXISTS, whose pattern depends on the solution.
"""

from collections.abc import Callable

from bestbefore.query.algebra import Pattern
from bestbefore.query.rewrites.merge_bgps import merge_bgps
from bestbefore.query.rewrites.order_joins import order_joins
from bestbefore.query.rewrites.push_filters import push_filters
from bestbefore.query.rewrites.remove_identities import remove_identities

__all__ = ["REWRITES", "merge_bgps", "order_joins", "push_filters", "remove_identities", "rewrite"]

REWRITES: tuple[Callable[[Pattern], Pattern], ...] = (
    remove_identities,
    merge_bgps,
    push_filters,
    order_joins,
)


def rewrite(pattern: Pattern) -> Pattern:
    """A pattern after all rewrites."""
    for change in REWRITES:
        pattern = change(pattern)
    return pattern
