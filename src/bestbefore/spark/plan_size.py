"""How large a query may be for Spark to plan it: it gives up on more than a hundred joins in a row,
after minutes.
"""

from bestbefore.errors import UnsupportedSparql
from bestbefore.query import QueryPlan
from bestbefore.query.algebra import BGP, Pattern, Service, Window, children, tested_patterns

MOST_JOINED = 80


def check_size(plan: QueryPlan) -> None:
    """Refuse a query that joins more than Spark can plan."""
    parts = [("the clauses together join", plan.around)]
    parts += [(f"WINDOW <{one.window.name}> joins", one.pattern) for one in plan.windows]
    for what, pattern in parts:
        if (joined := _joined(pattern)) > MOST_JOINED:
            raise UnsupportedSparql(
                f"{what} {joined} triple patterns or groups in a row, and Spark plans no more than "
                f"{MOST_JOINED}; join less in one query, what a SERVICE joins the endpoint does"
            )


def _joined(pattern: Pattern) -> int:
    """How many joins, unions and the like have to follow each other; clauses come before them."""
    if isinstance(pattern, BGP):
        return len(pattern.patterns)
    inner = () if isinstance(pattern, Window | Service) else children(pattern)
    tested = tuple(tested_patterns(pattern))
    return 1 + len(tested) + max(map(_joined, (*inner, *tested)), default=0)
