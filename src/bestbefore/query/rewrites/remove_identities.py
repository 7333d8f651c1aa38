"""Operands that change nothing are left out: the empty basic graph pattern in joins and MINUS."""

from bestbefore.query.algebra import BGP, Join, LeftJoin, Minus, Pattern, Service, with_children


def remove_identities(pattern: Pattern) -> Pattern:
    """A pattern without operands that change nothing."""
    if isinstance(pattern, Service):
        return pattern
    changed = with_children(pattern, remove_identities)
    match changed:
        case Join(BGP(()), kept) | Join(kept, BGP(())):
            return kept
        case LeftJoin(kept, BGP(()), _) | Minus(kept, BGP(())):
            return kept
    return changed
