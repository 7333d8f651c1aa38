"""How large a query may be for Spark to plan it.

Spark resolves one level of joins or nested expressions at a time, and gives up after a hundred.
"""

from collections.abc import Iterator

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import QueryPlan
from bestbefore.query.algebra import (
    BGP,
    Extend,
    Pattern,
    Service,
    Window,
    children,
    expressions_of,
    tested_patterns,
)
from bestbefore.query.expressions import Expression, operands

MOST_LEVELS = 80


def check_size(plan: QueryPlan) -> None:
    """Refuse a query that joins or nests more than Spark can plan."""
    parts = [("the clauses together join", plan.around)]
    parts += [(f"WINDOW <{one.window.name}> joins", one.pattern) for one in plan.windows]
    for what, pattern in parts:
        if (joined := _joined(pattern)) > MOST_LEVELS:
            raise UnsupportedSparql(
                f"{what} {joined} triple patterns or groups in a row, and Spark plans no more than "
                f"{MOST_LEVELS}; join less in one query, what a SERVICE joins the endpoint does"
            )
    if (depth := max(map(_depth, _expressions(plan.around)), default=0)) > MOST_LEVELS:
        raise UnsupportedSparql(
            f"an expression nests {depth} operators, and Spark plans no more than {MOST_LEVELS}; "
            "write it in parts, by BIND"
        )


def _joined(pattern: Pattern) -> int:
    """How many joins, unions and the like have to follow each other; clauses come before them."""
    if isinstance(pattern, BGP):
        return len(pattern.patterns)
    inner = () if isinstance(pattern, Window | Service) else children(pattern)
    tested = tuple(tested_patterns(pattern))
    # Variables that are bound one after the other are columns of the same table.
    own = 0 if isinstance(pattern, Extend) else 1
    return own + len(tested) + max(map(_joined, (*inner, *tested)), default=0)


def _expressions(pattern: Pattern) -> Iterator[Expression]:
    """The expressions that Spark evaluates: all but those of SERVICE."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        if not isinstance(node, Service):
            yield from expressions_of(node)
            pending += (*children(node), *tested_patterns(node))


def _depth(expression: Expression) -> int:
    return 1 + max(map(_depth, operands(expression)), default=0)
