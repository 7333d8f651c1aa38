"""Joins and triple patterns in an order that keeps what is in between small.

What shares a variable with what came before comes first; then what is no SERVICE, so that there are
keys to ask it for; then what has more bound terms; then what is written first. Clauses count no
bound terms: WINDOWs stay in their order, and so do SERVICEs.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

from bestbefore.query.algebra import (
    BGP,
    Join,
    PathPattern,
    Pattern,
    PatternTerm,
    Service,
    TriplePattern,
    Values,
    Variable,
    services_of,
    windows_of,
    with_children,
)
from bestbefore.query.rewrites.merge_bgps import join_all, join_operands
from bestbefore.query.scope import variables
from bestbefore.rdf.terms import BlankNode


@dataclass(frozen=True, slots=True)
class _Operand:
    """What the order depends on: the names to join on, the bound terms, and if it is remote.

    `bound` is None for what holds a clause.
    """

    names: frozenset[Variable | BlankNode]
    bound: int | None
    remote: bool = False


def order_joins(pattern: Pattern) -> Pattern:
    """A pattern with its joins and its triple patterns in a good order."""
    match pattern:
        case Service():
            return pattern
        case BGP(triples):
            return BGP(tuple(triples[number] for number in _order(list(map(_of_triple, triples)))))
        case Join():
            operands = join_operands(pattern)
            order = _order(list(map(_of_pattern, operands)))
            return join_all(order_joins(operands[number]) for number in order)
    return with_children(pattern, order_joins)


def _order(operands: list[_Operand]) -> list[int]:
    """The numbers of the operands in the order they are joined.

    An operand is ranked again whenever one of its names becomes known, so that many triple
    patterns are ordered in little more than the time it takes to sort them.
    """
    users = _users(operands)
    shared, known, order = [0] * len(operands), set[Variable | BlankNode](), dict[int, None]()

    def rank(number: int) -> tuple[bool, bool, int, int]:
        operand = operands[number]
        score = 0 if operand.bound is None else operand.bound + shared[number]
        return bool(order) and not shared[number], operand.remote, -score, number

    ranked = [min(map(rank, range(len(operands))))] if operands else []
    while ranked:
        number = heappop(ranked)[-1]
        if number in order:
            continue
        first = not order
        order[number] = None
        new = operands[number].names - known
        known |= new
        met = [user for name in new for user in users[name] if user not in order]
        for user in met:
            shared[user] += 1
        for user in range(len(operands)) if first else met:
            heappush(ranked, rank(user))
    return list(order)


def _users(operands: list[_Operand]) -> dict[Variable | BlankNode, list[int]]:
    """The numbers of the operands that have a name, for each name."""
    users: dict[Variable | BlankNode, list[int]] = {}
    for number, operand in enumerate(operands):
        for name in operand.names:
            users.setdefault(name, []).append(number)
    return users


def _of_triple(pattern: TriplePattern) -> _Operand:
    names = frozenset(term for term in pattern.terms if isinstance(term, Variable | BlankNode))
    return _Operand(names, _bound(*pattern.terms))


def _of_pattern(pattern: Pattern) -> _Operand:
    remote = bool(services_of(pattern))
    bound = None if remote or windows_of(pattern) else _best(pattern)
    return _Operand(frozenset(variables(pattern)), bound, remote)


def _best(pattern: Pattern) -> int:
    """The bound terms of the triple pattern that has most; given values are as good as bound."""
    match pattern:
        case BGP(triples):
            return max((_bound(*triple.terms) for triple in triples), default=0)
        case PathPattern(subject, _, object_):
            return _bound(subject, object_)
        case Values():
            return 3
    return 0


def _bound(*terms: PatternTerm) -> int:
    return sum(not isinstance(term, Variable | BlankNode) for term in terms)
